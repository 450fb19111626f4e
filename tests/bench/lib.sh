#!/bin/sh
# shellcheck disable=SC2034 # the variables are for whoever sources this
# What the network benches share. Sourced from the project's folder.
bin=build/release/tests/bench
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# with_server "CANNED OPTIONS" COMMAND...: runs the command with the server's address in $url; what
# the server says at its end is left in $served.
with_server() {
    mkfifo "$tmp/end"
    # shellcheck disable=SC2086
    "$bin/canned" $1 <"$tmp/end" >"$tmp/server" &
    exec 7>"$tmp/end"
    shift
    until [ -s "$tmp/server" ]; do sleep 0.05; done
    read -r url <"$tmp/server"
    "$@"
    exec 7>&-
    wait
    served=$(tail -n 1 "$tmp/server")
    rm -f "$tmp/end" "$tmp/server"
}

# field NAME: a number out of the JSON object on the input.
field() { sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p"; }

# cpu_of COMMAND...: runs it; $cpu_us is the processor time it took, in microseconds. Not in a
# subshell, which would have children of its own.
cpu_of() {
    times >"$tmp/before"
    "$@"
    times >"$tmp/after"
    cpu_us=$(cat "$tmp/before" "$tmp/after" | tr 'ms' '  ' |
        awk '{ t[NR] = ($1 + $3) * 60 + $2 + $4 } END { printf "%.0f", (t[4] - t[2]) * 1e6 }')
}

ratio() { awk "BEGIN { printf \"%.2f\", $1 / $2 }"; }
