#!/bin/sh
# Runs against an endpoint that misbehaves: the same games behind transport faults, a balanced ledger behind all
# faults, one clear text for each fault that ends a run.
. "$(dirname "$0")/inc/common.sh"
. tests/lib/serve.sh
compare="$PWD/tests/lib/same_games.py"
counted="$PWD/tests/lib/ledger.py"
run() { sh -c "'$G' eval --effort low --seed 5 --json $1"; }

# 2,000 games: transport faults change none of them, nor one token.
expect 0 run "--limit 250 -n 8 -c 256 -o '$T/clean'"
cp "$T/out" "$T/clean.json"
expect 0 run "--limit 250 -n 8 -c 256 --endpoint builtin:hostile -o '$T/rough'"
json "$(python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(" and ".join(
    f"d[\"{k}\"] == {d[k]}" for k in ("planned", "solved", "lost", "errored", "solve_rate")))' "$T/clean.json")"
json 'd["planned"] == 2000 and d["errored"] == 0'
python3 "$compare" "$T/clean" "$T/rough" 0.25 >"$T/out" 2>"$T/err" || fail 'the games differ'

# Everything at once: the ledger balances, and every repair is counted.
cat examples/faults/thirty-percent.faults >"$T/all.faults"
for kind in text empty nothing thoughts thoughts-in-text final-channel unicode finish-stop finish-null finish-odd \
    finish-without-call length length-text args-cut args-twice args-object args-list args-number args-true args-empty \
    args-null args-missing args-glued args-tail args-quotes id-null id-missing id-empty id-zero id-number id-long \
    same-ids name-marker name-prefix name-space name-unknown name-empty name-case three-calls legacy as-tag \
    as-open-tag as-tag-after-thoughts as-function as-fence as-python as-pythonic as-bracket as-bracket-args \
    as-harmony as-section as-object in-prose in-thoughts value-upper value-space value-accent value-wide \
    value-zero-width value-short value-long value-empty value-number usage-missing usage-null usage-odd front-dropped \
    logprobs-missing logprobs-null logprobs-short ids-missing context context-vllm context-llamacpp context-tgi \
    context-500; do
    echo "1% : $kind" >>"$T/all.faults"
done
# `serve policy` has its descriptors back when the clients are gone.
serve "$G" serve policy --listen 127.0.0.1:0 --faults "$T/all.faults"
before=$(find "/proc/$server/fd" -type l | wc -l)
expect 0 run "--limit 250 -n 8 -c 256 --endpoint '$url' -o '$T/all'"
python3 "$counted" "$T/all" "$T/out" >"$T/counted" 2>"$T/err" || fail 'the ledger does not balance'
for _ in 1 2 3 4 5 6 7 8; do
    after=$(find "/proc/$server/fd" -type l | wc -l)
    [ "$after" -le "$before" ] && break
    sleep 0.5
done
[ "$after" -le "$before" ] || fail "descriptors grow: $before, then $after"
kill "$server"
wait "$server" || fail "the server did not end well: $(cat "$serve_out.err")"

# Each stop ends the run once, with one text, and keeps what was played.
stops() {
    printf 'request 30.. : %s\n' "$1" >"$T/stop.faults"
    rm -rf "$T/stop"
    expect 3 run "--limit 40 -c 4 --faults '$T/stop.faults' -o '$T/stop'"
    says "will not serve this run: $2"
    [ "$(grep -c 'will not serve' "$T/err")" -eq 1 ] || fail 'told more than once'
    json 'd["planned"] == 40 and d["unplayed"] > 30 and d["errored"] == 0 and d["planned"] ==
        d["solved"] + d["lost"] + d["forfeited"] + d["truncated"] + d["errored"] + d["unplayed"]'
}
stops quota 'HTTP 429: You exceeded your current quota'
stops unauthorized 'HTTP 401: Incorrect API key'
stops payment 'HTTP 402: Insufficient credits'
stops forbidden 'HTTP 403: not authorized'
stops not-found 'HTTP 404: Not Found'
stops model-gone 'HTTP 404: The model does not exist'
stops come-tomorrow 'HTTP 429: the script says so; it asks to wait 86400 s'
# Endpoints that never give one good reply end the run too, whatever they say, and within bounds.
hopeless() {
    printf 'in-a-row any\nalways : %s\n' "$1" >"$T/stop.faults"
    rm -rf "$T/dead"
    expect 3 run "--limit 40 -c 8 --attempts 2 --timeout 0.5 --faults '$T/stop.faults' -o '$T/dead'"
    says "$2"
    json 'd["planned"] == 40 and d["solved"] + d["lost"] == 0'
}
hopeless 'status 503 retry-after-ms=10' 'HTTP 503'
hopeless never 'no reply (timeout)'
hopeless reset 'no reply'
hopeless blank 'HTTP 200: the reply is empty'
hopeless refused 'refuses every request: HTTP 400'
hopeless context 'refuses every request: HTTP 400'
# What was unplayed is played when the endpoint is well again.
expect 0 run "--limit 40 -c 4 -o '$T/stop' --resume --faults /dev/null"
json 'd["planned"] == 40 and d["unplayed"] == 0 and d["errored"] == 0'

# Silence, drips and stuck replies are bounded by --timeout, and the games are the same again.
printf '%s\n' '3%% : never' '3%% : stall' '3%% : late seconds=3' '3%% : drip piece=400 every=0.001' \
    '2%% : slow' | sed 's/%%/%/' >"$T/silent.faults"
expect 0 run "--limit 50 -n 2 -o '$T/quick'"
expect 0 run "--limit 50 -n 2 --timeout 1 --faults '$T/silent.faults' -o '$T/silent'"
python3 "$compare" "$T/quick" "$T/silent" 0.05 >"$T/out" 2>"$T/err" || fail 'the games differ'

# Mistakes in scripts are told before anything is played.
printf '10%% : reste\n' >"$T/bad.faults"
expect 2 run "--faults '$T/bad.faults' -o '$T/bad'"
says 'bad.faults:1: unknown trouble "reste"; did you mean "reset"?'
expect 2 run "--endpoint http://127.0.0.1:9/v1 --faults '$T/bad.faults' -o '$T/bad'"
says 'guessgym serve policy --faults FILE'
echo "hostile: everything holds ($(cat "$T/counted"))"
