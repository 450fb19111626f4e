#!/bin/sh
# An index with the vectors of a server: built, gone on with after a refusal, searched, and what is said when the server
# does not do its part.
. "$(dirname "$0")/inc/common.sh"
mkdir "$T/told"
python3 tests/e2e/embed_server.py "$T/told" >"$T/served" &
server=$!
trap 'kill $server 2>/dev/null; wait $server 2>/dev/null; rm -rf "$T"' EXIT
until [ -s "$T/served" ]; do sleep 0.05; done
read -r url <"$T/served"
python3 tests/e2e/search_corpus.py "$T/set" || fail 'search_corpus.py'
index() { "$G" index --corpus "$T/set" --embed-url "$1" --embed-model letters-20 -o "$2" -q; }

# Without the key, with a model that is not there, with half of the options.
expect 3 index "$url" "$T/index"
says 'wrong key'
export GUESSGYM_EMBED_API_KEY=sesame
expect 3 "$G" index --corpus "$T/set" --embed-url "$url" --embed-model other -o "$T/index"
says 'no such model'
expect 2 "$G" index --corpus "$T/set" --embed-url "$url" -o "$T/index"
says '--embed-url and --embed-model go together'
expect 2 index ftp://somewhere "$T/index"
says 'has to begin with http'
touch "$T/told/garbage"
expect 3 index "$url" "$T/index"
says 'does not answer with 1 embeddings'
rm "$T/told/garbage"

# What passes is tried again; a shorter vector on the way is not taken.
echo 2 >"$T/told/fail"
expect 0 index "$url" "$T/index"
prints '180 documents'
[ "$(grep -cE '^(64|52)$' "$T/served")" -eq 3 ] || fail 'not in requests of 64, 64 and 52 texts'
grep -q sesame "$T/index/index.json" && fail 'the key stands in the index'
expect 0 "$G" eval --env search --env-set "index=$T/index" -e builtin:vector -o "$T/run" -q --json
json "d['errored'] == 0 and d['planned'] == 24"
python3 tests/e2e/embed_check.py "$T/set/corpus.jsonl" "$T/index" "$T/run" || fail 'embed_check.py'
grep -q sesame "$T/run/run.json" "$T/run/episodes.jsonl" && fail 'the key stands in a record'

# Refused on the way, it goes on; asked again, it is there; from another address too.
cp -r "$T/index" "$T/torn"
sed 's/"finished":true/"finished":false/' "$T/index/index.json" >"$T/torn/index.json"
head -c $((64 * 128 + 50)) "$T/index/vectors.bin" >"$T/torn/vectors.bin"
touch "$T/told/refuse"
expect 3 index "$url" "$T/torn"
rm "$T/told/refuse"
before=$(wc -l <"$T/served")
expect 0 index "$url" "$T/torn"
[ $(($(wc -l <"$T/served") - before)) -eq 2 ] || fail 'what was there was asked for again'
cmp "$T/index/vectors.bin" "$T/torn/vectors.bin" || fail 'it went on wrongly'
before=$(wc -l <"$T/served")
expect 0 index "$url///" "$T/torn"
[ "$(wc -l <"$T/served")" -eq "$before" ] || fail 'a finished index was asked for again'
expect 0 index "http://127.0.0.1:9/v1" "$T/torn"
grep -q '127.0.0.1:9' "$T/torn/index.json" || fail 'the new address is not kept'
expect 2 "$G" index --corpus "$T/set" -o "$T/torn"
says 'other embeddings'
expect 2 "$G" index --corpus "$T/set" --embed-url "$url" --embed-model letters-20 --embed-bytes 1500 -o "$T/torn"
says 'other embeddings'

# A model that reads little gets as much of a text as it can read.
touch "$T/told/short"
expect 0 index "$url" "$T/short"
rm "$T/told/short"
python3 - "$T/set/corpus.jsonl" "$T/short/vectors.bin" <<'PY' || fail 'not the first half, quarter ... of the texts'
import json, math, struct, sys
for line, row in zip(open(sys.argv[1]), struct.iter_unpack("32f", open(sys.argv[2], "rb").read())):
    document = json.loads(line)
    text = document["title"] + "\n" + document["text"]
    while len(text) > 100:
        text = text[: len(text) // 2]
    counts = [text.lower().count(c) for c in "abcdefghijklmnopqrst"]
    length = math.sqrt(sum(c * c for c in counts))
    assert all(abs(a - c / length) < 1e-6 for a, c in zip(row, counts)), text
PY

# A server that is gone, or of another model now: the plays err, and nothing else.
expect 4 "$G" eval --env search --env-set "index=$T/torn" -e builtin:vector --limit 1 -q --json
json "d['errored'] == 1"
touch "$T/told/wrong"
expect 4 "$G" eval --env search --env-set "index=$T/index" -e builtin:vector --limit 2 -q --json
json "d['errored'] == 2"
expect 0 "$G" eval --env search --env-set "index=$T/index" -e builtin:bm25 --limit 2 -q --json
echo ok
