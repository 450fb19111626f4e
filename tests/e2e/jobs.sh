#!/bin/sh
# Jobs on the local service, driven by the real AWS client and played by our agent in another process.
set -eu
cd "$(dirname "$0")/../.."
. tests/lib/venv.sh
. tests/e2e/inc/jobs.sh
need_python boto3 'boto3>=1.44.8'
state=$(mktemp -d)
trap 'stop_jobs; rm -rf "$state"' EXIT
data=$state/s3/data
mkdir -p "$data/eval"
head -n 64 wordlists/splits/train.jsonl >"$data/train.jsonl"
"$python" - "$data" <<'END'
import csv, json, sys
rows = [json.loads(line)["prompt"] for line in open("wordlists/splits/val.jsonl", encoding="utf-8")]
with open(sys.argv[1] + "/val.csv", "w", newline="", encoding="utf-8") as file:
    csv.writer(file).writerows([["id", "prompt"]] + [[i, row] for i, row in enumerate(rows[:8])])
with open(sys.argv[1] + "/eval/a.json", "w", encoding="utf-8") as file:
    json.dump([{"prompt": row} for row in rows[:16]], file)
END
printf '{"prompt":"a"}\n{"prompt":""}\n' >"$data/empty.jsonl"
printf '{"prompt":"\377"}\n' >"$data/utf8.jsonl"
printf 'PAR1' >"$data/rows.parquet"

env -u AWS_ACCESS_KEY_ID -u AWS_SECRET_ACCESS_KEY "$G" train --quiet --tasks "$data/train.jsonl" --batch 32 \
    --group-size 2 --steps 4 --effort low -o "$state/session" >/dev/null
start_jobs "$state"
"$python" tests/e2e/boto3_jobs.py "$url" "$state" "$state/session/adapter.json"
