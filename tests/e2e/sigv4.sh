#!/bin/sh
# Our signatures against botocore's, on random requests.
set -eu
cd "$(dirname "$0")/../.."
. tests/lib/venv.sh
need_python boto3 'boto3>=1.44.8'
cases=$(mktemp)
trap 'rm -f "$cases"' EXIT
seed=$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')
echo "seed $seed"
"$python" tests/e2e/sigv4_cases.py "$seed" >"$cases"
build/test/tests/test_sigv4 "$cases" 2>&1
