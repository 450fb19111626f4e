#!/bin/sh
# Runs every bench and prints one JSON object: a key a bench, its figures as the value.
set -eu
cd "$(dirname "$0")/../.."
separator='{'
for bench in tests/bench/bench_*.c tests/bench/*.sh; do
    name=$(basename "$bench")
    case $name in
    run.sh | lib.sh) continue ;;
    *.sh) set -- sh "$bench" ;;
    *) set -- "build/release/${bench%.c}" ;;
    esac
    name=${name%.*}
    printf '%s\n"%s": ' "$separator" "${name#bench_}"
    "$@"
    separator=','
done
printf '}\n'
