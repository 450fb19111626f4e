# Common to the scripts of tests/e2e; read with `.` from the top of the tree.
# shellcheck shell=sh
set -u
cd "$(dirname "$0")/../.." || exit 1
# shellcheck disable=SC2034 # used by the scripts
G=$PWD/${GUESSGYM:-build/test/guessgym}
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
unset REASONING_EFFORT NO_COLOR FORCE_COLOR OPENAI_API_KEY GUESSGYM_API_KEY
export GUESSGYM_DATA="$PWD"

fail() {
    echo "FAIL: $*"
    [ ! -s "$T/out" ] || { echo '--- stdout'; head -c 2000 "$T/out"; }
    [ ! -s "$T/err" ] || { echo '--- stderr'; head -c 2000 "$T/err"; }
    exit 1
}
# expect CODE COMMAND...: runs it, keeps what it says in $T/out and $T/err
expect() {
    want=$1
    shift
    "$@" >"$T/out" 2>"$T/err"
    code=$?
    [ "$code" -eq "$want" ] || fail "exit code $code, not $want: $*"
}
# says TEXT: on stderr; prints TEXT: on stdout
says() { grep -qF -- "$1" "$T/err" || fail "stderr does not say: $1"; }
prints() { grep -qF -- "$1" "$T/out" || fail "stdout does not print: $1"; }
silent() { [ ! -s "$T/out" ] || fail 'stdout is not empty'; }
# json EXPRESSION: a Python expression over the result d, which must be true
json() { python3 -c "import json,sys; d=json.load(open(sys.argv[1])); assert ($1), d" "$T/out" ||
    fail "JSON: $1"; }
