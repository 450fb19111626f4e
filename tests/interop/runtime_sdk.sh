#!/bin/sh
# The SageMaker SDK's token generator, request models and header helper against our agent. Large: about a gigabyte of
# packages.
set -eu
cd "$(dirname "$0")/../.."
. tests/lib/venv.sh
need_python sagemaker 'sagemaker-train>=1.27'
"$python" tests/interop/runtime_sdk.py build/test/guessgym
