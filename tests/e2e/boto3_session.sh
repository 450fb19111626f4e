#!/bin/sh
# The real AWS client runs a training session on the local service.
set -eu
cd "$(dirname "$0")/../.."
. tests/lib/venv.sh
. tests/lib/serve.sh
need_python boto3 'boto3>=1.44.8'
state=$(mktemp -d)
serve build/test/guessgym serve service --listen 127.0.0.1:0 --state "$state"
trap 'kill $server; wait $server || :; rm -rf "$state"' EXIT
"$python" tests/e2e/boto3_session.py "$url" "$state"
