#!/bin/sh
# What a reply and a trained sequence of the embedded policies cost.
set -eu
cd "$(dirname "$0")/../.."
. tests/bench/lib.sh

say "the embedded policies"
"$bin/bench_policy" >"$tmp/out"
row policy_reply "$(grep '"letters_low"' "$tmp/out" | sed 's/.*"us_per_reply": \([0-9.]*\).*/\1/')" us/reply - 0 \
    "\"figures\": $(tr '\n' ' ' <"$tmp/out")"
