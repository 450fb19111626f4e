#!/bin/sh
# examples/demo-search.sh in small: every step runs, and its table holds the runs' own figures.
. "$(dirname "$0")/inc/common.sh"
if [ ! -f /usr/share/dictd/foldoc.index ]; then
    echo 'SKIP: the package dict-foldoc is not installed'
    exit 0
fi
expect 0 python3 examples/search/foldoc.py "$T/set" --articles 3000 --train 120 --val 12 --test 40
export GUESSGYM="$G" SET="$T/set" OUT="$T/demo" STEPS=1 SAMPLES=1
expect 0 sh examples/demo-search.sh
prints 'builtin:hybrid'
python3 - "$T" <<'PY' || fail 'the table'
import collections, json, sys
top = sys.argv[1]
shown = {l.split()[0]: l.split()[1:] for l in open(top + "/out") if l.startswith(("untrained ", "trained ", "builtin:")) and " % " in l and "less" not in l}
kinds = {json.loads(l)["_id"]: json.loads(l)["metadata"]["kind"] for l in open(top + "/set/queries.jsonl")}
names = {"untrained": "before-all", "trained": "after-all", "builtin:bm25": "bm25", "builtin:vector": "vector", "builtin:hybrid": "hybrid"}
assert shown.keys() == names.keys(), shown
for label, name in names.items():
    parts = collections.defaultdict(list)
    # The trained player's kinds are runs of their own: a play's seed is of its place in the list.
    runs = ["after-all", "after-single", "after-two"] if label == "trained" else [name]
    for run in runs:
        for line in open(f"{top}/demo/{run}/episodes.jsonl"):
            play = json.loads(line)
            kind = kinds[play["task"]["id"]]
            for part in [kind] if run in ("after-single", "after-two") else ["all"] if label == "trained" else ["all", kind]:
                parts[part].append(play["measure"]["value"])
    means = [f"{sum(parts[p]) / len(parts[p]):.3f}" for p in ("all", "single", "two")]
    assert len(parts["all"]) == 40 == len(parts["single"]) + len(parts["two"])
    assert means == shown[label][:3], (label, means, shown[label])
PY
rows=$(grep -cE '(better|worse|cannot tell)$' "$T/out")
[ "$rows" -eq 12 ] || fail "$rows verdicts, not 4 players x 3 parts"

# A folder of somebody else stays.
mkdir "$T/mine"
OUT="$T/mine" expect 2 sh examples/demo-search.sh
says 'was not made by the demo'
echo ok
