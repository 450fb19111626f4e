#!/bin/sh
# Episodes of a saved run, records in full, that get a new reward a second.
set -eu
cd "$(dirname "$0")/../.."
. tests/bench/lib.sh
reward=solve=1,speed=0.5,greens=0.1,repeats=-0.2

say "rescoring"
build/guessgym eval --endpoint builtin:letters --effort low --samples "$(size 16 4)" -o "$tmp/one" >/dev/null 2>&1
cp -r "$tmp/one" "$tmp/ten"
for _ in 1 2 3 4 5 6 7 8 9; do cat "$tmp/one/episodes.jsonl"; done >>"$tmp/ten/episodes.jsonl"
"$bin/rescore" "$tmp/one" $reward 10 >"$tmp/out"
one=$(field per_s <"$tmp/out")
"$bin/rescore" "$tmp/ten" $reward 3 >"$tmp/out"
ten=$(field per_s <"$tmp/out")
row rescore "$one" episodes/s '>=' 20000 \
    "\"episodes\": $(($(field episodes <"$tmp/out") / 10)), \"bytes\": $(wc -c <"$tmp/one/episodes.jsonl"), \"at_1x\": $one, \"at_10x\": $ten"
