#!/bin/sh
# A training job on the local service, played by the agent's server: the same adapter, byte for byte, as `train` leaves with
# the same data, settings and seed. Every token and signature is checked by the service.
set -eu
cd "$(dirname "$0")/../.."
. tests/lib/venv.sh
need_python boto3 'boto3>=1.44.8'
"$python" tests/e2e/agent_job.py build/test/guessgym
