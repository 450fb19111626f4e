#!/bin/sh
# A training killed with SIGKILL again and again, and resumed each time, ends with the same adapter bytes and the same
# episodes as one that was left alone. KILLS (default 12) sets how often; the moments come from a printed seed.
set -eu
cd "$(dirname "$0")/../.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
gg=build/guessgym
kills=${KILLS:-12} seed=${SEED:-$(date +%s)}
echo "seed $seed, $kills kills"
train() { # NAME [--resume]; replaces this shell, so that a kill hits the program
    name=$1; shift
    exec $gg train --steps 12 --batch 20 --group-size 4 --effort low --val-every 4 --seed 3 --keep all -o "$dir/$name" "$@" --json
}
(train whole) >/dev/null
killed=0 done=0 resume=''
while [ $done = 0 ]; do
    # shellcheck disable=SC2086 # $resume is an option or nothing
    train cut $resume >/dev/null 2>"$dir/err" &
    pid=$!
    if [ $killed -lt "$kills" ]; then
        seed=$(((seed * 1103515245 + 12345) % 2147483648))
        sleep "0.$(printf %03d $((seed / 65536 % 700 + 20)))"
        kill -9 $pid 2>/dev/null || true
    fi
    code=0; wait $pid || code=$?
    case $code in
        0) done=1 ;;
        137) killed=$((killed + 1)) ;;
        *) echo "not ok: exit $code after $killed kills: $(cat "$dir/err")"; exit 1 ;;
    esac
    [ -f "$dir/cut/run.json" ] && resume=--resume
done
cmp "$dir/whole/adapter.json" "$dir/cut/adapter.json" || { echo "not ok: other adapter bytes"; exit 1; }
python3 - "$dir" <<'PY'
import json, sys
TIMES = ("started", "duration_ms", "attempts", "latency_ms", "endpoint")
def clean(value):
    if isinstance(value, dict):
        return {k: clean(v) for k, v in value.items() if k not in TIMES}
    return [clean(v) for v in value] if isinstance(value, list) else value
def records(run, name):
    lines = [json.loads(line) for line in open(f"{sys.argv[1]}/{run}/{name}")]
    ids = [line["id"] for line in lines]
    assert len(ids) == len(set(ids)), f"{run}/{name}: twice"
    return {line["id"]: clean(line) for line in lines}
for name in ("episodes.jsonl", "tokens.jsonl", "validation/episodes.jsonl"):
    whole, cut = records("whole", name), records("cut", name)
    assert whole.keys() == cut.keys(), f"{name}: {whole.keys() ^ cut.keys()}"
    assert whole == cut, name
steps = [json.loads(line)["step"] for line in open(f"{sys.argv[1]}/cut/metrics.jsonl")]
assert steps == list(range(13)), steps
PY
echo "ok: killed $killed times"
