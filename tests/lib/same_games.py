"""Whether two run folders hold the same episodes and tokens, but for times and attempts.

usage: same_games.py CLEAN OTHER SHARE (at least this share of OTHER's requests had to be repeated)
"""
import json
import sys


def games(folder):
    played, retried, requests = {}, 0, 0
    with open(folder + "/episodes.jsonl", encoding="utf-8") as lines:
        for line in lines:
            game = json.loads(line)
            for key in ("started", "duration_ms"):
                del game[key]
            del game["policy"]["endpoint"]
            for turn in game["turns"]:
                requests += 1
                retried += len(turn.pop("attempts")) > 1
                del turn["latency_ms"]
            assert game["id"] not in played, "twice: " + game["id"]
            played[game["id"]] = game
    with open(folder + "/tokens.jsonl", encoding="utf-8") as lines:
        for line in lines:
            tokens = json.loads(line)
            played[tokens["id"]]["tokens"] = tokens["turns"]
    return played, retried / requests


clean, none = games(sys.argv[1])
other, share = games(sys.argv[2])
assert none == 0 and share >= float(sys.argv[3]), (none, share)
assert clean.keys() == other.keys()
for name, game in clean.items():
    assert game == other[name], (name, game, other[name])
print(f"{len(clean)} games are the same; {share:.1%} of the requests had to be repeated")
