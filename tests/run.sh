#!/bin/sh
# Runs every test program and script; prints one line each and the closing lines.
set -u
cd "$(dirname "$0")/.." || exit 1
passed=0 failed=0 skipped=0 names=''
run() {
    log=build/test/$(basename "$1").log
    if "$@" >"$log" 2>&1; then
        if grep -q '^SKIP' "$log"; then
            skipped=$((skipped + 1)); grep '^SKIP' "$log" | sed "s|^|$1: |"
        else
            passed=$((passed + 1)); echo "ok   $1"
        fi
    else
        failed=$((failed + 1)); names="$names $1"; echo "FAIL $1"; tail -n 40 "$log"
    fi
}
for program in tests/test_*.c; do run "build/test/${program%.c}"; done
for script in tests/*.sh tests/e2e/*.sh; do
    case $script in tests/run.sh | 'tests/e2e/*.sh') continue ;; esac
    run sh "$script"
done
echo "passed $passed, failed $failed, skipped $skipped"
[ "$failed" -eq 0 ] || { echo "failed:$names"; exit 1; }
