#!/bin/sh
# Runs every test program and script, as many at once as there are cores; prints a line each as it ends, what failed in
# full, and the closing lines. Logs stay in build/test/logs. Names given as arguments run only those that contain one.
set -u
cd "$(dirname "$0")/.." || exit 1
logs=build/test/logs

if [ "${1:-}" = --one ]; then
    name=$(basename "$2" .sh)
    begun=$(date +%s)
    case $2 in
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

rm -rf "$logs"
mkdir -p "$logs"
for item in tests/*.sh tests/e2e/*.sh tests/test_*.c; do
    case $item in
    tests/run.sh) continue ;;
    *.c) item=build/test/${item%.c} ;;
    esac
    wanted=$#
    for part in "$@"; do
        case $item in *"$part"*) wanted=0 ;; esac
    done
    [ "$wanted" -gt 0 ] || echo "$item"
done | xargs -P "$(nproc)" -n 1 sh tests/run.sh --one

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
