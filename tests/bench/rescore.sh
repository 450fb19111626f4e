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
rate() { "$bin/rescore" "$@" | tee "$tmp/out" | field per_s; }
one='' ten='' solve='' script=''
for _ in $rounds; do
    solve="$solve $(rate "$tmp/one" solve 1)"
    script="$script $(rate "$tmp/one" tests/bench/greens.lua 1)"
    one="$one $(rate "$tmp/one" $reward 3)"
    ten="$ten $(rate "$tmp/ten" $reward 1)"
done
row rescore "$(median "$one")" episodes/s '>=' 20000 \
    "\"reward\": \"$reward\", \"with_solve\": $(median "$solve"), \"episodes\": $(($(field episodes <"$tmp/out") / 10)), \"bytes\": $(wc -c <"$tmp/one/episodes.jsonl"), \"at_1x\": $(median "$one"), \"at_10x\": $(median "$ten")"
row rescore_script "$(median "$script")" episodes/s '>=' 20000 '"reward": "tests/bench/greens.lua"'
