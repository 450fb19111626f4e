#!/bin/sh
# The agent's server against a small stand-in of the managed runtime, in the request shapes that the service uses.
set -eu
cd "$(dirname "$0")/../.."
python3 tests/e2e/agent_server.py build/test/guessgym
