#!/bin/sh
# Data, packages and metrics of jobs at an S3 endpoint (moto), written and read with boto3.
set -eu
cd "$(dirname "$0")/../.."
. tests/lib/venv.sh
. tests/e2e/inc/jobs.sh
need_python moto 'boto3>=1.44.8' 'moto[server,s3]'
state=$(mktemp -d)
"$python" tests/interop/moto_server.py >"$state/moto" 2>"$state/moto.err" &
moto=$!
trap 'kill $moto; stop_jobs; rm -rf "$state"' EXIT
for _ in $(seq 200); do
    grep -q "^http" "$state/moto" && break
    sleep 0.1
done
start_jobs "$state/service" --s3-endpoint "$(grep "^http" "$state/moto")"
"$python" tests/interop/jobs_boto3.py "$url" "$(grep "^http" "$state/moto")"
