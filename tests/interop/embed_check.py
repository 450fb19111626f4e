"""A set out of a page of this project, and the check of the index against the server's own answers:
embed_check.py set FOLDER | check FOLDER URL MODEL [BYTES]"""
import json
import os
import struct
import sys
import urllib.request

DOCUMENTS, QUESTIONS = 40, 6
what, folder = sys.argv[1:3]


def paragraphs():
    for text in open("docs/decisions.md").read().split("\n\n"):
        if text.startswith("**") and text.count("**") >= 2:
            title, rest = text[2:].split("**", 1)
            yield title, " ".join(rest.split())


def ask(text):
    body = json.dumps({"model": sys.argv[4], "encoding_format": "float", "input": text}).encode()
    request = urllib.request.Request(sys.argv[3] + "/embeddings", body, {"Content-Type": "application/json"})
    vector = json.load(urllib.request.urlopen(request))["data"][0]["embedding"]
    length = sum(x * x for x in vector) ** 0.5
    return [x / length for x in vector]


documents = list(paragraphs())[:DOCUMENTS]
assert len(documents) == DOCUMENTS
if what == "set":
    os.makedirs(folder + "/qrels")
    with open(folder + "/corpus.jsonl", "w") as f:
        for i, (title, text) in enumerate(documents):
            f.write(json.dumps({"_id": f"p{i}", "title": title, "text": text}) + "\n")
    with open(folder + "/queries.jsonl", "w") as f, open(folder + "/qrels/test.tsv", "w") as q:
        q.write("query-id\tcorpus-id\tscore\n")
        for i in range(QUESTIONS):  # a paragraph's text, for which its own document is the nearest
            f.write(json.dumps({"_id": f"q{i}", "text": documents[i * 5][1][:400]}) + "\n")
            q.write(f"q{i}\tp{i * 5}\t1\n")
    sys.exit()

raw = open(folder + "/index/vectors.bin", "rb").read()
row = len(raw) // DOCUMENTS // 4
rows = list(struct.iter_unpack(f"{row}f", raw))
for i in range(0, DOCUMENTS, 7):
    text = documents[i][0] + "\n" + documents[i][1]
    want = ask(text[: int(sys.argv[5])] if len(sys.argv) > 5 else text)
    assert row - 16 < len(want) <= row, (row, len(want))
    cosine = sum(a * b for a, b in zip(rows[i], want))
    assert cosine > 0.999, (i, cosine)
for line in open(folder + "/run/episodes.jsonl"):
    episode = json.loads(line)
    call = episode["turns"][0]["calls"][0]
    query = ask(call["facts"]["query"])
    scores = sorted((-sum(a * b for a, b in zip(query, v)), i) for i, v in enumerate(rows))
    found = [line.split(" | ")[0] for line in call["result"].splitlines() if " | " in line]
    known = {f"p{i}": -s for s, i in scores}
    assert len(found) == 20
    for document, (score, _) in zip(found, scores):  # the server's sums differ a little from call to call
        assert abs(known[document] + score) < 1e-3, (episode["id"], document)
print("ok: the rows are the server's, and the nearest are found")
