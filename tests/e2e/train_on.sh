#!/bin/sh
# One flag changes where a training runs: here, in a managed session, as a managed job. The adapter is the same.
set -eu
cd "$(dirname "$0")/../.."
. tests/lib/serve.sh
gg=build/test/guessgym
work=$(mktemp -d)
export AWS_ACCESS_KEY_ID=AKIDEXAMPLE AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY AWS_REGION=us-west-2
set -- --steps 3 --batch 32 --group-size 4 --effort low --quiet
serve $gg serve agent --listen 127.0.0.1:0 --effort low --allow-endpoint 127.0.0.1
agent=$server
serve $gg serve service --listen 127.0.0.1:0 --agent "$url" --rollout-tps 0 --state "$work/state"
service=$server
trap 'kill $service $agent 2>/dev/null; wait; rm -rf "$work"' EXIT
there="--service-url $url --s3-root $work/state/s3"

$gg train "$@" -o "$work/local" >/dev/null
# shellcheck disable=SC2086 # several words
$gg train "$@" --on session $there -o "$work/session" >/dev/null
# shellcheck disable=SC2086
$gg train "$@" --on job $there --json -o "$work/job" >"$work/job.out"
for where in session job; do
    cmp "$work/local/adapter.json" "$work/$where/adapter.json"
done
python3 - "$work/job.out" <<'END'
import json, sys
job = json.load(open(sys.argv[1]))
assert job["status"] == "Completed" and job["step"] == job["steps"] == 3, job
assert job["rollouts_completed"] == job["rollouts_total"] == 3 * 32 * 4, job
assert job["model_package"].startswith("arn:aws:sagemaker:us-west-2:123456789012:model-package/guessgym/"), job
assert min(job["prefill_tokens"], job["sample_tokens"], job["train_tokens"]) > 0 and job["cost"] > 0, job
END
echo "ok: local, session and job leave the same adapter"

# A follower that is killed loses nothing: --resume finds the job by its note.
# shellcheck disable=SC2086
$gg train "$@" --on job $there -o "$work/killed" >/dev/null 2>&1 &
follower=$!
until [ -s "$work/killed/job.json" ]; do sleep 0.05; done
kill -9 $follower
wait $follower 2>/dev/null || :
# shellcheck disable=SC2086
$gg train "$@" --on job $there --resume -o "$work/killed" >/dev/null
cmp "$work/local/adapter.json" "$work/killed/adapter.json"
echo "ok: a job is found again after its follower was killed"

name=$(sed 's/.*"name":"\([^"]*\)".*/\1/' "$work/killed/job.json")
$gg job list --service-url "$url" | grep -q "Completed *$name"
$gg job describe "$name" --service-url "$url" --json | grep -q '"status":"Completed"'
echo "ok: job list and describe"

# shellcheck disable=SC2086
$gg train --steps 900 --batch 32 --group-size 4 --effort low --quiet --on job $there --job-name to-stop -o "$work/long" >/dev/null 2>&1 &
follower=$!
until $gg job describe to-stop --service-url "$url" 2>/dev/null | grep -q "^steps *[1-9]"; do sleep 0.1; done
$gg job stop to-stop --service-url "$url" --quiet | grep -q '^status *Stopped'
code=0
wait $follower || code=$?
[ $code -eq 3 ] || { echo "not ok: the follower of a stopped job ended with $code"; exit 1; }
echo "ok: job stop, and what its follower makes of it"

# expect CODE TEXT ARGUMENT...
expect() {
    wanted=$1 text=$2 code=0
    shift 2
    $gg train --steps 3 --effort low "$@" -o "$work/none" >"$work/out" 2>&1 || code=$?
    [ $code -eq "$wanted" ] && grep -q "$text" "$work/out" || { echo "not ok: $*: exit $code"; cat "$work/out"; exit 1; }
    rm -rf "$work/none"
}
# shellcheck disable=SC2086
expect 2 "must be one of 32, 64, 128" --on job $there --batch 132
expect 2 "is not told" --on job --batch 32
expect 2 "needs --base-model" --on session --batch 32
AWS_SECRET_ACCESS_KEY=another expect 3 "signature" --on session --service-url "$url" --batch 32
echo "ok: what is wrong is told before anything is created"
