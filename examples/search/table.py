#!/usr/bin/env python3
"""The table of demo-search.sh: table.py OUT all KIND..."""
import json
import sys

out, parts = sys.argv[1], sys.argv[2:]
PLAYERS = [("untrained", "before-all"), ("trained", "after-all"), ("builtin:bm25", "bm25"),
           ("builtin:vector", "vector"), ("builtin:hybrid", "hybrid")]


def read(name):
    with open(f"{out}/{name}.json", encoding="utf-8") as file:
        return json.load(file)


def pair(other, part):
    return read(f"{other}.{part}")


print(f"{'nDCG@10':<16}" + "".join(f"{part:>10}" for part in parts) + f"{'failures':>11}{'replies':>9}")
for label, name in PLAYERS:
    run = read(name)
    values = [pair("before-all", p)["after"] if name == "after-all" else pair(name, p)["before"] for p in parts]
    print(f"{label:<16}" + "".join(f"{v:>10.3f}" for v in values)
          + f"{100 * run['failure_rate']:>9.1f} %{run['mean_turns']:>9.1f}")

print(f"\n{'trained less':<16}{'on':<8}{'questions':>10}{'difference (95 %)':>28}   verdict")
for label, name in PLAYERS:
    if name == "after-all":
        continue
    for part in parts:
        c = pair(name, part)
        print(f"{label if part == parts[0] else '':<16}{part:<8}{c['pairs']:>10}   {c['difference']:>+.3f} "
              f"({c['difference_low']:>+.3f} to {c['difference_high']:>+.3f})   {c['verdict']}")
