#!/bin/sh
# Marks a second and whole steps of the word game a second, on one core.
set -eu
cd "$(dirname "$0")/../.."
. tests/bench/lib.sh

say "marks and steps"
"$bin/bench_env" 2>/dev/null >"$tmp/out"
figure() { field "$1" <"$tmp/out"; }
grown() { printf '"at_1x": %s, "at_10x": %s' "$(figure "$1")" "$(figure "$1_10x")"; }
row marks "$(figure marks_per_s)" marks/s '>=' 50000000 "$(grown marks_per_s)"
row env_steps "$(figure steps_per_s)" steps/s '>=' 1000000 "$(grown steps_per_s)"
