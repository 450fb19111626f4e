#!/bin/sh
# What a request costs in our HTTP client and server, beside a bare libcurl + cJSON client.
set -eu
cd "$(dirname "$0")/../.."
. tests/bench/lib.sh
n=$(size 50000 10000)
bare='' few='' many=''

cost() { "$bin/$1" "$url/v1" "$2" "$3" | tee "$tmp/out" | field cpu_us; }
compare() {
    for _ in $(size '1 2 3' '1 2'); do
        bare=$(least "$bare" "$(cost bare "$n" 64)")
        few=$(least "$few" "$(cost client "$n" 64)")
        many=$(least "$many" "$(cost client $((n * 2)) 5000)")
    done
    ten=$(cost client $((n * 10)) 64)
}
say "the HTTP client"
with_server "" compare
row http_client "$(calc "$few / $bare")" 'x the bare client' - 0 \
    "\"us\": $few, \"bare_us\": $bare, \"at_1x\": $few, \"at_10x\": $ten, \"server_us\": $(echo "$served" | field cpu_us)"
row http_client_5000 "$(calc "$many / $few")" 'x its cost at 64 in flight' '<=' 2 "\"us\": $many"
