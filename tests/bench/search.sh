#!/bin/sh
# What a search of the search game costs, on the set from FOLDOC; the scan over a million vectors; and
# whether 64 episodes in flight keep every core busy.
set -eu
cd "$(dirname "$0")/../.."
. tests/bench/lib.sh

if [ ! -f /usr/share/dictd/foldoc.index ]; then
    skipped search_words "the package dict-foldoc is not installed"
    exit 0
fi
say "searches"
python3 examples/search/foldoc.py "$tmp/set" >/dev/null
build/guessgym index --corpus "$tmp/set" -o "$tmp/index" >/dev/null 2>&1
"$bin/bench_search" "$tmp/index" "$tmp/rows" "$tmp/index/test.jsonl" >"$tmp/out"
figure() { field "$1" <"$tmp/out"; }
of="\"questions\": $(figure questions), \"documents\": $(figure documents)"
row search_words "$(figure words_ms)" 'ms, median' '<=' 5 "\"p95_ms\": $(figure words_p95_ms), $of"
row search_vectors "$(figure vectors_ms)" 'ms, median' '<=' 3 "\"p95_ms\": $(figure vectors_p95_ms), $of"
row search_million "$(figure scan_s)" s '<=' 0.4 "\"at_1x\": $(figure scan_tenth_s), \"at_10x\": $(figure scan_s)"

# Busy cores = processor time / wall time; idle time is what a pool that is too small would leave.
say "episodes in flight"
play() {
    build/guessgym eval --env search --env-set "index=$tmp/index" -e builtin:hybrid --concurrency 64 \
        -n "$(size 4 1)" --json >"$tmp/json" 2>/dev/null
}
cpu_of play
wall_s=$(field wall_s <"$tmp/json")
busy=$(calc "$cpu_us / 1e6 / $wall_s")
row search_in_flight "$busy" 'busy cores' '>=' "$(calc "0.8 * $(nproc)")" \
    "\"plays_per_s\": $(calc "$(field planned <"$tmp/json") / $wall_s"), \"cpu_ms_per_play\": $(calc "$cpu_us / 1e3 / $(field planned <"$tmp/json")")"
