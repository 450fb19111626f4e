"""What llama.sh's runs must have left: llama_check.py DIR."""
import collections
import json
import sys

folder = sys.argv[1]
OUTCOMES = ("solved", "lost", "forfeited", "truncated", "errored")


def load(name):
    with open(f"{folder}/{name}") as f:
        return json.load(f)


def lines(name):
    with open(f"{folder}/{name}") as f:
        return [json.loads(line) for line in f]


probe = load("probe.json")
assert probe["features"]["tools"] is False, probe["details"]
assert any("Tools are ignored" in text for text in probe["advice"]), probe["advice"]
assert probe["features"]["logprobs"] and probe["prompt_tokens"]["with_tools"] == probe["prompt_tokens"]["without_tools"]
assert probe["features"]["stream"] and probe["features"]["stream_usage"], probe["details"]
assert '--extra-body' in probe["flags"], probe["flags"]

plain = load("plain.json")
assert plain["planned"] == 4 == sum(plain[name] for name in OUTCOMES) and plain["errored"] == 0, plain
for episode in lines("plain/episodes.jsonl"):
    assert (episode["outcome"], episode["stop"]) in (("truncated", "token_limit"), ("forfeited", "no_call")), episode["stop"]
    assert not episode["trainable"] and episode["untrainable_reason"] == "no_prompt_ids"
assert not plain["truncated"] or any(w["kind"] == "truncated" for w in plain["warnings"])

played = replies = 0
repairs = collections.Counter()
for effort, result in load("played.json").items():
    assert result["planned"] == 10 == sum(result[name] for name in OUTCOMES) and result["errored"] == 0, result
    tokens = {line["id"]: line["turns"] for line in lines(f"played/{effort}/tokens.jsonl")}
    for episode in lines(f"played/{effort}/episodes.jsonl"):
        assert episode["policy"]["reasoning_effort"] == effort and episode["constrained"] is True
        assert not episode["trainable"] and episode["untrainable_reason"]
        for turn, sampled in zip(episode["turns"], tokens[episode["id"]], strict=True):
            assert len(sampled["ids"]) == len(sampled["logprobs"]) == turn["usage"]["completion"], turn
            repairs.update(kind for call in turn["calls"] for kind in call["repairs"])
            replies += 1
        played += episode["outcome"] in ("solved", "lost") and episode["moves"] == len(
            [c for t in episode["turns"] for c in t["calls"] if c["status"] == "valid"])
assert played >= 20, f"only {played} episodes were really played"
assert repairs["text_object"] + repairs["text_fence"] > 0, repairs
print(f"ok: {played} episodes played at 2 efforts in {replies} replies; repairs {dict(repairs)}; as it is: "
      f"{plain['truncated']} truncated, {plain['forfeited']} forfeited")
