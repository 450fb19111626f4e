"""Two run folders hold the same plays: each exactly once, alike in everything but their times."""
import json
import sys


def lines(folder, name):
    try:
        with open(f"{folder}/{name}") as f:
            text = f.read()
    except FileNotFoundError:
        return []
    assert text == "" or text.endswith("\n"), f"{folder}/{name}: torn last line"
    return [json.loads(line) for line in text.splitlines()]


def by_id(folder, name, key):
    found = {}
    for record in lines(folder, name):
        assert record[key] not in found, f"{folder}/{name}: {record[key]} twice"
        found[record[key]] = record
    return found


def timeless(episode):
    for key in ("started", "duration_ms"):
        episode.pop(key)
    for turn in episode["turns"]:
        turn.pop("latency_ms")
        turn.pop("attempts")
    return episode


def same(name, key, change=lambda record: record):
    one, other = (by_id(folder, name, key) for folder in sys.argv[1:3])
    missing, extra = one.keys() - other.keys(), other.keys() - one.keys()
    assert not missing and not extra, f"{name}: missing {sorted(missing)[:3]}, more {sorted(extra)[:3]}"
    for record in one:
        a, b = change(one[record]), change(other[record])
        assert a == b, f"{name}: {record} differs in {[k for k in a if a[k] != b.get(k)]}"
    return len(one)


plays = same("episodes.jsonl", "id", timeless)
assert same("tokens.jsonl", "id") in (0, plays)
same("groups.jsonl", "group")
print(f"{plays} plays, the same")
