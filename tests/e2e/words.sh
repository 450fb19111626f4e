#!/bin/sh
# Lists, datasets, marks: what is right is shown, what is wrong is refused with file and line.
. "$(dirname "$0")/inc/common.sh"

expect 0 "$G" mark speed abide; prints BBYBY
expect 0 "$G" mark CRANE crane; prints GGGGG
expect 0 "$G" mark zzzzz qqqqq; prints BBBBB # no list is asked
expect 2 "$G" mark speed; says 'mark GUESS ANSWER'
expect 2 "$G" mark speed abides; says 'both need the same number'
expect 2 "$G" mark sp33d abide; says 'something else than letters a-z'
expect 2 "$G" mark abcdefghijklm abcdefghijklm; says '13 letters'
printf 'speed abide\n\n  crane\tCRANE \r\n' >"$T/pairs"
expect 0 sh -c "'$G' mark <'$T/pairs'"
[ "$(cat "$T/out")" = "BBYBY
GGGGG" ] || fail 'marks of pairs'
printf 'speed abide\nspeed\n' >"$T/pairs"
expect 2 sh -c "'$G' mark <'$T/pairs'"; says 'stdin, line 2'; prints BBYBY
expect 0 "$G" mark speed abide --json; json 'd == {"guess":"speed","answer":"abide","marks":"BBYBY"}'

# The shipped split is what the documented command makes.
expect 0 "$G" words split --train 640 --val 128 --test 256 --seed 42 -o "$T/split"
for name in train val test; do
    cmp -s "$T/split/$name.jsonl" "wordlists/splits/$name.jsonl" || fail "split $name differs"
done
expect 0 "$G" words check --json "$T/split/train.jsonl" "$T/split/val.jsonl" "$T/split/test.jsonl"
json 'd["shared"] == 0 and [f["count"] for f in d["files"]] == [640, 128, 256]'
expect 0 "$G" words check; prints '2279 words of 5 letters'
expect 2 "$G" words check "$T/split/train.jsonl" wordlists/answers.txt; says 'share 640 tasks'
expect 2 "$G" words split -o "$T/x" --train 2279 --val 1; says 'more words than the list'
expect 2 "$G" words split; says '--output DIR is needed'
expect 2 "$G" words split -o /proc/nowhere/x; says '/proc/nowhere'

# Bad lists. The answers are the bad file, the allowed words are the shipped ones.
bad() { # CONTENTS SENTENCE
    printf '%b' "$1" >"$T/bad.txt"
    expect 2 "$G" words check --answers "$T/bad.txt"
    says "$2"
    silent
}
bad '' 'has no words'
bad 'crane\n\nslate\n' 'line 2 is empty'
bad 'crane\nslate\ncrane\n' 'line 3: "crane" stands in line 1 already'
bad 'crane\nslat\n' 'line 2: "slat" has 4 letters'
bad 'crane\nCRANE\n' 'line 2: "CRANE" has a capital letter'
bad 'crane\nna\303\257ve\n' 'not ASCII'
bad 'crane\r\nslate\r\n' 'line 1: "crane" ends with CR LF'
bad 'crane\nzzzzz\n' 'line 2: the answer "zzzzz" is missing from the allowed words'
expect 2 "$G" words check --answers "$T/none.txt"; says none.txt
expect 2 "$G" words check --answers wordlists/allowed.txt --allowed wordlists/answers.txt
says 'the lists are swapped'

# Bad datasets.
bad_tasks() { # CONTENTS SENTENCE
    printf '%b' "$1" >"$T/tasks"
    expect 2 "$G" eval --tasks "$T/tasks" -o "$T/never"
    says "$2"
    [ ! -e "$T/never" ] || fail 'a run folder was made'
}
bad_tasks '' 'tasks'
bad_tasks 'crane\ncrane\n' 'line 2'
bad_tasks 'crane\r\n' 'CR LF'
bad_tasks 'crane\nabc\n' 'line 2'
bad_tasks '{"prompt":"{}"}\n' 'answer'
bad_tasks '{"x":1}\n' 'prompt'
bad_tasks '{"prompt":\n' 'line 1'
echo 'words: everything holds'
