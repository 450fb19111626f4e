#!/bin/sh
# Several runs against the first, p-values adjusted; what a small difference would take; lists that differ.
set -eu
cd "$(dirname "$0")/../.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
gg=$PWD/build/guessgym
fail() { echo "not ok: $*"; exit 1; }
cd "$dir"
play() { name=$1; shift; $gg eval --limit 48 -q -o "$name" --json "$@" >"$name.json"; }
play low --effort low
play again --effort low --seed 2
play medium --effort medium --seed 3
play solver -e builtin:entropy
play other --effort low --limit 47
play four --effort low -n 4
$gg compare low again medium solver --json >all.json
for run in again medium solver; do $gg compare low $run --json >pair-$run.json; done
$gg compare low again >text
python3 - <<'PY'
import json
found = json.load(open("all.json"))
assert found["before"] == "low" and [r["run"] for r in found["runs"]] == ["again", "medium", "solver"]
pairs = {n: json.load(open(f"pair-{n}.json")) for n in ("again", "medium", "solver")}
p = {n: c["p_value"] for n, c in pairs.items()}
order, floor, adjusted = sorted(p, key=p.get), 0, {}
for i, name in enumerate(order):  # Holm's procedure once more
    floor = max(floor, min(1, p[name] * (3 - i)))
    adjusted[name] = floor
for r in found["runs"]:
    assert abs(r["p_adjusted"] - adjusted[r["run"]]) < 1e-15
    assert {k: v for k, v in r["comparison"].items() if k != "verdict"} == {
        k: v for k, v in pairs[r["run"]].items() if k != "verdict"}
assert found["runs"][2]["comparison"]["verdict"] == "better"
again = pairs["again"]
assert again["verdict"] == "cannot tell"
if again["better"] != again["worse"]:  # Connor 1987, 80 % power
    b, w = again["better"] / 48, again["worse"] / 48
    need = ((1.959963984540054 * (b + w) ** 0.5 + 0.8416212335729143 * (b + w - (b - w) ** 2) ** 0.5) / (b - w)) ** 2
    assert abs(again["pairs_needed"] - need) < 1e-6 * need
    assert f"takes about {-int(-need // 1)} tasks to tell" in open("text").read()
four = json.load(open("four.json"))
assert [q["k"] for q in four["pass"]] == [1, 2, 4] and "pass" not in json.load(open("low.json"))
assert abs(four["pass"][0]["any"] - four["solve_rate"]) < 1e-12
assert four["pass"][2]["all"] <= four["pass"][0]["all"] <= four["pass"][2]["any"]
PY
code=0; $gg compare low medium other 2>err || code=$?
[ "$code" = 2 ] && grep -q '^guessgym: other: ' err || fail "another list: exit $code, $(cat err)"
