#!/bin/sh
# eval against servers that misbehave: exit codes, sentences, and what a resume makes good.
. "$(dirname "$0")/inc/common.sh"
printf 'crane\nslate\nbrink\n' >"$T/list"

# serve MODE [FILE]: sets $url
serve() {
    rm -f "$T/port"
    python3 tests/e2e/inc/fake_server.py "$T/port" "$@" &
    server=$!
    for _ in $(seq 50); do [ -s "$T/port" ] && break; sleep 0.1; done
    url=http://127.0.0.1:$(cat "$T/port")/v1
}
stop() { kill "$server"; wait "$server" 2>/dev/null; }
trap 'kill "$server" 2>/dev/null; rm -rf "$T"' EXIT
eval_on() { "$G" eval --endpoint "$url" --tasks "$T/list" --json "$@"; }

serve ok "$T/list"
expect 0 eval_on -o "$T/ok"
says "player fake at $url"
json 'd["solved"] == 1 and d["lost"] == 2 and d["errored"] == 0'
json 'd["tokens"] == {"prompt": 130, "completion": 39, "reasoning": None} and d["tokens_per_turn"] == 3'
stop

serve text
expect 0 eval_on -o "$T/text"
json 'd["forfeited"] == 3 and d["failure_rate"] == 1 and d["solve_rate"] == 0'
says 'warning: 3 episodes were forfeited'
stop

serve busy
expect 0 eval_on -o "$T/busy"
json 'd["errored"] == 0 and d["lost"] == 2'
stop

for mode in refused quota; do # nothing to retry: said once, at once
    serve $mode
    expect 3 eval_on -o "$T/$mode"
    [ $mode = refused ] && says '401'
    [ $mode = quota ] && says 'quota'
    json 'd["unplayed"] == 3'
    says 'go on with:'
    stop
done

serve models
expect 2 eval_on -o "$T/models"; says 'choose one with --model: a, b, c'
expect 0 eval_on -o "$T/models" --model b
stop

serve down # from the first request on: the run is not worth going on with
expect 3 eval_on -o "$T/down" --attempts 2
says 'the server is on fire'
stop

# A server that breaks down: the episodes errored, the exit code says so, a resume plays them again.
: >"$T/on-fire"
serve switch "$T/on-fire"
expect 0 eval_on -o "$T/allowed" -c 1 --max-errored 2
json 'd["errored"] == 2'
stop
serve switch "$T/on-fire"
expect 4 eval_on -o "$T/switch" -c 1
json 'd["errored"] == 2 and d["solved"] == 1 and d["solve_rate"] == 1'
json 'abs(d["solve_rate_pessimistic"] - 1 / 3) < 1e-9'
says 'warning: 2 episodes errored'
rm "$T/on-fire"
expect 0 eval_on -o "$T/switch" --resume
says '2 errored episodes'
json 'd["errored"] == 0 and d["solved"] == 1 and d["lost"] == 2'
[ "$(wc -l <"$T/switch/episodes.jsonl")" -eq 3 ] || fail 'errored records are still there'
stop
echo 'endpoint: everything holds'
