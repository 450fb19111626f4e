#!/bin/sh
# Every output on docs/tutorial.md is what its commands print.
set -eu
cd "$(dirname "$0")/../.."
python3 tests/tutorial.py docs/tutorial.md
