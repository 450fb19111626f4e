# shellcheck shell=sh
# shellcheck disable=SC2034 # the caller uses what is set here
# What the benches share. Sourced from the project's folder. A bench prints one row a line; run.sh
# makes one JSON object of them. BENCH_QUICK=1 asks for small sizes.
bin=build/release/tests/bench
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
GUESSGYM_DATA=$PWD
export GUESSGYM_DATA

# size FULL QUICK: how much to do.
size() { if [ -n "${BENCH_QUICK:-}" ]; then echo "$2"; else echo "$1"; fi; }
say() { echo "bench: $*" >&2; }

# row NAME VALUE UNIT OPERATOR TARGET [MEMBERS]: a figure, its limit (operator "-": none), and further
# members of its JSON object.
row() {
    awk -v name="$1" -v value="$2" -v unit="$3" -v op="$4" -v target="$5" -v more="${6:-}" 'BEGIN {
        if (op == "-") { limit = holds = "null" }
        else {
            limit = "\"" op " " target "\""
            holds = (op == "<=" ? value + 0 <= target + 0 : value + 0 >= target + 0) ? "true" : "false"
        }
        printf "\"%s\": {\"value\": %s, \"unit\": \"%s\", \"target\": %s, \"holds\": %s%s}\n",
            name, value, unit, limit, holds, (more == "" ? "" : ", " more)
    }'
}
# skipped NAME WHY: a row that could not be measured.
skipped() {
    say "SKIP $1: $2"
    printf '"%s": {"value": null, "unit": null, "target": null, "holds": null, "skipped": "%s"}\n' "$1" "$2"
}

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

calc() { awk "BEGIN { printf \"%.4g\", $1 }"; }
# Other work on a machine, and of its neighbours, changes what the same program costs by half from one
# second to the next. So what is compared runs by turns, and the middle one of the rounds counts.
rounds=$(size '1 2 3 4 5' '1 2 3')
# median "LIST": the middle one.
median() { printf '%s' "$1" | tr -s ' ' '\n' | sed '/^$/d' | sort -g | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'; }
# quotient "LIST" "LIST": the middle one of the quotients, round by round.
quotient() {
    median "$(echo "$1 / $2" | awk '{ n = (NF - 1) / 2; for (i = 1; i <= n; i++) printf "%.4g ", $i / $(i + n + 1) }')"
}
# in_flight N: as many as the limit of descriptors lets a program and its server have.
in_flight() {
    # shellcheck disable=SC3045 # dash and bash both have it
    limit=$(ulimit -Hn)
    if [ "$limit" = unlimited ] || [ "$limit" -gt $(($1 + 200)) ]; then
        echo "$1"
    else
        say "the limit of $limit descriptors allows $((limit - 200)) in flight, not $1"
        echo $((limit - 200))
    fi
}
