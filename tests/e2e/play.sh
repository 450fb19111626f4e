#!/bin/sh
# A person plays: from a pipe the texts a model gets and the board at the end; with JSON the record.
. "$(dirname "$0")/inc/common.sh"

printf 'brink\n' >"$T/one"
play() { sh -c "'$G' play $1 <'$T/in'"; }

printf 'crane\nabc\nCRANE\nbrink\n' >"$T/in"
expect 0 play "--tasks $T/one"
prints 'Guess the 5-letter word'
prints 'CRANE  BGBGB'
prints 'BRINK  GGGGG'
prints 'number of letters is 3'
prints 'solved with guess 3'
grep -q "$(printf '\033')" "$T/out" && fail 'escape codes in a pipe'
printf 'crane\n' >"$T/in"
expect 0 play "--tasks $T/one"
prints 'the word was "brink"' # the end of the input gives up
expect 0 play "--tasks $T/one --json --reward solve=1"
json 'd["schema"] == "guessgym.episode/1" and d["outcome"] == "forfeited" and d["moves"] == 1'
says 'CRANE  BGBGB'
expect 0 env FORCE_COLOR=1 sh -c "'$G' play --tasks '$T/one' <'$T/in'"
grep -q "$(printf '\033')" "$T/out" || fail 'no colour where it was forced'
expect 0 env FORCE_COLOR=1 NO_COLOR=1 sh -c "'$G' play --tasks '$T/one' <'$T/in'"
grep -q "$(printf '\033')" "$T/out" && fail 'NO_COLOR is not obeyed'
expect 2 play "--env geuss"; says 'did you mean "guess"'
expect 2 play "--env-set hrad=true"; says 'did you mean "hard"'
expect 2 play "--guesses 33"; says '--guesses: "33" is not a whole number from 1 to 32'
expect 2 play "--reward sovle"; says 'sovle'

# The same seed, the same word.
: >"$T/in"
expect 0 play '--seed 5'; cp "$T/out" "$T/first"
expect 0 play '--seed 5'; cmp -s "$T/out" "$T/first" || fail 'another word for the same seed'
echo 'play: everything holds'
