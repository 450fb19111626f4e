#!/bin/sh
# The SageMaker SDK's training-session client runs one step on the local service. Large: about a gigabyte of packages.
set -eu
cd "$(dirname "$0")/../.."
. tests/lib/venv.sh
. tests/lib/serve.sh
need_python sagemaker 'sagemaker-train>=1.27'
state=$(mktemp -d)
serve build/test/guessgym serve service --listen 127.0.0.1:0 --state "$state"
trap 'kill $server; rm -rf "$state"' EXIT
"$python" tests/interop/sdk_session.py "$url"
