#!/bin/sh
# House rules that a grep can check: banned calls, who prints, who knows the game, who includes whom.
set -u
cd "$(dirname "$0")/.." || exit 1
failed=0
code=$(mktemp)
trap 'rm -f "$code"' EXIT

# Every line of C as FILE:LINE:CODE, comments cut away.
find core net env policy rl agent train service report cli include examples tests -name '*.[ch]' \
    -exec awk '{ print FILENAME ":" FNR ":" $0 }' {} + |
    sed -E 's#/\*.*\*/##g; s#/\*.*##; s#^([^:]*:[0-9]*:) \*.*#\1#' >"$code"

# none RULE ROOMS PATTERN: no line of these rooms may match
none() {
    if grep -E "^($2)/" "$code" | grep -E "$3"; then
        echo "broken: $1"
        failed=1
    fi
}

library='core|net|env|policy|rl|agent|train|service|report'
none 'banned call' "$library|cli|include|examples|tests" \
    '\b(strcpy|strcat|sprintf|vsprintf|gets|atoi|atof|strtok|rand|srand|cJSON_GetErrorPtr|cJSON_GetObjectItem)\('
none 'the library never prints' "$library" '\b(printf|vprintf|puts|putchar|perror)\(|\b(stdout|stderr)\b'
none 'the library never exits' "$library" '\b(exit|_exit|_Exit|abort|quick_exit)\('
none 'this room does not know which game is played' 'core|net|agent|train|rl|report|service' \
    '(^|[^A-Za-z0-9_])([Ww]ords?|[Gg]uess(es)?|guess_word|n[Dd][Cc][Gg]|NDCG|[Bb][Mm]25)($|[^A-Za-z0-9_])'

none 'this room does not know the search game' 'core|net|agent|train|rl|report|service' \
    'bm25_search|vector_search|submit_ranking|env/search|env/guess'

# may ROOM ROOMS...: what a room's files may include besides their own and the public headers
may() {
    room=$1
    allowed=$(echo "$*" | tr ' ' '|')
    if grep -E "^$room/.*#include \"[a-z_]+/" "$code" | grep -vE "#include \"($allowed)/"; then
        echo "broken: of the rooms, $room may include only: $*"
        failed=1
    fi
}
may core
may net core
may env net core
may policy env net core
may agent env net core
may report env net core
may rl core
may train agent env rl net core
may service policy rl net core

if [ "$failed" -eq 0 ]; then echo 'rules: all kept'; else exit 1; fi
