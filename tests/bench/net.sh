#!/bin/sh
# What a request costs in our HTTP client and server, beside a bare libcurl + cJSON client.
set -eu
cd "$(dirname "$0")/../.."
. tests/bench/lib.sh
n=$(size 30000 10000)
bare='' few='' many='' ten=''

cost() { "$bin/$1" "$url/v1" "$2" "$3" | field cpu_us; }
compare() {
    for _ in $rounds; do
        bare="$bare $(cost bare "$n" 64)"
        few="$few $(cost client "$n" 64)"
        many="$many $(cost client $((n * 2)) 5000)"
        ten="$ten $(cost client $((n * 10)) 64)"
    done
}
say "the HTTP client"
with_server "" compare
row http_client "$(quotient "$few" "$bare")" 'x the bare client' - 0 \
    "\"us\": $(median "$few"), \"bare_us\": $(median "$bare"), \"at_1x\": $(median "$few"), \"at_10x\": $(median "$ten"), \"server_us\": $(echo "$served" | field cpu_us)"
row http_client_5000 "$(quotient "$many" "$few")" 'x its cost at 64 in flight' '<=' 2 "\"us\": $(median "$many")"
