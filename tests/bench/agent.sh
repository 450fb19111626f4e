#!/bin/sh
# What a request costs in the whole agent loop, records written, beside other clients that send the
# same bodies to the same server: a bare libcurl + cJSON one, wrk, and Python's openai; and what an
# episode in flight takes in memory.
set -eu
cd "$(dirname "$0")/../.."
. tests/bench/lib.sh
. tests/lib/venv.sh
n=$(size 3000 1000)          # episodes of six requests each
asked=$(size 2000 600)       # requests of the Python client
wait_ms=$(size 3000 1500)    # of the slow server
bare='' few='' many='' ten='' wrk='' openai=''

cost() {
    name=$1 count=$2 flying=$3
    shift 3
    "$bin/$name" "$url/v1" "$count" "$flying" "$@" | tee "$tmp/out" | field cpu_us
}
# A body of the middle size, again and again: wrk is to do nothing but send and receive.
run_wrk() {
    awk '{ print length, $0 }' "$tmp/bodies" | sort -n | cut -d' ' -f2- | sed -n "$((bodies / 2))p" >"$tmp/body"
    cat >"$tmp/wrk.lua" <<'LUA'
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = io.open(os.getenv("BODY")):read("*l")
LUA
    BODY=$tmp/body wrk -t1 -c64 "-d$(size 2 1)s" -s "$tmp/wrk.lua" "$url/v1/chat/completions" >"$tmp/wrk"
}
run_openai() { "$python" tests/bench/openai_client.py "$url/v1" "$tmp/bodies" "$asked" 64 | field cpu_us; }
compare() {
    for _ in $rounds; do
        bare="$bare $(cost bare $((n * 6)) 64 "$tmp/bodies")"
        few="$few $(cost agent "$n" 64)"
        many="$many $(cost agent $((n * 3)) 5000)"
        ten="$ten $(cost agent $((n * 10)) 64)"
        if [ -n "$with_wrk" ]; then
            cpu_of run_wrk
            wrk="$wrk $(calc "$cpu_us / $(sed -n 's/^ *\([0-9]*\) requests in.*/\1/p' "$tmp/wrk")")"
        fi
        if [ -n "$python" ]; then openai="$openai $(run_openai)"; fi
    done
}

with_wrk=$(command -v wrk || true)
why=$(need_python openai openai | sed 's/"/'"'"'/g')
python=''
[ -n "$why" ] || python=build/venv-openai/bin/python
say "the agent loop"
with_server "-b $tmp/bodies" cost agent 600 64 >/dev/null
bodies=$(wc -l <"$tmp/bodies")
with_server "" compare
wrk=$(median "$wrk")
row agent "$(quotient "$few" "$bare")" 'x the bare client' '<=' 2 \
    "\"us\": $(median "$few"), \"bare_us\": $(median "$bare"), \"wrk_us\": ${wrk:-null}, \"at_1x\": $(median "$few"), \"at_10x\": $(median "$ten")"
[ -n "$with_wrk" ] || say "SKIP wrk: it is not installed; its figure stays empty"
row agent_5000 "$(quotient "$many" "$few")" 'x its cost at 64 in flight' '<=' 2 "\"us\": $(median "$many")"
if [ -n "$python" ]; then
    row agent_to_openai "$(quotient "$few" "$openai")" "x Python's AsyncOpenAI" '<=' 0.02 \
        "\"us\": $(median "$few"), \"openai_us\": $(median "$openai")"
else
    skipped agent_to_openai "$why"
fi

say "episodes in flight"
most=$(in_flight 10000)
with_server "-d $wait_ms" cost agent $((most / 10)) $((most / 10)) >/dev/null
tenth=$(field kb_in_flight <"$tmp/out")
with_server "-d $wait_ms" cost agent "$most" "$most" >/dev/null
all=$(field kb_in_flight <"$tmp/out")
row memory_in_flight "$all" KB/episode '<=' 40 \
    "\"in_flight\": $most, \"served_at_once\": $(echo "$served" | field peak_waiting), \"at_1x\": $tenth, \"at_10x\": $all"
