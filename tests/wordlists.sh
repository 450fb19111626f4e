#!/bin/sh
# Checks the shipped word lists and the script that builds them.
# Prints one line a check, "ok" or "not ok"; fails when any check fails.
# shellcheck disable=SC2317  # the checks are called by name

set -u
LC_ALL=C
export LC_ALL

lists=$(CDPATH='' cd -- "$(dirname -- "$0")/../wordlists" && pwd) || exit 1
build=$lists/build.sh
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
failed=0

# check NAME COMMAND...: one test; shows what the command said when it fails.
check() {
    name=$1
    shift
    if "$@" >"$tmp/said" 2>&1; then
        echo "ok - $name"
    else
        echo "not ok - $name"
        sed 's/^/# /' "$tmp/said"
        failed=1
    fi
}

# sound FILE N: sorted, unique, N letters a-z a line, LF ends, not empty.
sound() {
    [ -s "$1" ] || { echo "missing or empty"; return 1; }
    [ -z "$(tail -c 1 "$1" | tr -d '\n')" ] || { echo "no line end at the end"; return 1; }
    awk -v n="$2" 'length($0) != n || /[^a-z]/ { print "line " NR ": " $0; bad = 1 } END { exit bad }' "$1" &&
        sort -c -u "$1"
}

# subset SMALL LARGE
subset() {
    comm -23 "$1" "$2" >"$tmp/outside"
    [ ! -s "$tmp/outside" ] || { echo "not allowed:"; head -5 "$tmp/outside"; return 1; }
}

# excluded FILE RULE...: no word of FILE stands in excluded.txt under a RULE.
excluded() {
    file=$1
    shift
    awk -v rules="$*" '
        BEGIN { n = split(rules, r, " "); for (i = 1; i <= n; i++) on[r[i]] }
        NR == FNR { if ($1 in on) drop[$2]; next }
        $1 in drop { print; bad = 1 }
        END { exit bad }
    ' "$lists/excluded.txt" "$file"
}

# rules_sound: excluded.txt has only comments and rules, no word twice.
rules_sound() {
    awk '/^#/ || /^$/ { next }
        !/^(all|answers) [a-z]+$/ || $2 in seen { print "line " NR ": " $0; bad = 1 }
        { seen[$2]; rules++ }
        END { exit bad || !rules }' "$lists/excluded.txt"
}

# in_readme TEXT: README.md holds the line TEXT.
in_readme() {
    grep -qxF -- "$1" "$lists/README.md" || { echo "README.md lacks: $1"; return 1; }
}

count() {
    awk 'END { print NR }' "$1"
}

# rule_row RULE: README.md gives the count of that rule.
rule_row() {
    n=$(grep -c "^$1 " "$lists/excluded.txt")
    grep -q "^| \`$1\` | $n |" "$lists/README.md" || { echo "README.md lacks: $1 $n"; return 1; }
}

# refused COMMAND...: exit code 2 and exactly one line on stderr.
refused() {
    "$@" >"$tmp/out" 2>"$tmp/err"
    code=$?
    [ "$code" -eq 2 ] && [ "$(count "$tmp/err")" -eq 1 ] && [ ! -s "$tmp/out" ] && return 0
    echo "exit code $code"
    cat "$tmp/out" "$tmp/err"
    return 1
}

# between LOW N HIGH
between() {
    if [ "$1" -gt "$2" ] || [ "$2" -gt "$3" ]; then echo "$2 words"; return 1; fi
}

for list in answers allowed; do
    file=$lists/$list.txt
    check "$list.txt is sorted, unique, five letters a-z" sound "$file" 5
    digest=$(sha256sum "$file" | cut -d ' ' -f 1)
    check "README.md has the count and SHA-256 of $list.txt" \
        in_readme "| $list.txt | $(count "$file") | \`$digest\` |"
