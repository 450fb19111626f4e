#!/bin/sh
# The reward lab in small: every figure again from the folders it leaves, a bonus that is gamed, what it refuses, Ctrl-C.
set -eu
cd "$(dirname "$0")/../.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
gg=$PWD/build/guessgym
fail() { echo "not ok: $*"; exit 1; }
cd "$dir"
$gg words split --train 64 --val 24 --test 8 --seed 5 -o rows >/dev/null
# Paid for new letters five times as much as for solving: the policy learns to try letters and not to solve.
$gg shape -r solve -r solve=1,new_letters=5 --seeds 2 --steps 24 --batch 16 --group-size 4 --tasks rows/train.jsonl \
    --val rows/val.jsonl --seed 7 -o lab --json >lab.json 2>err
grep -q 'groups of 4 plays, .* no signal by outcome' err || fail "nothing is expected before: $(cat err)"
python3 - <<'PY'
import json
from math import comb
lab = json.load(open("lab.json"))
assert lab == json.load(open("lab/summary.json"))
plays = lambda run: [json.loads(line) for line in open(f"lab/{run}/episodes.jsonl")]
rate = lambda games: sum(g["outcome"] == "solved" for g in games) / len(games)
near = lambda a, b: abs(a - b) < 1e-12
before = plays("before")
assert len(before) == 24 * 8
tasks = {}
for g in before:
    tasks.setdefault(g["task"]["key"], []).append(g["outcome"] == "solved")
silent = [(comb(sum(t), 4) + comb(8 - sum(t), 4)) / comb(8, 4) for t in tasks.values()]
assert near(lab["expected_no_signal_share"], sum(silent) / len(silent))
p = rate(before)
assert near(lab["expected_if_tasks_alike"], p**4 + (1 - p) ** 4)
for r, reward in enumerate(lab["rewards"], 1):
    points = reward["points"]
    assert [q["step"] for q in points] == [0, 6, 12, 24]
    assert near(points[0]["solve_rate"], p)
    after = [plays(f"r{r}-s{s}-after") for s in (1, 2)]
    assert all(len(a) == 24 * 8 for a in after)
    assert all(near(a, rate(b)) for a, b in zip(points[3]["by_seed"], after))
    assert near(points[3]["solve_rate"], rate(after[0] + after[1]))
    middle = [g for s in (1, 2) for g in plays(f"r{r}-s{s}/validation") if g["step"] == 12]
    assert len(middle) == 48 and near(points[2]["solve_rate"], rate(middle))
    metrics = [[json.loads(line) for line in open(f"lab/r{r}-s{s}/metrics.jsonl")] for s in (1, 2)]
    own = [m[-1]["val/reward/mean"] for m in metrics]
    assert near(reward["own_mean_after"], sum(own) / 2)
    groups = sum(m.get("training/num_groups", 0) for ms in metrics for m in ms)
    none = sum(m.get("analysis/zero_adv_groups", 0) for ms in metrics for m in ms)
    assert groups == 2 * 24 * 16 and near(reward["no_signal_share"], none / groups)
    for q in points:
        assert q["solve_rate_low"] <= q["solve_rate"] <= q["solve_rate_high"]
solve, bonus = lab["rewards"]
assert lab["best"] == "solve" and not solve["gamed"] and bonus["gamed"], lab
assert bonus["own_mean_after"] > bonus["own_mean_before"]
d = [a - b for a, b in zip(solve["points"][3]["by_seed"], bonus["points"][3]["by_seed"])]
mean, half = sum(d) / 2, 12.706204736 * abs(d[0] - d[1]) / 2  # Student's t of 1 degree of freedom
(verdict,) = lab["verdicts"]
assert verdict["against"] == bonus["reward"] and near(verdict["difference"], mean)
assert abs(verdict["difference_low"] - (mean - half)) < 1e-6
assert verdict["verdict"] == ("better" if mean - half > 0 else "cannot tell")
PY
code() { want=$1; shift; got=0; "$@" >out 2>err || got=$?; [ $got = "$want" ] || fail "$*: exit $got, wanted $want: $(cat err)"; }
code 2 "$gg" shape -r solve -o lab
grep -q 'holds a lab already' err || fail "a used folder: $(cat err)"
code 2 "$gg" shape
code 2 "$gg" shape -r solve -r slove -o other
code 2 "$gg" shape -r solve -r solve -o other
grep -q 'given twice' err || fail "$(cat err)"
[ ! -e other ] || fail "a folder was made for nothing"
code 1 "$gg" shape -r solve --seeds 1 --tasks rows/train.jsonl --val rows/train.jsonl --batch 8 --steps 4 -o broken
grep -q 'training r1-s1 failed' err || fail "a failed training: $(cat err)"
# One Ctrl-C: the children drain and it ends with 130.
setsid "$gg" shape -r solve --seeds 1 --steps 4000 -o long >out 2>err &
pid=$!
for _ in $(seq 100); do [ -s long/r1-s1/metrics.jsonl ] && break; sleep 0.1; done
kill -INT $pid
got=0; wait $pid || got=$?
[ "$got" = 130 ] || fail "interrupted: exit $got, $(cat err)"
grep -q 'go on with: .*guessgym shape .* --resume' err || fail "interrupted: no word on going on: $(cat err)"

# Killed in the middle and resumed: what was whole is left alone, the rest goes on, and the figures are those of a lab
# that was never stopped.
lab() { "$gg" shape -r solve -r solve=1,speed=0.5 --seeds 1 --steps 8 --batch 8 --group-size 4 --tasks rows/train.jsonl --val rows/val.jsonl \
    --seed 3 --jobs 1 --json "$@"; }
lab -q -o whole >whole.json
setsid sh -c "exec '$gg' shape -r solve -r solve=1,speed=0.5 --seeds 1 --steps 8 --batch 8 --group-size 4 --tasks rows/train.jsonl \
    --val rows/val.jsonl --seed 3 --jobs 1 --json -o cut" >out 2>err &
pid=$!
for _ in $(seq 200); do [ -s cut/r2-s1/checkpoint.json ] && break; sleep 0.05; done
kill -KILL -- "-$pid" 2>/dev/null || :
pkill -KILL -s "$pid" 2>/dev/null || :
wait $pid || :
before=$(stat -c '%i %Y %s' cut/r1-s1/metrics.jsonl cut/before/episodes.jsonl)
code 2 "$gg" shape -r solve --steps 8 -o cut --resume
grep -q 'has changed, so it cannot be resumed' err || fail "another lab was resumed: $(cat err)"
code 2 "$gg" shape -r solve -o nowhere --resume
grep -q 'nothing to resume at nowhere' err || fail "$(cat err)"
[ ! -e nowhere ] || fail 'a folder was made for nothing'
lab -o cut --resume >cut.json 2>err
grep -Eq '[2-9] of 5 parts are there' err || fail "nothing was passed over: $(cat err)"
[ "$before" = "$(stat -c '%i %Y %s' cut/r1-s1/metrics.jsonl cut/before/episodes.jsonl)" ] || fail 'a part that was whole was done again'
cmp whole.json cut.json || fail 'a resumed lab has other figures'
lab -o cut --resume >again.json 2>err
grep -q '5 of 5 parts are there' err && cmp cut.json again.json || fail "a finished lab: $(cat err)"
