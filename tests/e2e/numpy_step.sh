#!/bin/sh
# Whole training steps, datums in and weights out, against an independent numpy script.
set -eu
cd "$(dirname "$0")/../.."
. tests/lib/venv.sh
. tests/lib/serve.sh
need_python numpy numpy
state=$(mktemp -d)
serve build/test/guessgym serve service --listen 127.0.0.1:0 --state "$state"
trap 'kill $server; wait $server || :; rm -rf "$state"' EXIT
"$python" tests/e2e/numpy_step.py "$url" "$state"
