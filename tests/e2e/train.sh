#!/bin/sh
# A small training end to end: what it leaves behind, that concurrency does not matter, what it refuses, that a killed
# and resumed one ends with the same bytes.
set -eu
cd "$(dirname "$0")/../.."
. tests/lib/venv.sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
gg=build/guessgym
fail() { echo "not ok: $*"; exit 1; }
$gg words split --train 48 --val 12 --test 24 --seed 9 -o "$dir/rows" >/dev/null
train() { # NAME [options]
    name=$1; shift
    $gg train --steps 4 --batch 12 --group-size 4 --effort low --tasks "$dir/rows/train.jsonl" --val "$dir/rows/val.jsonl" \
        --val-every 2 --seed 3 --keep all -o "$dir/$name" "$@" --json
}

train plain --concurrency 64 >"$dir/plain.json"
train narrow --concurrency 3 >"$dir/narrow.json"
cmp "$dir/plain/adapter.json" "$dir/narrow/adapter.json" || fail "the adapter depends on concurrency"

python3 - "$dir" <<'PY'
import json, sys
run = sys.argv[1] + "/plain"
lines = lambda name: [json.loads(line) for line in open(f"{run}/{name}.jsonl")]
metrics, episodes, groups, tokens = map(lines, ("metrics", "episodes", "groups", "tokens"))
assert [m["step"] for m in metrics] == [0, 1, 2, 3, 4]
assert [m["step"] for m in metrics if "val/solve_rate" in m] == [0, 2, 4]
assert all(m["plays"] == 48 and sum(v for k, v in m["ledger"].items() if k != "planned") == 48 for m in metrics[1:])
assert len(episodes) == 4 * 48 == len({e["id"] for e in episodes}) and len(groups) == 4 * 12
assert {t["id"] for t in tokens} == {e["id"] for e in episodes}
# Every figure of the line can be computed again from the kept records.
for m in metrics[1:]:
    mine = [e for e in episodes if e["step"] == m["step"]]
    assert abs(m["rollout/reward/mean"] - sum(e["reward"]["total"] for e in mine) / 48) < 1e-12
    assert m["ledger"]["solved"] == sum(e["outcome"] == "solved" for e in mine)
    assert m["tokens"]["sample"] == sum(t["usage"]["completion"] for e in mine for t in e["turns"])
# One task a group, advantages by the formula, ids of the right group.
by_id = {e["id"]: e for e in episodes}
for g in groups:
    plays = [by_id[i] for i in g["episode_ids"]]
    assert len({p["task"]["digest"] for p in plays}) == 1 and len(plays) == 4
    r = [p["reward"]["total"] for p in plays]
    mean = sum(r) / 4
    std = (sum((x - mean) ** 2 for x in r) / 4) ** 0.5
    want = [0] * 4 if len(set(r)) == 1 else [(x - mean) / std for x in r]
    assert all(abs(a - b) < 1e-9 for a, b in zip(g["advantages"], want)), g
    assert g["signal"]["reward"] == (len(set(r)) > 1)
validation = [json.loads(line) for line in open(f"{run}/validation/episodes.jsonl")]
assert len(validation) == 3 * 12 and all(v["id"].startswith("v") for v in validation)
summary = json.load(open(f"{run}/summary.json"))
assert summary["plays"] == 4 * 48 and summary["steps"] == 4, summary
said = json.load(open(sys.argv[1] + "/plain.json"))
assert said["steps"] == 4 and said["plays"] == 4 * 48, said
PY

code() { want=$1; shift; got=0; "$@" >/dev/null 2>"$dir/err" || got=$?; [ $got = "$want" ] || fail "$*: exit $got, wanted $want: $(cat "$dir/err")"; }
code 2 train plain --resume --learning-rate 0.005
grep -q learning "$dir/err" || fail "the changed key is not named: $(cat "$dir/err")"
code 2 train plain
code 2 train leak --held-out "$dir/rows/train.jsonl"
code 2 train small --batch 100
code 2 train rate --learning-rate 0.02
code 2 train loss --loss hinge

# The next step played ahead: other weights, all the same a whole run.
train ahead --max-staleness 1 >/dev/null
[ "$(wc -l <"$dir/ahead/metrics.jsonl")" = 5 ] || fail "steps are missing with --max-staleness 1"

