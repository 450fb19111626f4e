#!/bin/sh
# An agent of the Strands framework plays a training job of the local service.
set -eu
cd "$(dirname "$0")/../.."
. tests/lib/venv.sh
. tests/e2e/inc/jobs.sh
need_python strands 'boto3>=1.44.8' 'strands-agents[openai]>=1.62'
state=$(mktemp -d)
mkdir -p "$state/s3/data"
head -n 32 wordlists/splits/train.jsonl >"$state/s3/data/train.jsonl"
"$python" tests/interop/strands_agent.py >"$state/agent" 2>"$state/agent.err" &
agent=$!
trap 'stop_jobs; rm -rf "$state"' EXIT
for _ in $(seq 300); do
    [ -s "$state/agent" ] && break
    sleep 0.1
done
serve "$G" serve service --listen 127.0.0.1:0 --state "$state" --agent "$(cat "$state/agent")" --rollout-tps 0
"$python" - "$url" "$state" <<'END'
import json, sys
import boto3
import job_documents as jobs

url, state = sys.argv[1:]
sagemaker = boto3.client("sagemaker", endpoint_url=url, region_name=jobs.REGION)
settings = {"global_batch_size": 32, "group_size": 2, "max_steps": 1, "rollout_max_concurrency": 32, "learning_rate": 0.01}
jobs.create(sagemaker, "strands", jobs.training("s3://data/train.jsonl", None, "s3://out", settings))
done = jobs.follow(sagemaker, "strands", limit=300)
assert done["JobStatus"] == "Completed", done
assert jobs.service_output(done)["RolloutInfo"] == {"Total": 64, "Completed": 64}, done
with open(f"{state}/s3/out/strands/metrics.jsonl", encoding="utf-8") as file:
    line = json.loads(file.readline())
assert line["actor/weight_version"] == 1 and line["rollout/turns/max"] == 6, line
assert line["training/trainable_token_positions"] > 0 and line["actor/ppo_kl"] == 0, line
print("ok")
END
