#!/bin/sh
# A good plan has nothing that would fail; a plan with faults planted in every part has each of them told at once.
set -eu
cd "$(dirname "$0")/../.."
gg=build/test/guessgym
iam=examples/deploy/iam
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

$gg rollout --effort low --limit 16 -q -o "$work/base" >/dev/null
$gg preflight --config examples/deploy/job.json --baseline "$work/base" --trust $iam/job-trust.json \
    --permissions $iam/job-permissions.json --agent-permissions $iam/agent-permissions.json >"$work/good"
grep -q '^0 would fail' "$work/good" || { cat "$work/good"; exit 1; }
echo "ok: the plan of examples/deploy holds"

head -n 64 wordlists/splits/train.jsonl >"$work/rows.jsonl"
head -n 3 wordlists/splits/train.jsonl >"$work/val.jsonl"
sed -n 5,6p wordlists/splits/train.jsonl >"$work/held.jsonl"
sed 's/job.sagemaker/sagemaker/' $iam/job-trust.json >"$work/trust.json"
sed 's/"s3:PutObject", *//; /"s3:PutObject",/d' $iam/job-permissions.json >"$work/permissions.json"
sed '/UpdateReward/d; s/"sagemaker:CompleteRollout",/"sagemaker:CompleteRollout"/' $iam/agent-permissions.json >"$work/agent.json"
cat >"$work/plan.json" <<'JSON'
{
  "region": "eu-west-1", "job_name": "-job", "base_model": "openai-reasoning-gpt-oss-20",
  "agent": "arn:aws:lambda:us-east-1:123456789012:function:guessgym-forwarder",
  "role": "arn:aws:iam::12345:role/x",
  "s3_output": "https://bucket/runs",
  "package_group": "arn:aws:sagemaker:us-west-2:123456789012:model-package-group/a",
  "checkpoint_group": "arn:aws:sagemaker:us-west-2:123456789012:model-package-group/a",
  "start": "arn:aws:sagemaker:us-west-2:123456789012:model-package/a/0",
  "batch": 132, "group_size": 64, "steps": 2000, "max_tokens": 256, "concurrency": 8, "learning_rate": 0.01
}
JSON
code=0
$gg preflight --config "$work/plan.json" --baseline "$work/base" --max-cost 1 --tasks "$work/rows.jsonl" --val "$work/val.jsonl" \
    --held-out "$work/held.jsonl" --hyper lora_rank=128 --hyper rollout_timeout=10 --hyper max_turns=6 --json \
    --trust "$work/trust.json" --permissions "$work/permissions.json" --agent-permissions "$work/agent.json" >"$work/bad" || code=$?
[ $code -eq 2 ] || { echo "not ok: exit code $code"; cat "$work/bad"; exit 1; }
python3 - "$work/bad" <<'PY'
import json, sys
found = json.load(open(sys.argv[1]))
fails = [f for f in found["findings"] if f["severity"] == "fail"]
planted = {  # check: a part of its sentence; several of one check are told apart by it
    "job-name": ["-job"], "role": ["12345"], "output": ["https://bucket/runs"], "mlflow": ["not told"],
    "checkpoint-group": ["one package group"], "start": ["model-package/a/0"], "model": ["did you mean openai-reasoning-gpt-oss-20b"],
    "region": ["the agent is in us-east-1", "the model package group is in us-west-2"],
    "batch": ["132"], "group_size": ["64"], "steps": ["2000"], "max_tokens": ["256"], "concurrency": ["8"],
    "hyper": ["lora_rank", "rollout_timeout", "max_turns"], "rows": ["64 rows"],
    "leak-validation": ["line 1 "], "leak-held-out": ["line 5 "], "cost": ["--max-cost"],
    "trust": ["trusts sagemaker.amazonaws.com"], "permissions": ["s3:PutObject"], "agent-permissions": ["sagemaker:UpdateReward"],
}
names = {"batch": "global_batch_size", "steps": "max_steps", "max_tokens": "sampling_max_tokens", "concurrency": "rollout_max_concurrency"}
count = 0
for check, parts in planted.items():
    for part in parts:
        name = names.get(check, check)
        assert any((f["check"] == check or name in f["text"]) and part in f["text"] for f in fails), (check, part, fails)
        count += 1
assert count >= 15
print(f"ok: {count} planted faults, each told; {len(fails)} findings in all")
PY
