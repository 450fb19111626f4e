#!/bin/sh
# The optimised program is killed at 50 random moments and resumed: the plays are those of a run that
# nobody disturbed, none twice, none lost. Then signals that can be heard.
export GUESSGYM=build/guessgym
. "$(dirname "$0")/inc/common.sh"
seed=${SEED:-$$}
echo "seed $seed (SEED=$seed repeats it)"

# random: a number below 1000 that follows from the seed
random() {
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    echo $((seed / 65536 % 1000))
}
same() { python3 tests/e2e/inc/same_plays.py "$1" "$2" || fail "$1 and $2 differ"; }

# killed TIMES NAME COMMAND...: the same command, undisturbed and killed
killed() {
    times=$1 name=$2
    shift 2
    expect 0 "$G" "$@" -q -o "$T/$name-whole"
    for _ in $(seq "$times"); do
        "$G" "$@" -c 8 -q -o "$T/$name" --resume >/dev/null 2>&1 &
        sleep "0.$(printf '%03d' $((50 + $(random) * 2 / 5)))"
        kill -KILL $! 2>/dev/null
        wait $! 2>/dev/null
    done
    echo "$name: $(wc -l <"$T/$name/episodes.jsonl") plays after $times kills"
    expect 0 "$G" "$@" -q -o "$T/$name" --resume
    same "$T/$name-whole" "$T/$name"
    rm -rf "${T:?}/$name" "$T/$name-whole"
}
killed 50 eval eval -n 32
killed 20 rollout rollout --limit 100 -g 32 --reward solve-speed
killed 10 batch rollout --limit 60 -g 32 --advantage reinforce_pp

# One signal drains: exit code 130, a partial summary, the command that goes on.
for signal in INT TERM; do
    "$G" eval -n 64 -o "$T/$signal" --json >"$T/out" 2>"$T/err" &
    sleep 0.5
    kill -$signal $!
    wait $!
    code=$?
    [ "$code" -eq 130 ] || fail "exit code $code after SIG$signal"
    json 'd["unplayed"] > 0 and d["planned"] == 256 * 64 and d["errored"] == 0'
    says 'waiting for the episodes in flight'
    says "--resume"
    [ "$(wc -l <"$T/$signal/episodes.jsonl")" -eq "$(python3 -c "
import json; d = json.load(open('$T/$signal/summary.json')); print(d['planned'] - d['unplayed'])")" ] ||
        fail 'the summary does not count what the journal holds'
done

# A second signal ends at once, even when the endpoint never answers again.
python3 - "$T/port" <<'EOF' &
import http.server, sys, time
class Silent(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(404); self.end_headers()
    def do_POST(self):
        time.sleep(60)
    def log_message(self, *args): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Silent)
open(sys.argv[1], "w").write(str(server.server_port))
server.serve_forever()
EOF
silent=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do [ -s "$T/port" ] && break; sleep 0.3; done
"$G" eval --endpoint "http://127.0.0.1:$(cat "$T/port")/v1" -o "$T/silent" >"$T/out" 2>"$T/err" &
run=$!
sleep 1; kill -INT $run
sleep 1; kill -0 $run || fail 'one signal did not wait for what is in flight'
kill -INT $run
sleep 2; kill -0 $run 2>/dev/null && fail 'two signals did not end it'
wait $run
code=$?
kill $silent
[ "$code" -eq 130 ] || fail "exit code $code after two signals"
says 'go on with:'
echo 'killed: everything holds'
