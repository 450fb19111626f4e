# shellcheck shell=sh
# Sourced by tests that need a server of ours: `serve COMMAND...` starts it, waits until it has said its address on
# stdout, and sets $url and $server. The caller stops it with `kill $server`.
serve() {
    serve_out=$(mktemp)
    "$@" >"$serve_out" 2>"$serve_out.err" &
    server=$!
    for _ in $(seq 200); do
        url=$(head -n 1 "$serve_out")
        [ -n "$url" ] && return 0
        kill -0 "$server" 2>/dev/null || break
        sleep 0.05
    done
    echo "not ok: $* did not start: $(cat "$serve_out.err")"
    exit 1
}
