#!/bin/sh
# eval and rollout through the program: results, folders, resume, thresholds, what goes wrong.
. "$(dirname "$0")/inc/common.sh"
same() { python3 tests/e2e/inc/same_plays.py "$1" "$2" >"$T/out" 2>"$T/err" || fail "$1 and $2 differ"; }

# One run: keys of the result, the ledger adds up, summary.json is the same text.
expect 0 "$G" eval --limit 20 --json -o "$T/one"
json 'd["planned"] == 20 == sum(d[k] for k in ("solved","lost","forfeited","truncated","errored"))'
json 'd["unplayed"] == 0 and d["list"]["count"] == 20 and len(d["list"]["identity"]) == 64'
json 'all(k in d for k in ("solve_rate","solve_rate_low","solve_rate_high","failure_rate",
    "mean_turns","mean_moves","move_histogram","tokens","tokens_per_turn","repairs","wall_s"))'
json 'set(d["measure"]) == {"name","mean","low","high"}'
json 'sum(d["move_histogram"].values()) == 20'
cmp -s "$T/out" "$T/one/summary.json" || fail 'summary.json is not the result'
says 'from the shipped test split'
says 'no language model'

# Without -o a folder of its own under runs/.
(cd "$T" && "$G" eval --limit 2 -q >/dev/null 2>&1 && "$G" eval --limit 2 -q >/dev/null 2>&1)
# shellcheck disable=SC2012 # our own names
[ "$(ls "$T/runs" | wc -l)" -eq 2 ] || fail 'no folder of its own for every run'

# The same seed: the same plays, however many at a time. Another seed: others.
expect 0 "$G" eval --limit 20 -c 1 -q -o "$T/alone"; same "$T/one" "$T/alone"
expect 0 "$G" eval --limit 20 --seed 7 -q -o "$T/seven"
python3 tests/e2e/inc/same_plays.py "$T/one" "$T/seven" >/dev/null 2>&1 && fail 'the seed changes nothing'

# Several efforts: one table, a folder each, JSON an object by effort.
expect 0 "$G" eval --limit 10 --effort low,high -o "$T/two"
prints '| low '; prints '| high '; prints 'low: planned 10'
expect 0 "$G" eval --limit 10 --effort low,high -o "$T/two" --resume --json
json 'list(d) == ["low", "high"] and d["low"]["planned"] == 10'
expect 0 "$G" compare "$T/two/low" "$T/two/high" --json
json 'd["pairs"] == 10 and d["verdict"] in ("better", "worse", "cannot tell")'
expect 0 "$G" compare "$T/two/low" "$T/two/high"; prints verdict
expect 2 "$G" compare "$T/two" "$T/one"; says 'run.json'
expect 2 "$G" compare "$T/two/low" "$T/one"; says 'different tasks'
expect 0 "$G" compare "$T/two/low" "$T/one" --common

# A folder in use, or with another configuration, is refused and stays as it is.
cp -r "$T/one" "$T/kept"
expect 2 "$G" eval --limit 20 -o "$T/one"; says 'already holds a run'
expect 2 "$G" eval --limit 20 -o "$T/one" --resume --seed 8; says 'seed (was 42, now 8)'
expect 2 "$G" eval --limit 19 -o "$T/one" --resume; says 'limit (was 20, now 19)'
expect 2 "$G" rollout -o "$T/one" --resume; says 'command'
expect 2 "$G" eval --resume; says '--output DIR'
(
    flock 9
    "$G" eval --limit 20 -o "$T/one" --resume >"$T/out" 2>"$T/err"
    [ $? -eq 2 ] || fail 'a locked folder was taken'
) 9>>"$T/one/.lock" || exit 1
says 'working in'
for file in run.json episodes.jsonl tokens.jsonl summary.json; do
    cmp -s "$T/one/$file" "$T/kept/$file" || fail "$file of a refused run was touched"
done
expect 0 "$G" eval -o "$T/one" --resume -q; same "$T/one" "$T/kept" # all options from run.json
expect 2 "$G" eval --limit 2 -o /proc/nowhere/run; says '/proc/nowhere'

# Damaged and errored records are played again, and nothing else.
python3 - "$T/one/episodes.jsonl" <<'EOF'
import sys
text = open(sys.argv[1]).read().splitlines()
text[3] = text[3].replace('"outcome":"lost"', '"outcome":"errored"').replace('"outcome":"solved"', '"outcome":"errored"')
text[7] = text[7][:200]
open(sys.argv[1], "w").write("\n".join(text[:-1]) + "\n" + text[-1][:50])
EOF
expect 0 "$G" eval -o "$T/one" --resume; says '1 errored episodes and 1 damaged lines'; says '17 of 20'
same "$T/one" "$T/kept"

