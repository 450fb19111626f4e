"""The token records of run.sh's episodes, held against the server's own tokenizer: check.py DIR URL."""
import collections
import json
import sys
import urllib.request

folder, url = sys.argv[1:]
END = "<|im_end|>"


def lines(name):
    with open(f"{folder}/{name}") as f:
        return [json.loads(line) for line in f]


def text_of(ids):
    body = json.dumps({"model": "smol", "tokens": ids}).encode()
    request = urllib.request.Request(url + "/detokenize", body, {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request))["prompt"]


def said(messages):
    return [m["content"] for m in messages if m["role"] == "assistant"]


probe = json.load(open(f"{folder}/probe.json"))
assert probe["features"]["tools"] and probe["features"]["token_ids"] and probe["features"]["reasoning_effort"], probe["details"]
assert probe["endpoint"] == url + "/v1" and probe["address_fault"], probe["endpoint"]
count = collections.Counter()
for run in ("free", "held"):
    tokens = {line["id"]: line["turns"] for line in lines(f"{run}/tokens.jsonl")}
    for episode in lines(f"{run}/episodes.jsonl"):
        count[run, episode["outcome"], episode["stop"], episode.get("untrainable_reason", "trainable")] += 1
        assert episode.get("constrained", False) is (run == "held")
        sequence = []
        replies = said(episode["messages"])
        for at, (turn, part) in enumerate(zip(episode["turns"], tokens[episode["id"]], strict=True)):
            if not part["ids"]:
                continue  # refused as too long
            assert len(part["ids"]) == len(part["logprobs"]) == turn["usage"]["completion"], turn
            assert all(p <= 0 for p in part["logprobs"])
            count["forks"] += "fork_at" in part
            sequence = (sequence[:part["prompt_ids_from"]] if part["prompt_ids_from"] else []) + part["prompt_ids"]
            assert len(sequence) == turn["usage"]["prompt"], (len(sequence), turn["usage"])
            text = text_of(part["ids"])
            assert turn["finish_reason"] == "length" or text.endswith(END), text
            if at < len(replies) and not any(c["id"] for c in turn["calls"]):
                assert text.replace(END, "").strip() == replies[at].strip() or replies[at] == "(empty reply)", (text, replies[at])
            sequence += part["ids"]
            count["turns"] += 1
            count["sampled"] += len(part["ids"])
assert sum(n for key, n in count.items() if isinstance(key, tuple)) == 20
for key, n in sorted(count.items(), key=str):
    print(f"{n:6d} {' '.join(key) if isinstance(key, tuple) else key}")
print("ok: every token record of 20 episodes holds")
