#!/bin/sh
# Wrong usage is told on stderr with exit code 2 and a near miss; help goes to stdout with 0.
. "$(dirname "$0")/inc/common.sh"

expect 2 "$G"; says 'usage: guessgym COMMAND'; silent
expect 0 "$G" --help; prints 'usage: guessgym COMMAND'; prints 'exit codes:'
expect 0 "$G" help; prints 'usage: guessgym COMMAND'
expect 0 "$G" help eval; prints 'guessgym eval:'
expect 0 "$G" help serve policy; prints 'guessgym serve policy:'
expect 2 "$G" help evla; says 'did you mean eval?'
expect 0 "$G" --version; prints 'guessgym '
expect 0 "$G" version --json; json 'd["name"] == "guessgym"'

expect 2 "$G" evla; says 'unknown command evla; did you mean eval?'; silent
expect 2 "$G" rolout; says 'did you mean rollout?'
expect 2 "$G" frobnicate; says 'unknown command frobnicate'
expect 2 "$G" serve; says 'serve policy, serve service'
expect 2 "$G" serve polcy; says 'did you mean serve policy?'
expect 2 "$G" words; says 'words split, words check'
expect 2 "$G" eval --smaples 3; says 'did you mean --samples?'; says 'guessgym eval --help'
expect 2 "$G" --jsno eval; says 'unknown option --jsno; options come after a command'
expect 2 "$G" train --service-url http://127.0.0.1:1 -o "$T/none"; says '--service-url is for --on session'
[ ! -e "$T/none" ] || fail 'a training began all the same'
expect 2 "$G" eval stray; says 'eval does not take "stray"'
expect 2 "$G" compare one; says 'compare needs BEFORE AFTER'
expect 2 "$G" eval --effort enormous; says '"enormous" is not one of none|minimal|low'
expect 2 env REASONING_EFFORT=hgih "$G" eval; says 'REASONING_EFFORT: "hgih" is unknown; did you mean "high"?'
expect 2 env GUESSGYM_SAMPLES=many "$G" eval; says 'GUESSGYM_SAMPLES: "many" is not a whole number'
expect 2 "$G" eval --config "$T/none.json"; says 'none.json'

# Every command answers --help, whatever else is wrong, and a full disk is an error.
for command in play eval rollout compare 'serve policy' 'serve service' 'words split' \
    'words check' mark env-check; do
    # shellcheck disable=SC2086 # two words are two arguments
    expect 0 "$G" $command --nonsense --help
    prints "guessgym $command:"
    prints 'usage: guessgym'
    prints '--help'
done
if [ -w /dev/full ]; then
    "$G" --help >/dev/full 2>"$T/err" && fail 'a full disk went unnoticed'
    says 'cannot write the result to stdout: No space left on device'
    "$G" mark speed abide >/dev/full 2>"$T/err"
    [ $? -eq 1 ] || fail 'mark on a full disk'
fi
# So is a closed stdout; and nothing is written into whatever file was opened in its place.
"$G" mark speed abide >&- 2>"$T/err"
[ $? -eq 1 ] || fail 'a closed stdout went unnoticed'
says 'cannot write the result to stdout'
"$G" eval --limit 2 -q -o "$T/closed" >&- 2>/dev/null
expect 0 "$G" eval --limit 2 -q -o "$T/closed" --resume
[ "$(wc -l <"$T/closed/episodes.jsonl")" -eq 2 ] || fail 'a result in the journal'
expect 0 sh -c "'$G' --man | head -n 1"
[ ! -s "$T/err" ] || fail 'a reader that went away was told of'
"$G" --man >"$T/page.1" || fail 'no man page'
grep -q '^\.TH GUESSGYM 1' "$T/page.1" || fail 'the man page has no title'
if command -v groff >/dev/null; then
    groff -man -Tascii -ww "$T/page.1" >/dev/null 2>"$T/err" || fail 'groff'
    [ ! -s "$T/err" ] || fail 'groff complains of the man page'
fi
"$G" --completion bash >"$T/completion" || fail 'no completion'
bash -n "$T/completion" || fail 'the completion is no bash'
cat >"$T/try" <<'EOF'
. "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _guessgym; printf '%s\n' "${COMPREPLY[@]}"
EOF
completes() { bash "$T/try" "$T/completion" "$@" >"$T/out"; }
completes guessgym ev; prints eval
completes guessgym serve pol; prints policy
completes guessgym eval --sam; prints --samples
completes guessgym eval --effort m; prints medium
completes guessgym serve policy --pol; prints --policy
echo 'usage: everything holds'
