#!/bin/sh
# Runs every test program and script, as many at once as there are cores; prints a line each as it ends, what failed in
# full, and the closing lines. Logs stay in build/test/logs. Names given as arguments run only those that contain one.
# With --interop as the first: the scripts of tests/interop instead, one at a time, each for INTEROP_SECONDS at most;
# with INTEROP=cheap without those that say "Large:" in their head.
set -u
cd "$(dirname "$0")/.." || exit 1
logs=${RUN_LOGS:-build/test/logs}

if [ "${1:-}" = --one ]; then
    name=$(basename "$2" .sh)
    begun=$(date +%s)
    case $2 in
    tests/interop/*.sh) timeout -k 10 "${INTEROP_SECONDS:-1200}" sh "$2" ;;
    *.sh) sh "$2" ;;
    *) "$2" ;;
    esac >"$logs/$name.log" 2>&1
    code=$?
    word=ok
    grep -q '^SKIP' "$logs/$name.log" && word=SKIP
    [ $code -eq 0 ] || word=FAIL
    printf '%-4s %s (%d s)\n' "$word" "$2" $(($(date +%s) - begun)) | tee "$logs/$name.end"
    exit 0
fi

items='tests/*.sh tests/e2e/*.sh tests/test_*.c'
many=$(nproc)
if [ "${1:-}" = --interop ]; then
    shift
    items='tests/interop/*.sh'
    many=1
    logs=build/test/logs-interop
    export RUN_LOGS="$logs"
fi
rm -rf "$logs"
mkdir -p "$logs"
for item in $items; do
    if [ "${INTEROP:-}" = cheap ] && head -n 3 "$item" | grep -q 'Large:'; then
        echo "left out, for it is large: $item" >&2
        continue
    fi
    case $item in
    tests/run.sh) continue ;;
    *.c) item=build/test/${item%.c} ;;
    esac
    wanted=$#
    for part in "$@"; do
        case $item in *"$part"*) wanted=0 ;; esac
    done
    [ "$wanted" -gt 0 ] || echo "$item"
done | xargs -P "$many" -n 1 sh tests/run.sh --one

for end in "$logs"/*.end; do
    log=${end%.end}.log
    case $(cat "$end") in
    FAIL*) printf '\n== %s\n' "$(cat "$end")"; tail -n 60 "$log" ;;
    SKIP*) printf '%s: %s\n' "$(basename "$log" .log)" "$(grep '^SKIP' "$log")" ;;
    esac
done
count() { cat "$logs"/*.end | grep -c "^$1"; }
failed=$(count FAIL)
echo "passed $(count ok), failed $failed, skipped $(count SKIP)"
[ "$failed" -eq 0 ]
