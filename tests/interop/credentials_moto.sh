#!/bin/sh
# Credentials from moto's instance metadata and its security token service, in the agent's bearer token.
set -eu
cd "$(dirname "$0")/../.."
. tests/lib/venv.sh
need_python moto 'boto3>=1.44.8' 'moto[server,s3]'
"$python" tests/interop/credentials_moto.py build/test/guessgym
