#!/bin/sh
# Runs every fuzz target, one after another: run.sh SECONDS_IN_ALL [NAME...]. What is found new goes into
# build/fuzz/corpus/NAME, an input that breaks a claim into build/fuzz/found/.
set -u
cd "$(dirname "$0")/../.." || exit 1
seconds=$1
shift
# shellcheck disable=SC2046 # one word a target
[ $# -gt 0 ] || set -- $(for file in tests/fuzz/fuzz_*.c; do basename "$file" .c | sed 's/^fuzz_//'; done)
each=$((seconds / $#))
[ "$each" -gt 0 ] || each=1
mkdir -p build/fuzz/found
export GUESSGYM_DATA="$PWD" UBSAN_OPTIONS=print_stacktrace=1
failed=0
for name in "$@"; do
    corpus=build/fuzz/corpus/$name
    log=build/fuzz/$name.log
    mkdir -p "$corpus"
    if build/fuzz/tests/fuzz/fuzz_"$name" -max_total_time=$each -timeout=10 -rss_limit_mb=2048 -max_len=16384 \
        -dict=tests/fuzz/json.dict -artifact_prefix=build/fuzz/found/"$name"- "$corpus" tests/fuzz/seeds/"$name" >"$log" 2>&1; then
        printf '%-10s %s\n' "$name" "$(sed -n 's/^Done \([0-9]*\) runs in \([0-9]*\) .*/\1 inputs in \2 s/p' "$log"), $(grep -o 'cov: [0-9]*' "$log" | tail -n 1)"
    else
        failed=1
        printf '%-10s FAILED\n' "$name"
        tail -n 40 "$log"
    fi
done
exit $failed
