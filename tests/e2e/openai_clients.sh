#!/bin/sh
# The official openai clients (Python and Node) talk to `serve policy`: whole and streamed replies, tools, effort,
# logprobs, usage, models, errors.
set -eu
cd "$(dirname "$0")/../.."
. tests/lib/venv.sh
. tests/lib/serve.sh
need_python openai openai
serve build/test/guessgym serve policy --policy letters --listen 127.0.0.1:0
trap 'kill $server' EXIT
"$python" tests/e2e/openai_client.py "$url"

node=build/node-openai
if ! command -v npm >/dev/null; then
    echo "SKIP: no npm here; the Node client was not tried (the Python client passed)"
    exit 0
fi
if [ ! -f $node/.ready ]; then
    mkdir -p $node
    if ! npm install --silent --no-fund --no-audit --prefix $node openai >$node.log 2>&1; then
        echo "SKIP: cannot install openai for Node: $(tail -n 1 $node.log); the Python client passed"
        exit 0
    fi
    touch $node/.ready
fi
cp tests/e2e/openai_client.mjs $node/
node $node/openai_client.mjs "$url"
