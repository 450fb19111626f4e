#!/bin/sh
# Runs the benches, or those that are named, and prints one JSON object: a row a figure, with its unit,
# its limit and whether it holds. Progress goes to stderr.
set -eu
cd "$(dirname "$0")/../.."
if [ $# -eq 0 ]; then
    set -- env agent net rescore search train
    [ -n "${BENCH_QUICK:-}" ] || set -- "$@" policy
fi
printf '{"machine": {"processor": "%s", "cores": %s, "date": "%s", "load_before": "%s"}' \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" "$(date -u +%F)" "$(cut -d' ' -f1 /proc/loadavg)"
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
for bench in "$@"; do
    sh "tests/bench/$bench.sh" >"$rows"
    awk '{ printf ",\n%s", $0 }' "$rows"
done
printf '\n}\n'
