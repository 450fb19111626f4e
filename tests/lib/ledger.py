"""Recounts a run's ledger and repairs from its episodes, and compares them with what the command printed.

usage: ledger.py FOLDER PRINTED.json
"""
import collections
import json
import sys

outcomes, repairs = collections.Counter(), collections.Counter()
with open(sys.argv[1] + "/episodes.jsonl", encoding="utf-8") as lines:
    for line in lines:
        game = json.loads(line)
        outcomes[game["outcome"]] += 1
        for turn in game["turns"]:
            for call in turn["calls"]:
                repairs.update(call["repairs"])
with open(sys.argv[2], encoding="utf-8") as file:
    printed = json.load(file)
KINDS = ("solved", "lost", "forfeited", "truncated", "errored")
for kind in KINDS:
    assert printed[kind] == outcomes[kind], (kind, printed, outcomes)
    assert outcomes[kind] > 0 or kind == "errored", kind
assert printed["planned"] == sum(outcomes.values()) and outcomes["errored"] == 0, outcomes
assert printed["repairs"] == dict(repairs), (printed["repairs"], repairs)
EXPECTED = """name_space name_marker name_prefix args_empty args_object args_twice args_glued id_made id_repeated legacy
thoughts_in_text text_tag text_function text_fence text_python text_pythonic text_bracket text_harmony text_section
text_object args_broken name_unknown cut""".split()
for kind in EXPECTED:
    assert repairs[kind] > 0, kind
print(f"{sum(repairs.values())} repairs of {len(repairs)} kinds in {printed['planned']} games")
