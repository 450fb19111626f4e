#!/bin/sh
# What a request costs in the whole agent loop, records written, beside a bare libcurl + cJSON client
# that sends the same bodies to the same server; one JSON object. Limits: at most twice the bare
# client; at 5,000 in flight at most twice the cost at 64; 40 KB an episode in flight.
set -eu
cd "$(dirname "$0")/../.."
. tests/bench/lib.sh
GUESSGYM_DATA=$PWD
export GUESSGYM_DATA
n=${1:-6000} # episodes, of six requests each

agent() { "$bin/agent" "$url/v1" "$@" >"$tmp/out"; }
bare() { "$bin/bare" "$url/v1" "$@" "$tmp/bodies" >"$tmp/out"; }
show() { printf ',\n  "%s": {"client": %s, "server": %s}' "$1" "$(cat "$tmp/out")" "$served"; }
# A server in another process that lets each request wait, so that all are in flight at once.
in_flight=10000
limit=$(ulimit -Hn)
[ "$limit" = unlimited ] || [ "$limit" -gt $((in_flight + 200)) ] || in_flight=$((limit - 200))

printf '{"episodes": %d' "$n"
with_server "-b $tmp/bodies" agent 600 64
with_server "" bare $((n * 6)) 64
base=$(field cpu_us <"$tmp/out")
show bare_64
with_server "" agent "$n" 64
few=$(field cpu_us <"$tmp/out")
show agent_64
with_server "" agent $((n * 10)) 64
show agent_64_10x
with_server "" agent $((n * 2)) 5000
many=$(field cpu_us <"$tmp/out")
show agent_5000
with_server "-d 3000" agent "$in_flight" "$in_flight"
show agent_waiting
printf ',\n  "agent_to_bare": %s,\n  "5000_to_64": %s,\n  "kb_in_flight": %s\n}\n' \
    "$(ratio "$few" "$base")" "$(ratio "$many" "$few")" "$(field kb_in_flight <"$tmp/out")"
