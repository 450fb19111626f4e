#!/bin/sh
# The example game, trained: with the policy that it names, in a local session; the adapter plays the held-out codes.
. "$(dirname "$0")/inc/common.sh"
G=$PWD/build/guessgym
[ -x "$G" ] || { echo 'SKIP: build/guessgym is not built'; exit 0; }

cp -r examples/env-lock "$T/lock"
rm -f "$T"/lock/*.so
include=$PWD/include
(cd "$T/lock" && PKG_CONFIG_PATH=/nonexistent make -s GG="-I$include") || fail 'the example does not build'
lock=$T/lock/lock.so

cat "$T"/lock/train.txt "$T"/lock/val.txt "$T"/lock/tasks.txt | sort | uniq -d >"$T/twice"
[ ! -s "$T/twice" ] || fail 'a code stands in two lists'

expect 0 "$G" eval --env "$lock" --json -o "$T/before"
json 'd["planned"] == 24 and d["solved"] <= 2 and d["forfeited"] == d["errored"] == 0'
train() { # NAME STEPS [options]
    name=$1; steps=$2; shift 2
    expect 0 "$G" train --env "$lock" --steps "$steps" --batch 32 --group-size 8 --val-every 10 --seed 1 \
        --reward solve=1,right_dials=1 -o "$T/$name" --json "$@"
}
train run 20
python3 - "$T/run/metrics.jsonl" <<'PY' || fail 'validation does not rise'
import json, sys
rate = {m["step"]: m["val/solve_rate"] for m in map(json.loads, open(sys.argv[1])) if "val/solve_rate" in m}
assert rate[0] <= 0.05 and rate[10] >= 0.25 and rate[20] >= 0.6, rate
PY
expect 0 "$G" eval --env "$lock" --adapter "$T/run/adapter.json" --json -o "$T/after"
json 'd["solved"] >= 12'
expect 0 "$G" compare "$T/before" "$T/after" --json
json 'd["verdict"] == "better"'

# The same bytes at another concurrency.
train narrow 3 --concurrency 3
train wide 3 --concurrency 64
cmp "$T/narrow/adapter.json" "$T/wide/adapter.json" || fail 'the adapter depends on concurrency'

# The adapter of another policy is refused, and so are arguments that it cannot choose.
sed 's/"chooser"/"letters"/' "$T/run/adapter.json" >"$T/other.json"
expect 2 "$G" eval --env "$lock" --adapter "$T/other.json" -o "$T/refused"; says 'letters'
sed 's/\\"minimum\\":0,//' "$T/lock/lock.c" >"$T/free.c"
cmp -s "$T/free.c" "$T/lock/lock.c" && fail 'the bound is still there'
${CC:-cc} -std=c11 -I"$include" -fPIC -shared -o "$T/free.so" "$T/free.c" || fail 'the changed game does not build'
expect 3 "$G" eval --env "$T/free.so" --tasks "$T/lock/tasks.txt" -o "$T/free"
says 'chooser cannot play the tool turn_dials: its argument dial1 is a whole number without minimum and maximum'

# A service of its own.
"$G" serve service --policy chooser --listen 127.0.0.1:0 --state "$T/state" >"$T/service" 2>&1 &
service=$!
trap 'kill $service 2>/dev/null; rm -rf "$T"' EXIT
for _ in 1 2 3 4 5 6 7 8 9 10; do grep -q http:// "$T/service" && break; sleep 0.2; done
url=$(grep -o 'http://[0-9.:]*' "$T/service" | head -n 1)
[ -n "$url" ] || fail 'the service does not start'
train served 3 --on session --service-url "$url" --s3-root "$T/state/s3"
cmp "$T/served/adapter.json" "$T/wide/adapter.json" || fail 'a session of another service gives other bytes'
echo 'chooser: everything holds'
