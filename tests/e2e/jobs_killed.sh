#!/bin/sh
# kill -9 of the service while a job runs: KILLS times (4).
set -eu
cd "$(dirname "$0")/../.."
. tests/lib/venv.sh
. tests/e2e/inc/jobs.sh
need_python boto3 'boto3>=1.44.8'
state=$(mktemp -d)
mkdir -p "$state/s3/data"
head -n 64 wordlists/splits/train.jsonl >"$state/s3/data/train.jsonl"
# shellcheck disable=SC2119 # no options
start_agent
trap 'kill $agent 2>/dev/null; wait $agent || :; rm -rf "$state"' EXIT
"$python" tests/e2e/jobs_killed.py "$G" "$agent_url" "$state" "${KILLS:-4}"