# Thresholds and endpoints.
expect 5 "$G" eval --limit 5 --min-solve-rate 1 -q -o "$T/five"; says '--min-solve-rate'
expect 3 "$G" eval --endpoint http://127.0.0.1:9/v1 -o "$T/no"; says 'cannot reach http://127.0.0.1:9/v1'
expect 2 "$G" eval --endpoint 127.0.0.1:9 -o "$T/no"; says 'neither builtin:NAME nor an address'
expect 2 "$G" eval --endpoint http://key@127.0.0.1:9 -o "$T/no"; says 'GUESSGYM_API_KEY'
expect 2 "$G" eval --endpoint http://127.0.0.1:9 --adapter x -o "$T/no"; says '--adapter works with embedded'
expect 2 "$G" eval --endpoint builtin:leters -o "$T/no"; says 'did you mean "letters"'
expect 2 "$G" eval --adapter "$T/none.json" -o "$T/no"; says none.json
[ ! -e "$T/no" ] || fail 'a run folder for nothing'
for most in 40 256; do # of open files
    # shellcheck disable=SC2016 # the inner shell's
    expect 2 sh -c 'ulimit -n $1 && shift && "$@"' sh $most "$G" eval -c 1000 -q -o "$T/few$most"
    says "this process may have $most: raise the limit (ulimit -n 1064)"
    prints 'unplayed 256'
    ! grep -q 'solve rate' "$T/out" || fail 'rates of nothing'
done
says 'or lower the concurrency to 192'

# An address: the model is found, the key reaches no file.
"$G" serve policy --listen :0 -q >"$T/url" 2>/dev/null &
server=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do [ -s "$T/url" ] && break; sleep 0.3; done
expect 0 env GUESSGYM_API_KEY=sesame-open "$G" eval --endpoint "$(cat "$T/url")" --limit 20 -o "$T/http"
says 'player letters at http://127.0.0.1'
grep -rq sesame "$T/http" "$T/out" "$T/err" && fail 'the key was written down'
expect 2 env GUESSGYM_API_KEY="$(printf 'a\nb')" "$G" eval --endpoint "$(cat "$T/url")" -o "$T/no"
says 'control character'
kill -TERM $server; wait $server || fail 'a server that is told to stop exits with 0'
expect 3 "$G" eval -o "$T/http" --resume; says 'cannot reach'

# Groups.
expect 0 "$G" rollout --limit 6 --group-size 4 --reward solve-speed --json -o "$T/groups"
json 'd["planned"] == 24 and d["groups"] == 6 and "groups_without_signal" in d and "reward_mean" in d'
says 'from the shipped train split'
for method in gpg grpo rloo opo monte_carlo; do
    expect 0 "$G" rollout --limit 6 -g 4 --advantage "$method" -q -o "$T/$method"
    [ "$(wc -l <"$T/$method/groups.jsonl")" -eq 6 ] || fail "groups of $method"
done
expect 2 "$G" rollout --advantage grop -o "$T/no"; says 'did you mean "grpo"'
python3 - "$T/groups" <<'EOF' || fail 'groups.jsonl'
import json, math, sys
plays = {e["id"]: e for e in map(json.loads, open(sys.argv[1] + "/episodes.jsonl"))}
for g in map(json.loads, open(sys.argv[1] + "/groups.jsonl")):
    r = [plays[i]["reward"]["total"] for i in g["episode_ids"]]
    assert r == g["rewards"] and len(r) == 4 and g["method"] == "group_based" and g["step"] == 0
    assert all(plays[i]["task"]["key"] == g["task_key"] for i in g["episode_ids"])
    mean = sum(r) / 4
    std = math.sqrt(sum((x - mean) ** 2 for x in r) / 4)
    want = [(x - mean) / std if std else 0 for x in r]
    assert all(abs(a - b) < 1e-9 for a, b in zip(want, g["advantages"])), (g, want)
    assert g["signal"]["reward"] == (len(set(r)) > 1)
EOF
# A group cut short is topped up to exactly its size.
head -n 13 "$T/groups/episodes.jsonl" >"$T/cut" && cp -r "$T/groups" "$T/whole"
cp "$T/cut" "$T/groups/episodes.jsonl"
: >"$T/groups/groups.jsonl"; head -n 13 "$T/groups/tokens.jsonl" >"$T/cut"; cp "$T/cut" "$T/groups/tokens.jsonl"
expect 0 "$G" rollout -o "$T/groups" --resume -q; same "$T/groups" "$T/whole"

# A full disk is an error that loses nothing.
if mkdir "$T/small" && mount -t tmpfs -o size=256k tmpfs "$T/small" 2>/dev/null; then
    expect 1 "$G" eval -n 4 -o "$T/small/run"
    umount "$T/small"
    says 'it may be full'; says '--resume'
fi
echo 'eval: everything holds'
