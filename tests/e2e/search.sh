#!/bin/sh
# The search game from a corpus to figures: index, conformance, the three baselines, caps, rewards, and what is said of
# indexes and settings that cannot be used.
. "$(dirname "$0")/inc/common.sh"
python3 tests/e2e/search_corpus.py "$T/set" || fail 'search_corpus.py'
expect 0 "$G" index --corpus "$T/set" -o "$T/index"
prints '/index  180 documents'
play() {
    name=$1
    shift
    expect 0 "$G" eval --env search --env-set "index=$T/index" -e "builtin:$name" -q --json "$@"
}

expect 0 "$G" env-check search --env-set "index=$T/index"
prints 'all 23 rules are kept'

for name in bm25 vector hybrid; do
    play $name -o "$T/$name"
    json "d['planned'] == 24 == d['solved'] + d['lost'] and d['measure']['name'] == 'nDCG@10' and d['failure_rate'] == 0 and \
d['measure']['low'] <= d['measure']['mean'] <= d['measure']['high'] and d['mean_moves'] == (2 if '$name' == 'hybrid' else 1) and \
0.3 < d['measure']['mean'] < 1 and d['list']['name'].endswith('/index/test.jsonl')"
done
python3 tests/e2e/search_check.py "$T" "$T/set/qrels/test.tsv" bm25 vector hybrid || fail 'search_check.py'
expect 0 "$G" compare "$T/bm25" "$T/hybrid" --by measure --json
json "d['pairs'] == 24"
expect 0 "$G" rescore "$T/bm25" --reward 'ndcg=2,by_words=-0.5' --json
json "d['plays'] == 24 and abs(d['rewards'][0]['mean'] - 1.40529) < 1e-5" # 2 x 0.952647 - 0.5
expect 0 "$G" report "$T/bm25" -o "$T/report.html"
grep -q 'nDCG@10' "$T/report.html" || fail 'the report does not name the measure'

# The cap on replies: every search ends without a ranking, which costs 1.
play bm25 --env-set turns=1 -o "$T/capped"
json "d['forfeited'] == 24 and d['failure_rate'] == 1 and d['measure']['mean'] == 0 and d['reward_mean'] == -1"
play hybrid --env-set calls=2 -o "$T/calls"
json "d['forfeited'] == 24 and d['reward_mean'] == -1"
play bm25 --env-set solved_at=0.99
json "d['solved'] < 24 and d['failure_rate'] == 0"
play bm25 --max-tokens 20
json "d['failure_rate'] == 1 and d['reward_mean'] == -1"

# The same figures with one in flight and with many.
play hybrid -o "$T/one" --concurrency 1
play hybrid -o "$T/many" --concurrency 64
for run in one many; do
    python3 -c 'import json,sys
for e in sorted((json.loads(l) for l in open(sys.argv[1])), key=lambda e: e["id"]):
    print(e["id"], e["measure"], [[c["result"] for c in t["calls"]] for t in e["turns"]])' "$T/$run/episodes.jsonl" >"$T/$run.txt"
done
cmp "$T/one.txt" "$T/many.txt" || fail 'the figures hang on how many are in flight'

# What cannot be used is told in a sentence.
bad() {
    text=$1
    shift
    expect 2 "$G" eval --env search -e builtin:bm25 "$@"
    says "$text"
}
bad 'needs an index'
bad 'there is no index at' --env-set index="$T/none"
bad 'there is no index at' --env-set index="$T/set"
bad 'k must be a whole number from 1 to 20' --env-set "index=$T/index" --env-set k=21
bad 'solved_at must be a number' --env-set "index=$T/index" --env-set solved_at=much
bad 'a question is a JSON object' --env-set "index=$T/index" --tasks wordlists/answers.txt
# break FILE COMMAND...: an index whose file went through the command, and what eval says of it
broken() {
    rm -rf "$T/broken"
    cp -r "$T/index" "$T/broken"
    file=$1 text=$2
    shift 2
    "$@" <"$T/index/$file" >"$T/broken/$file"
    "$G" eval --env search -e builtin:bm25 --env-set "index=$T/broken" -q >"$T/out" 2>"$T/err"
    code=$?
    [ $code -ne 0 ] && [ $code -lt 5 ] || fail "$file broken: exit code $code"
    says "$text"
}
broken index.json 'not valid JSON' head -c 40
broken index.json 'build the index again' sed 's/hashing/other/'
broken index.json 'guessgym index' sed 's/true/false/'
broken vectors.bin 'does not hold 180 rows' head -c 5000
broken features.bin 'not a feature file' head -c 5000
broken documents.db 'documents.db' head -c 5000
broken documents.db 'documents.db' tr 'a-z' 'b-za'
echo ok