# Imitation of a baseline's saved games.
$gg rollout --endpoint builtin:consistent --tasks "$dir/rows/train.jsonl" --group-size 2 -o "$dir/teacher" --json >/dev/null
$gg train --steps 2 --batch 12 --loss cross_entropy --from "$dir/teacher" --held-out "$dir/rows/test.jsonl" --val "$dir/rows/val.jsonl" -o "$dir/imitator" --json >/dev/null
[ -s "$dir/imitator/adapter.json" ] || fail "no adapter from --from"

# Going on from an adapter.
$gg train --steps 1 --batch 12 --group-size 4 --effort low --tasks "$dir/rows/train.jsonl" --val "$dir/rows/val.jsonl" \
    --adapter "$dir/plain/adapter.json" -o "$dir/second" --json >/dev/null
cmp -s "$dir/plain/adapter.json" "$dir/second/adapter.json" && fail "a second training changed nothing"

# A budget ends the run after a whole step, without an error.
train budget --max-total-tokens 30000 >"$dir/budget.json"
python3 - "$dir" <<'PY'
import json, sys
said = json.load(open(sys.argv[1] + "/budget.json"))
assert 0 < said["steps"] < 4 and said["stopped"], said
assert sum(said["tokens"].values()) >= 30000
PY

# The same service from another process, twice: other sessions, the same bytes. Nothing is left running.
. tests/lib/serve.sh
serve $gg serve service --listen 127.0.0.1:0 --state "$dir/state"
for name in apart again; do
    train $name --on session --service-url "$url" --s3-root "$dir/state/s3" >/dev/null
    cmp "$dir/plain/adapter.json" "$dir/$name/adapter.json" || fail "--on session: other weights than --on local"
done
curl -s -H 'X-Amz-Target: SageMaker.ListTrainingSessions' -H 'Content-Type: application/x-amz-json-1.1' -d '{}' "$url/" >"$dir/sessions"
kill $server
[ "$(grep -o '"TrainingSessionStatus":"Stopped"' "$dir/sessions" | wc -l)" = 2 ] || fail "a session was left running: $(cat "$dir/sessions")"

# A service that never answers: before the training stands, one SIGINT ends it.
python3 - "$dir/port" <<'PY' &
import os, socket, sys
server = socket.create_server(("127.0.0.1", 0))
with open(sys.argv[1] + ".new", "w") as f:
    f.write(str(server.getsockname()[1]))
os.rename(sys.argv[1] + ".new", sys.argv[1])
held = []
while True:
    held.append(server.accept()[0])
    open(sys.argv[1] + ".asked", "w").close()
PY
silent=$!
while [ ! -e "$dir/port" ]; do sleep 0.05; done
(exec $gg train --on session --service-url "http://127.0.0.1:$(cat "$dir/port")" --steps 1 -o "$dir/silent") 2>"$dir/err" &
pid=$!
while [ ! -e "$dir/port.asked" ]; do sleep 0.05; done
kill -INT $pid
code=0; wait $pid || code=$?
kill $silent
[ $code = 130 ] || fail "SIGINT while opening: exit $code: $(cat "$dir/err")"
grep -q 'interrupted while waiting for http://127.0.0.1' "$dir/err" || fail "SIGINT while opening: $(cat "$dir/err")"

# SIGINT: what was played is kept, the command to go on is said, and the end is the same.
(name=stopped; exec $gg train --steps 4 --batch 12 --group-size 4 --effort low --tasks "$dir/rows/train.jsonl" \
    --val "$dir/rows/val.jsonl" --val-every 2 --seed 3 --keep all --concurrency 2 -o "$dir/$name") >/dev/null 2>"$dir/err" &
pid=$!
count=0
while [ "${count:-0}" -lt 2 ]; do
    sleep 0.02
    count=$(grep -c step "$dir/stopped/metrics.jsonl" 2>/dev/null || true)
done
kill -INT $pid
code=0; wait $pid || code=$?
[ $code = 130 ] || fail "SIGINT: exit $code: $(cat "$dir/err")"
grep -q -- --resume "$dir/err" || fail "SIGINT: the command to go on is not said"
train stopped --resume >/dev/null
cmp "$dir/plain/adapter.json" "$dir/stopped/adapter.json" || fail "SIGINT and --resume: other weights"
echo ok
