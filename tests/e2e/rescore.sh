#!/bin/sh
# A saved rollout under other rewards: the same value as while playing, a script's planted hole, a changed script.
set -eu
cd "$(dirname "$0")/../.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
gg=$PWD/build/guessgym
fail() { echo "not ok: $*"; exit 1; }
cat >"$dir/greens.lua" <<'LUA'
-- Pays for every green letter of every guess: staying close is worth more than solving.
function reward(episode)
  local greens = 0
  for _, turn in ipairs(episode.turns) do
    for _, call in ipairs(turn.calls) do
      local _, found = (call.facts.marks or ""):gsub("G", "")
      greens = greens + found
    end
  end
  return (episode.outcome == "solved" and 1 or 0) + 0.2 * greens, { greens = greens }
end
LUA
cd "$dir"
$gg rollout --limit 48 --effort medium --reward greens.lua -q -o run --json >live.json
$gg rescore run --json >own.json
$gg rescore run -r solve -r tutorial -r greens.lua --json >three.json
$gg rescore run -r solve -r greens.lua >text
python3 - <<'PY'
import json
live, own, three = (json.load(open(f"{n}.json")) for n in ("live", "own", "three"))
plays = [json.loads(line) for line in open("run/episodes.jsonl")]
assert own["plays"] == live["planned"] == 384 and own["groups"] == 48
assert abs(own["rewards"][0]["mean"] - live["reward_mean"]) < 1e-12
assert own["rewards"][0]["groups_without_signal"] == live["groups_without_signal"]
assert own["rewards"][0]["mean"] == three["rewards"][2]["mean"]
solve, tutorial, greens = three["rewards"]
assert abs(solve["mean"] - live["solve_rate"]) < 1e-12 and solve["rank_correlation"] == 1 and not solve["holes"]
assert tutorial["rank_correlation"] == 1 and tutorial["least"] >= -0.65
holes = {h["hole"]: h for h in greens["holes"]}
assert set(holes) >= {"loss_beats_solve", "unsolved_group_has_signal"}, holes
lost, solved = holes["loss_beats_solve"]["examples"]
by_id = {p["id"]: p for p in plays}
assert by_id[lost]["outcome"] == "lost" and by_id[solved]["outcome"] == "solved"
assert by_id[lost]["reward"]["total"] > by_id[solved]["reward"]["total"]
assert -1 < greens["rank_correlation"] < 1
PY
grep -q 'loss_beats_solve: a lost play earned' text || fail "the text names no hole: $(cat text)"
echo '-- changed' >>greens.lua
code=0; $gg rescore run 2>err || code=$?
[ "$code" = 2 ] && grep -q 'has changed since the run began' err || fail "a changed script: exit $code, $(cat err)"
code=0; $gg rescore run -r slove 2>err || code=$?
[ "$code" = 2 ] && grep -q 'did you mean "solve"' err || fail "a wrong name: exit $code, $(cat err)"
code=0; $gg rescore . 2>err || code=$?
[ "$code" = 2 ] || fail "no run folder: exit $code"
