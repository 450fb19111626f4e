#!/bin/sh
# Our nDCG beside trec_eval's own code, on random runs.
set -eu
cd "$(dirname "$0")/../.."
. tests/lib/venv.sh
need_python trec 'pytrec-eval-terrier>=0.5.6'
"$python" tests/e2e/ndcg.py build/test/tests/test_ndcg
