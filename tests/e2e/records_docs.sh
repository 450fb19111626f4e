#!/bin/sh
# Every key of real records is named on docs/records.md.
set -eu
cd "$(dirname "$0")/../.."
gg=build/test/guessgym
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
$gg rollout --effort medium --limit 3 --group-size 2 -q -o "$work/rollout" >/dev/null 2>&1
$gg train --steps 1 --batch 32 --group-size 2 --effort low -q -o "$work/train" >/dev/null 2>&1
python3 - "$work" <<'END'
import json, re, sys
work = sys.argv[1]
named = set(re.findall(r"`([^`]+)`", open("docs/records.md", encoding="utf-8").read()))
families = tuple(name[:-3] for name in named if name.endswith("/..."))
free = {"labels", "parts", "facts", "repairs", "game", "move_histogram", "config", "health", "messages", "content"}  # own names below


def keys(value):
    for key, below in value.items():
        yield key
        for item in (below if isinstance(below, list) else [below]):
            if isinstance(item, dict) and key not in free:
                yield from keys(item)


def family(key):
    return any(key.startswith(name) for name in families)


seen = set()
for path in ("rollout/episodes.jsonl", "rollout/tokens.jsonl", "rollout/groups.jsonl", "train/metrics.jsonl", "train/groups.jsonl"):
    for line in open(f"{work}/{path}", encoding="utf-8"):
        seen.update(keys(json.loads(line)))
for path in ("rollout/run.json", "rollout/summary.json", "train/summary.json", "train/checkpoint.json"):
    seen.update(keys(json.load(open(f"{work}/{path}", encoding="utf-8"))))
missing = sorted(key for key in seen if key not in named and not family(key))
assert not missing, f"docs/records.md does not name {missing}"
print(f"ok: {len(seen)} keys are named")
END
