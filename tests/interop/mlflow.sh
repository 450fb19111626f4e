#!/bin/sh
# A real MLflow server: an eval, a rollout and a training are logged and read back through MLflow's own API; a server
# that dies costs one warning; a later push completes, and a repeated one adds nothing; hostile text stays text.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p build
. tests/lib/venv.sh
need_python mlflow 'mlflow>=3.6,<4'
root=$PWD
bin=$root/$(dirname "$python")
gg=$root/build/guessgym
work=$(mktemp -d)
server=''
trap 'stop; rm -rf "$work"' EXIT
unset MLFLOW_TRACKING_URI MLFLOW_TRACKING_TOKEN MLFLOW_TRACKING_USERNAME MLFLOW_EXPERIMENT_NAME GUESSGYM_MLFLOW
export MLFLOW_DISABLE_TELEMETRY=true DO_NOT_TRACK=true GIT_PYTHON_REFRESH=quiet
port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
url=http://127.0.0.1:$port
fail() { echo "not ok: $*"; tail -n 20 "$work/server.log"; exit 1; }

stop() {
    [ -n "$server" ] || return 0
    # The server's workers are its children, in the group that setsid made.
    kill -- "-$server" 2>/dev/null || :
    wait "$server" 2>/dev/null || :
    server=''
}
start() {
    start_once || start_once || fail 'the server does not start'
}
start_once() {
    stop
    (cd "$work" && exec setsid "$bin/mlflow" server --backend-store-uri "sqlite:///$work/mlflow.db" \
        --artifacts-destination "$work/artifacts" --host 127.0.0.1 --port "$port" --workers 1) >>"$work/server.log" 2>&1 &
    server=$!
    for _ in $(seq 240); do
        curl -sf "$url/health" >/dev/null && return 0
        kill -0 "$server" 2>/dev/null || break
        sleep 0.5
    done
    return 1
}
count() { grep -c "$@" || :; }

start
echo "ok: $("$bin/mlflow" --version) serves"
cd "$work"
$gg eval --limit 12 -n 2 --effort low -q -o eval --json --mlflow "$url" --mlflow-experiment words >eval.json 2>eval.err
[ ! -s eval.err ] || fail "an eval that is logged says: $(cat eval.err)"
$gg rollout --limit 6 -g 4 -q -o rollout --json --mlflow "$url" --mlflow-experiment words --mlflow-traces 0.5 >rollout.json
MLFLOW_TRACKING_URI=$url MLFLOW_EXPERIMENT_NAME=words $gg train --steps 4 --batch 4 -g 4 --val-every 2 --keep all -q -o train
"$bin/python" "$root/tests/interop/mlflow_read.py" "$url" words eval rollout train

# Again: nothing is sent, nothing is doubled.
for run in eval rollout train; do
    $gg mlflow-push "$run" | grep -q 'sent 0 metrics, 0 traces, 0 files' || fail "a repeated push of $run sent something"
done
# What the folder knows of the server is lost while a run is made there: the run is found again by its key.
sed 's/"run_id":"[^"]*"/"run_id":""/; s/"config":true/"config":false/; s/"step":[0-9-]*/"step":-1/; s/"plays":[0-9]*/"plays":0/; s/"last":"[^"]*"/"last":""/' \
    train/mlflow.json >lost.json && mv lost.json train/mlflow.json
$gg mlflow-push train | grep -q 'traces' || fail 'a push of a run whose id was lost'
"$bin/python" "$root/tests/interop/mlflow_read.py" "$url" words eval rollout train
echo "ok: pushed again, nothing doubled"

# Hostile text, in a record that is pushed later and elsewhere.
mkdir hostile
cp eval/run.json eval/summary.json hostile/
"$bin/python" - <<'PY'
import json
plays = [json.loads(line) for line in open("eval/episodes.jsonl")]
evil = '<script>alert(1)</script> \u0000 \u2028 \ud800 "; DROP TABLE spans; -- {{7*7}} \u202e'
play = plays[0]
play["turns"][0]["reasoning"] = evil
play["turns"][0]["calls"][0]["result"] = evil
play["turns"][0]["calls"][0]["arguments_raw"] = '{"guess": "' + evil
play["labels"]["opening"] = evil
play["messages"][-1]["content"] = evil
with open("hostile/episodes.jsonl", "w") as out:
    for p in plays:
        out.write(json.dumps(p) + "\n")
PY
$gg mlflow-push hostile --mlflow "$url" --mlflow-experiment hostile --json >pushed.json
"$bin/python" "$root/tests/interop/mlflow_read.py" "$url" hostile hostile

# The server dies while a run goes on: one warning, the run's own exit code; a later push completes it.
$gg serve policy --listen 127.0.0.1:0 >policy.url 2>policy.err &
policy=$!
for _ in $(seq 100); do [ -s policy.url ] && break; sleep 0.1; done
$gg eval --limit 100 -n 20 --concurrency 4 -q -o outage -e "$(head -n 1 policy.url)" --json --mlflow "$url" --mlflow-traces 0.02 >outage.json 2>outage.err &
running=$!
sleep 1
stop
code=0; wait "$running" || code=$?
kill "$policy"
[ "$code" -eq 0 ] || fail "a run whose MLflow server died ended with $code: $(cat outage.err)"
[ "$(count 'MLflow' <outage.err)" -eq 1 ] || fail "not one warning: $(cat outage.err)"
grep -q 'guessgym mlflow-push outage' outage.err || fail "the warning does not say how to push: $(cat outage.err)"
code=0; $gg mlflow-push outage 2>err || code=$?
[ "$code" -eq 3 ] || fail "a push to a dead server ended with $code: $(cat err)"
start
$gg mlflow-push outage --mlflow-traces 0.02 >/dev/null
$gg mlflow-push outage | grep -q 'sent 0 metrics, 0 traces, 0 files' || fail 'a repeated push after an outage sent something'
"$bin/python" "$root/tests/interop/mlflow_read.py" "$url" guessgym outage
echo "ok: an outage is one warning, and a later push completes the run"
