#!/bin/sh
# The log-probabilities in real records are those of docs/letters.md: tests/lib/letters.py, written from that page alone,
# computes them again from the ids.
set -eu
cd "$(dirname "$0")/../.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
printf 'crane\neerie\nmummy\nzebra\n' >"$dir/words"
for effort in low medium high; do
    build/test/guessgym rollout --words "$dir/words" --group-size 4 --effort $effort --seed 5 -o "$dir/$effort" --json >/dev/null 2>&1
done
python3 - "$dir" <<'PY'
import pathlib, sys
sys.path.insert(0, "tests/lib")
import letters

model = letters.Letters(open("wordlists/answers.txt").read().split())
games = drawn = 0
for effort in ("low", "medium", "high"):
    run = pathlib.Path(sys.argv[1]) / effort
    for ids, logprobs in letters.sequences(open(run / "tokens.jsonl")):
        games += 1
        for at, (mine, theirs) in enumerate(zip(model.logprobs(ids, model.base()), logprobs, strict=True)):
            assert abs(mine - (theirs or 0)) < 1e-12, (run.name, games, at, mine, theirs)
            drawn += mine != 0
assert games == 3 * 4 * 4 and drawn > 1000, (games, drawn)
print("ok", games, "games,", drawn, "letters")
PY
