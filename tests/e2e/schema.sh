#!/bin/sh
# Real records hold against the JSON Schemas in docs/.
set -eu
cd "$(dirname "$0")/../.."
. tests/lib/venv.sh
need_python schema jsonschema
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
build/test/guessgym rollout --limit 6 --group-size 3 --effort low --seed 5 -o "$dir/low" --json >/dev/null
build/test/guessgym eval --limit 6 --effort medium --seed 5 -o "$dir/medium" --json >/dev/null
build/test/guessgym eval --limit 6 --endpoint builtin:entropy --seed 5 -o "$dir/entropy" --json >/dev/null
"$python" - "$dir" <<'PY'
import json, pathlib, sys
import jsonschema

def validator(name):
    schema = json.load(open(f"docs/{name}.schema.json"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)

episode, tokens, seen = validator("episode"), validator("tokens"), {"episodes": 0, "tokens": 0}
for run in pathlib.Path(sys.argv[1]).iterdir():
    for kind, check in (("episodes", episode), ("tokens", tokens)):
        for line in open(run / f"{kind}.jsonl"):
            check.validate(json.loads(line))
            seen[kind] += 1
assert seen["episodes"] == 6 * 3 + 6 + 6, seen
assert seen["tokens"] == seen["episodes"], seen
# The check can fail: a record with an unknown outcome, one without a key.
broken = json.loads(line)
record = json.loads(open(run / "episodes.jsonl").readline())
for change in ({"outcome": "won"}, {"seed": 2**53}, {"surprise": 1}):
    assert not episode.is_valid({**record, **change}), change
print("ok", seen)
PY
