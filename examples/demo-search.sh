#!/bin/sh
# The search game in one go: a data set from dict-foldoc, its index, three baselines, and a player before and after its
# training, on 300 questions that no step of it saw.
#
#   sh examples/demo-search.sh
#
# SEED (1), SAMPLES plays a question (2), STEPS (100) and OUT (runs/demo-search) can be set; SET=DIR takes a collection
# of one's own in BEIR's layout. OUT is made anew.
set -eu
cd "$(dirname "$0")/.."
gg=${GUESSGYM:-build/guessgym}
seed=${SEED:-1} samples=${SAMPLES:-2} steps=${STEPS:-100} out=${OUT:-runs/demo-search} set=${SET:-}
begun=$(date +%s)
say() { printf '\n%s\n' "$*"; }

if [ -e "$out" ] && [ ! -f "$out/made-by-demo" ]; then
    echo "demo-search: $out is there and was not made by the demo; set OUT to another folder" >&2
    exit 2
fi
rm -rf "$out"
mkdir -p "$out/tasks"
touch "$out/made-by-demo"

cat <<TEXT
The player is "seeker": 43 numbers that choose a tool, the words of a query and what to submit, not a
language model. It speaks the same wire API as one, and is trained by the same submission.
TEXT

say "1. The collection and its index"
if [ -z "$set" ]; then
    set=$out/foldoc
    python3 examples/search/foldoc.py "$set"
fi
index=$out/index
$gg index --corpus "$set" -o "$index"

# measure NAME TASKS OPTION...: plays the tasks, leaves the run in OUT/NAME and its figures in OUT/NAME.json
measure() {
    name=$1 tasks=$2
    shift 2
    $gg eval --env search --env-set "index=$index" --tasks "$tasks" --samples "$samples" --seed "$seed" \
        -o "$out/$name" --json "$@" >"$out/$name.json"
}
cp "$index/test.jsonl" "$out/tasks/all.jsonl"
kinds=$(python3 - "$out/tasks" <<'PY'
import collections, json, os, sys
kinds = collections.defaultdict(list)
for line in open(sys.argv[1] + "/all.jsonl", encoding="utf-8"):
    kinds[json.loads(json.loads(line)["prompt"]).get("kind", "")].append(line)
known = [k for k in sorted(kinds) if k.isidentifier() and k != "all"]
for kind in known:
    with open(os.path.join(sys.argv[1], kind + ".jsonl"), "w", encoding="utf-8") as out:
        out.writelines(kinds[kind])
print(*known)
PY
)

say "2. Baselines: one search with the whole question"
for name in bm25 vector hybrid; do
    measure $name "$out/tasks/all.jsonl" -e "builtin:$name"
done

say "3. Before training"
for part in all $kinds; do
    measure "before-$part" "$out/tasks/$part.jsonl" -e builtin:seeker --effort low
done

say "4. Training: $steps steps of 32 questions x 8 plays"
$gg train --env search --env-set "index=$index" --effort low --steps "$steps" --batch 32 --group-size 8 \
    --learning-rate 0.01 --seed "$seed" -o "$out/train"

say "5. After training: the same questions again"
for part in all $kinds; do
    measure "after-$part" "$out/tasks/$part.jsonl" -e builtin:seeker --effort low --adapter "$out/train/adapter.json"
done

# A part's tasks are the ones that both runs have.
for other in before-all bm25 vector hybrid; do
    for part in all $kinds; do
        $gg compare "$out/$other" "$out/after-$part" --by measure --common --json >"$out/$other.$part.json"
    done
done
say "6. What it says on questions that it never saw"
# shellcheck disable=SC2086 # several kinds
python3 examples/search/table.py "$out" all $kinds
say "Done in $(($(date +%s) - begun)) s. The runs are in $out; look closer with, for example:
  guessgym compare $out/bm25 $out/after-all --by measure
  guessgym view $out/after-all"
