#!/bin/sh
# Somebody else's scripted endpoint, @dwmkerr/mock-llm from the npm registry: a player, one that never calls, a key that is wrong.
set -eu
cd "$(dirname "$0")/../.."
node=build/node-mock-llm
if ! command -v npm >/dev/null; then
    echo 'SKIP: no npm here'
    exit 0
fi
if [ ! -f $node/.ready ]; then
    mkdir -p $node
    if ! npm install --silent --no-fund --no-audit --ignore-scripts --prefix $node @dwmkerr/mock-llm@0.1 >$node.log 2>&1; then
        echo "SKIP: cannot install @dwmkerr/mock-llm: $(tail -n 1 $node.log)"
        exit 0
    fi
    touch $node/.ready
fi
G=build/guessgym
dir=$(mktemp -d)
export GUESSGYM_DATA="$PWD"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
HOST=127.0.0.1 PORT=$port node $node/node_modules/@dwmkerr/mock-llm/dist/main.js --config tests/interop/mock_llm.yaml >"$dir/log" 2>&1 &
server=$!
trap 'kill $server; rm -rf "$dir"' EXIT
url=http://127.0.0.1:$port
for _ in $(seq 100); do
    curl -sf "$url/v1/models" >/dev/null && break
    sleep 0.1
done
printf 'crane\nslate\nmoist\n' >"$dir/list"
eval_as() { "$G" eval --endpoint "$url/v1" --tasks "$dir/list" -m "$1" -o "$dir/$1" --json >"$dir/$1.json"; }

eval_as player
eval_as echo
code=0
eval_as locked 2>"$dir/locked.err" || code=$?
[ $code -eq 3 ] && grep -q 'Incorrect API key' "$dir/locked.err"
"$G" probe --endpoint "$url" -m player --json >"$dir/probe.json"
python3 - "$dir" "$url" <<'PY'
import json
import sys

folder, url = sys.argv[1:]
player, echo, probe = (json.load(open(f"{folder}/{name}.json")) for name in ("player", "echo", "probe"))
assert player["solved"] == 1 and player["lost"] == 2, player
assert player["repairs"] == {"id_repeated": 10}, player["repairs"]
assert {w["kind"] for w in player["warnings"]} == {"repairs", "usage_missing"}, player["warnings"]
assert echo["forfeited"] == 3 and echo["repairs"] == {}, echo
assert probe["endpoint"] == url + "/v1" and probe["address_fault"] == "/v1 is missing at its end", probe
assert probe["features"]["usage"] is False and probe["features"]["structured_calls"], probe["features"]
print("ok: 1 solved, 2 lost, 10 ids mended; an echo forfeits; a wrong key stops the run; a wrong address is mended")
PY
