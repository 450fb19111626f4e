"""Checks vectors.bin and what vector_search found against the letters' counts computed once more."""
import json
import math
import struct
import sys

corpus, index, run = sys.argv[1:4]


def vector(text):
    counts = [text.lower().count(c) for c in "abcdefghijklmnopqrst"]
    length = math.sqrt(sum(c * c for c in counts)) or 1
    return [c / length for c in counts]


documents = [json.loads(line) for line in open(corpus)]
want = {d["_id"]: vector(d["title"] + "\n" + d["text"]) for d in documents}
raw = open(index + "/vectors.bin", "rb").read()
assert len(raw) == len(documents) * 32 * 4  # 20 numbers in rows of 32
for d, row in zip(documents, struct.iter_unpack("32f", raw)):
    assert all(abs(a - b) < 1e-6 for a, b in zip(row, want[d["_id"]] + [0] * 12)), d["_id"]
episodes = [json.loads(line) for line in open(run + "/episodes.jsonl")]
assert len(episodes) == 24
for episode in episodes:
    query = vector(episode["turns"][0]["calls"][0]["facts"]["query"])
    scores = {i: sum(a * b for a, b in zip(query, v)) for i, v in want.items()}
    found = [line.split(" | ")[0] for line in episode["turns"][0]["calls"][0]["result"].splitlines() if " | " in line]
    best = sorted(scores.values(), reverse=True)
    assert len(found) == 20 and all(abs(scores[i] - s) < 1e-5 for i, s in zip(found, best)), episode["id"]