done
check "every answer is an allowed guess" subset "$lists/answers.txt" "$lists/allowed.txt"
check "excluded.txt is sound" rules_sound
check "no excluded word is an answer" excluded "$lists/answers.txt" all answers
check "no word under the rule all is a legal guess" excluded "$lists/allowed.txt" all
check "README.md counts the rule all" rule_row all
check "README.md counts the rule answers" rule_row answers
check "the copyright notice is shipped" grep -q 'Kevin Atkinson' "$lists/COPYRIGHT"

for bad in '' '-o' "-o $tmp/x --length 2" "-o $tmp/x --length 13" "-o $tmp/x --length five" '--check --length 6' '--cheque'; do
    # shellcheck disable=SC2086  # several arguments in one string
    check "build.sh refuses '$(echo "$bad" | sed "s|$tmp|DIR|")'" refused sh "$build" $bad
done

# A stand-in for dpkg-query that knows no package, then one with an old SCOWL.
mkdir "$tmp/bin"
printf '#!/bin/sh\nexit 1\n' >"$tmp/bin/dpkg-query"
chmod +x "$tmp/bin/dpkg-query"
check "build.sh refuses when scowl is missing" refused env PATH="$tmp/bin:$PATH" sh "$build" --check
printf '#!/bin/sh\necho "installed 2018.04.16-1"\n' >"$tmp/bin/dpkg-query"
check "build.sh refuses another version of scowl" refused env PATH="$tmp/bin:$PATH" sh "$build" --check

# shellcheck disable=SC2016  # dpkg-query reads this name, not the shell
case $(dpkg-query -W -f '${Version}' scowl 2>/dev/null) in
2020.12.07-*) ;;
*)
    echo "SKIP: the Debian package scowl 2020.12.07 is not installed, so the lists were NOT rebuilt"
    exit $failed
    ;;
esac

check "build.sh --check finds the shipped lists equal" sh "$build" --check

cp -R "$lists" "$tmp/copy"
sed '/^about$/d' "$lists/answers.txt" >"$tmp/copy/answers.txt"
sh "$tmp/copy/build.sh" --check >"$tmp/diff" 2>&1
check "build.sh --check fails for a changed list" test $? -eq 1
check "... and names the missing word" grep -qx '  missing: 1: about' "$tmp/diff"

for n in 3 4 6 12; do
    check "build.sh builds lists of $n letters" sh "$build" -o "$tmp/$n" --length $n
    answers=$tmp/$n/answers.txt
    allowed=$tmp/$n/allowed.txt
    check "the $n-letter answers are sound" sound "$answers" $n
    check "the $n-letter guesses are sound" sound "$allowed" $n
    check "the $n-letter answers are allowed" subset "$answers" "$allowed"
    check "the number of $n-letter answers is sane" between 400 "$(count "$answers")" 5000
    check "the number of $n-letter guesses is sane" between 1000 "$(count "$allowed")" 40000
    check "no excluded word is a $n-letter answer" excluded "$answers" all answers
    # shellcheck disable=SC2016  # awk reads these names, not the shell
    check "README.md has the numbers for $n letters" awk -F ' *[|] *' -v n="$n" \
        -v a="$(count "$answers")" -v g="$(count "$allowed")" '
        $2 == "letters" { for (i = 3; i < NF; i++) if ($i == n) col = i; next }
        col && $2 == "answers" && $col == a { ok++ }
        col && $2 == "allowed" && $col == g { ok++ }
        END { exit ok != 2 }' "$lists/README.md"
done

left_out() { ! grep -qxE "$1" "$2"; }
check "plurals in -es, -ies, -ves are no answers" left_out 'kisses|buzzes|heroes|cities|wolves|knives|fezzes' "$tmp/6/answers.txt"
check "plurals are legal guesses" test "$(grep -cxE 'kisses|buzzes|heroes|cities|wolves|knives|fezzes' "$tmp/6/allowed.txt")" -eq 7
check "words that only look like plurals stay" test "$(grep -cxE 'focus|virus|chess|glass|basis|lotus' "$lists/answers.txt")" -eq 6
check "boxes, flies, elves and bikes are no answers" left_out 'boxes|flies|elves|bikes' "$lists/answers.txt"

exit $failed
