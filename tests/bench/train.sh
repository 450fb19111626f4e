#!/bin/sh
# A whole training by the program: every turn and every submission over HTTP. BENCH_SEEDS (1) trainings
# of seeds 1, 2 ...; BENCH_MEDIUM=1 trains at medium effort too.
set -eu
cd "$(dirname "$0")/../.."
. tests/bench/lib.sh
steps=$(size 100 10)

# train EFFORT SEED STEPS: $wall_s, $cpu_s, $plays.
train() {
    rm -rf "$tmp/run"
    cpu_of build/guessgym train --on local --effort "$1" --seed "$2" --steps "$3" --json -o "$tmp/run" \
        >"$tmp/json" 2>"$tmp/log" || { cat "$tmp/log" >&2; exit 1; }
    plays=$(field plays <"$tmp/json")
    wall_s=$(calc "$(field wall_s <"$tmp/json")")
    cpu_s=$(calc "$cpu_us / 1e6")
}
# measure EFFORT LIMIT: the slowest of the seeds; a tenth of the steps shows the growth.
measure() {
    say "training at $1 effort, $steps steps"
    train "$1" 1 $((steps / 10))
    tenth="{\"steps\": $((steps / 10)), \"wall_s\": $wall_s, \"cpu_s\": $cpu_s}"
    worst=0 list=''
    for seed in $(seq "${BENCH_SEEDS:-1}"); do
        train "$1" "$seed" "$steps"
        [ "$plays" -ge $((steps * 1056)) ] || { say "only $plays plays"; exit 1; }
        worst=$(awk "BEGIN { print ($worst > $wall_s ? $worst : $wall_s) }")
        all="{\"steps\": $steps, \"wall_s\": $wall_s, \"cpu_s\": $cpu_s}"
        list="$list${list:+, }{\"seed\": $seed, \"wall_s\": $wall_s, \"cpu_s\": $cpu_s, \"plays\": $plays}"
    done
    row "train_$1" "$worst" s '<=' "$(calc "$2 * $steps / 100")" \
        "\"cpu_s\": $cpu_s, \"seeds\": [$list], \"at_1x\": $tenth, \"at_10x\": $all"
}
measure low 180
[ -z "${BENCH_MEDIUM:-}" ] || measure medium 300
