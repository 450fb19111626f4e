#!/bin/sh
# guessgym index: the data set from FOLDOC, byte for byte, and what the command says.
. "$(dirname "$0")/inc/common.sh"
if [ ! -f /usr/share/dictd/foldoc.index ]; then
    echo 'SKIP: the package dict-foldoc is not installed'
    exit 0
fi
# Twice with other hash seeds: nothing may hang on the order of a Python set.
for n in 1 2; do
    PYTHONHASHSEED=$n python3 examples/search/foldoc.py "$T/set$n" --articles 3000 --train 120 --val 12 --test 40 >"$T/out" ||
        fail 'foldoc.py'
done
diff -r "$T/set1" "$T/set2" || fail 'two runs of foldoc.py differ'

expect 0 "$G" index --corpus "$T/set1" -o "$T/index" --json
json "d['documents'] == 3000 and d['kept'] == 0 and {t['file'].split('/')[-1]: t['tasks'] for t in d['tasks']} == \
{'train.jsonl': 120, 'val.jsonl': 12, 'test.jsonl': 40} and all(t['missing'] == t['hopeless'] == 0 for t in d['tasks'])"
python3 - "$T/index" <<'PY' || fail 'an article is judged in two splits'
import json, sys
owner = {}
for split in ("train", "val", "test"):
    for line in open(f"{sys.argv[1]}/{split}.jsonl"):
        row = json.loads(json.loads(line)["prompt"])
        for judged in row["answer"]:
            assert owner.setdefault(judged["id"], split) == split, judged
        assert row["kind"] in ("single", "two") and max(j["grade"] for j in row["answer"]) == 2
PY
expect 0 "$G" index --corpus "$T/set1/corpus.jsonl" -o "$T/index"
says 'is there already'
head -n 100 "$T/set1/corpus.jsonl" >"$T/part1.jsonl"
tail -n +101 "$T/set1/corpus.jsonl" >"$T/part2.jsonl"
expect 2 "$G" index --corpus "$T/part1.jsonl" -o "$T/index"
says 'another corpus'
printf '1\twhat?\n' >"$T/topics.tsv"
printf '1 0 d00003 1\n1 0 gone 1\n' >"$T/trec.txt"
expect 0 "$G" index --corpus "$T/part1.jsonl" "$T/part2.jsonl" --queries "$T/topics.tsv" --qrels "$T/trec.txt" -o "$T/own"
prints 'trec.jsonl  1 tasks, 2 judgments'
says '1 judged documents are not in the corpus'
cmp "$T/own/vectors.bin" "$T/index/vectors.bin" || fail 'the same documents in two files give other vectors'
expect 2 "$G" index --corpus "$T/part1.jsonl" --queries "$T/topics.tsv" -o "$T/other"
says '--queries and --qrels go together'
expect 2 "$G" index --corpus "$T/none.jsonl" -o "$T/other"
says 'cannot read'
expect 2 "$G" index -o "$T/other"

# Killed on the way, it goes on.
"$G" index --corpus "$T/set1" -o "$T/killed" >/dev/null 2>&1 &
pid=$!
while [ ! -s "$T/killed/documents.db" ] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
sleep 0.3
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
expect 0 "$G" index --corpus "$T/set1" -o "$T/killed"
cmp "$T/killed/vectors.bin" "$T/index/vectors.bin" || fail 'a killed index ends with other vectors'
echo ok
