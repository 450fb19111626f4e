#!/bin/sh
# Builds answers.txt and allowed.txt from the Debian package scowl, byte for
# byte the same on every machine. README.md gives the rules in prose.
#
#   sh wordlists/build.sh -o DIR [--length N]   write both lists into DIR
#   sh wordlists/build.sh --check               compare with the shipped lists
#
# Exit codes: 0 done or equal, 1 different, 2 wrong usage or no source.

set -eu
LC_ALL=C
export LC_ALL

want=2020.12.07     # the SCOWL version; Debian adds its own revision to it
common=35           # the largest SCOWL size of an answer
largest=80          # the largest SCOWL size of an allowed guess
dictionary=60       # the largest size in which a singular form is looked up
sizes='10 20 35 40 50 55 60 70 80'

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)

usage='usage: build.sh -o DIR [--length N] | build.sh --check'

die() {
    printf 'build.sh: %s\n' "$1" >&2
    exit 2
}

# words MAX CATEGORY...: every word up to size MAX that is stored in plain
# lower-case letters. That drops names, abbreviations in capitals, apostrophes
# and accents.
words() {
    max=$1
    shift
    for category in "$@"; do
        for size in $sizes; do
            [ "$size" -le "$max" ] || continue
            cat "$source/$category-words.$size"
        done
    done | awk '/^[a-z]+$/' | sort -u
}

# length N: only the words of N letters.
length() {
    awk -v n="$1" 'length($0) == n'
}

# without CLASS...: drops the words that excluded.txt lists under a CLASS.
without() {
    awk -v classes="$*" '
        BEGIN { n = split(classes, c, " "); for (i = 1; i <= n; i++) on[c[i]] }
        NR == FNR { if ($1 in on) drop[$2]; next }
        !($1 in drop)
    ' "$here/excluded.txt" -
}

# no_s_forms DICTIONARY: drops plurals and other -s forms of a word in
# DICTIONARY (cats, runs, boxes, flies, wolves, quizzes). A word in -ss is
# never such a form, and a stem has at least two letters.
no_s_forms() {
    awk '
        function known(stem) { return length(stem) > 1 && stem in dict }
        function s_form(w,   n, es) {
            n = length(w)
            if (w !~ /s$/ || w ~ /ss$/) return 0
            if (known(substr(w, 1, n - 1))) return 1
            if (w !~ /es$/) return 0
            es = substr(w, 1, n - 2)
            if (es ~ /(s|x|z|ch|sh|o)$/ && known(es)) return 1
            if (w ~ /ies$/ && known(substr(w, 1, n - 3) "y")) return 1
            if (w ~ /ves$/ && known(substr(w, 1, n - 3) "f")) return 1
            if (w ~ /ves$/ && known(substr(w, 1, n - 3) "fe")) return 1
            return w ~ /(ss|zz)es$/ && known(substr(w, 1, n - 3))
        }
        NR == FNR { dict[$1]; next }
        !s_form($1)
    ' "$1" -
}

# build DIR N: writes both lists into DIR.
build() {
    words $dictionary english american british british_z >"$tmp/dictionary"
    words $common english american | length "$2" | without all answers |
        no_s_forms "$tmp/dictionary" >"$tmp/answers.new"
    words $largest english american british british_z | length "$2" |
        without all | sort -u - "$tmp/answers.new" >"$tmp/allowed.new"
    for list in answers allowed; do
        [ -s "$tmp/$list.new" ] || die "the list of $list came out empty"
        cp "$tmp/$list.new" "$1/$list.txt.tmp"
        mv "$1/$list.txt.tmp" "$1/$list.txt"
    done
}

# compare LIST: prints a summary of the differences, fails when there are any.
compare() {
    if cmp -s "$here/$1.txt" "$tmp/out/$1.txt"; then
        echo "$1.txt: the same"
        return 0
    fi
    if [ ! -f "$here/$1.txt" ]; then
        echo "$1.txt: missing"
        return 1
    fi
    sort -u "$here/$1.txt" >"$tmp/shipped"
    comm -13 "$tmp/shipped" "$tmp/out/$1.txt" >"$tmp/missing"
    comm -23 "$tmp/shipped" "$tmp/out/$1.txt" >"$tmp/extra"
    echo "$1.txt: DIFFERENT"
    for side in missing extra; do
        echo "  $side: $(awk '
            NR <= 10 { list = list " " $0 }
            END { print NR + 0 (NR ? ":" list : "") (NR > 10 ? " ..." : "") }
        ' "$tmp/$side")"
    done
    if [ ! -s "$tmp/missing" ] && [ ! -s "$tmp/extra" ]; then
        echo "  the same words, but other order, repeats or line ends"
    fi
    return 1
}

dir='' n=5 length_given='' check=''
while [ $# -gt 0 ]; do
    case $1 in
    -o | --length)
        [ $# -ge 2 ] || die "$1 needs a value; $usage"
        if [ "$1" = -o ]; then dir=$2; else n=$2 length_given=1; fi
        shift 2
        ;;
    --check)
        check=1
        shift
        ;;
    -h | --help)
        echo "$usage"
        exit 0
        ;;
    *) die "unknown argument '$1'; $usage" ;;
    esac
done
if [ -n "$check" ]; then
    [ -z "$dir$length_given" ] || die "--check takes no other option; $usage"
else
    [ -n "$dir" ] || die "$usage"
fi
case $n in
[3-9] | 10 | 11 | 12) ;;
*) die "--length must be a number from 3 to 12, not '$n'" ;;
esac

command -v dpkg-query >/dev/null 2>&1 ||
    die "the word lists come from the Debian package scowl $want, and this system has no dpkg-query"
# shellcheck disable=SC2016  # dpkg-query reads these names, not the shell
have=$(dpkg-query -W -f '${db:Status-Status} ${Version}' scowl 2>/dev/null) || have=''
case $have in
"installed $want-"*) ;;
"installed "*) die "needs the Debian package scowl $want, but version ${have#installed } is installed" ;;
*) die "needs the Debian package scowl $want, which is not installed" ;;
esac
source=$(dpkg-query -L scowl | awk 'sub(/\/english-words\.10$/, "") { print; exit }')
for category in english american british british_z; do
    for size in $sizes; do
        [ -r "$source/$category-words.$size" ] ||
            die "the package scowl lacks its file $category-words.$size"
    done
done
[ -r "$here/excluded.txt" ] || die "excluded.txt is not beside build.sh"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 2' HUP INT TERM

if [ -n "$check" ]; then
    mkdir "$tmp/out"
    build "$tmp/out" "$n"
    status=0
    compare answers || status=1
    compare allowed || status=1
    exit $status
fi

mkdir -p -- "$dir"
dir=$(CDPATH='' cd -- "$dir" && pwd)
build "$dir" "$n"
for list in answers allowed; do
    echo "$list.txt: $(awk 'END { print NR }' "$dir/$list.txt") words of $n letters"
done
