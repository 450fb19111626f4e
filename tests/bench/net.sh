#!/bin/sh
# What a request costs in our HTTP client and server, beside a bare libcurl client and wrk; one JSON
# object. Limits: 5,000 in flight at most twice the cost of 64; cost linear in the number of requests.
set -eu
cd "$(dirname "$0")/../.."
. tests/bench/lib.sh
n=${1:-50000}

bare() { "$bin/bare" "$url/v1" "$@" >"$tmp/out"; }
ours() { "$bin/client" "$url/v1" "$@" >"$tmp/out"; }
show() { printf ',\n  "%s": {"client": %s, "server": %s}' "$1" "$(cat "$tmp/out")" "$served"; }
# A server in another process that lets each request wait, so that all are in flight at once.
in_flight=10000
# shellcheck disable=SC3045 # dash and bash have -H
limit=$(ulimit -Hn)
[ "$limit" = unlimited ] || [ "$limit" -gt $((in_flight + 200)) ] || in_flight=$((limit - 200))

printf '{"requests": %d' "$n"
with_server "" bare "$n" 64
base=$(field cpu_us <"$tmp/out")
show bare_64
with_server "" ours "$n" 64
few=$(field cpu_us <"$tmp/out")
show ours_64
with_server "" ours $((n * 10)) 64
show ours_64_10x
with_server "" ours $((n * 2)) 5000
many=$(field cpu_us <"$tmp/out")
show ours_5000
with_server "-d 3000" ours "$in_flight" "$in_flight"
show ours_waiting
if command -v wrk >/dev/null; then
    printf 'wrk.method = "POST"\nwrk.body = string.rep("x", 2400)\n' >"$tmp/wrk.lua"
    outer() { cpu_of wrk -t1 -c64 -d4s -s "$tmp/wrk.lua" "$url/v1" >/dev/null; }
    with_server "" outer
    printf ',\n  "wrk_64": {"cpu_us": %s}' "$(ratio "$cpu_us" "$(echo "$served" | field served)")"
fi
printf ',\n  "ours_to_bare": %s,\n  "5000_to_64": %s\n}\n' "$(ratio "$few" "$base")" "$(ratio "$many" "$few")"
