#!/bin/sh
# House rules that a grep can check: banned calls, who prints, who knows the game, who includes whom.
set -u
cd "$(dirname "$0")/.." || exit 1
failed=0

files() { # the C files of some rooms
    for room in "$@"; do
        [ -d "$room" ] && find "$room" -name '*.[ch]'
    done
}
# none RULE PATTERN FILES: no line may match; lines of a comment do not count
none() {
    rule=$1 pattern=$2
    shift 2
    if [ $# -gt 0 ] && grep -nHE "$pattern" "$@" | grep -vE '^[^:]+:[0-9]+: *(/\*|\*)'; then
        echo "broken: $rule"
        failed=1
    fi
}

library=$(files core net env policy rl agent train service report)
others=$(files cli examples tests bench include)
neutral=$(files core net agent train rl report service)
# shellcheck disable=SC2086 # one word a file
{
    none 'banned call' \
        '\b(strcpy|strcat|sprintf|vsprintf|gets|atoi|atof|strtok|rand|srand|cJSON_GetErrorPtr|cJSON_GetObjectItem)\(' \
        $library $others
    none 'the library never prints' '\b(printf|vprintf|puts|putchar|perror)\(|\b(stdout|stderr)\b' \
        $library
    none 'the library never exits' '\b(exit|_exit|_Exit|abort|quick_exit)\(' $library
    none 'this room does not know which game is played' \
        '(^|[^A-Za-z0-9_])([Ww]ords?|[Gg]uess(es)?|guess_word|n[Dd][Cc][Gg]|NDCG|[Bb][Mm]25)($|[^A-Za-z0-9_])' \
        $neutral
}

# may ROOM ROOMS...: what a room's files may include besides their own and the public headers
may() {
    room=$1
    shift
    allowed=$(echo "$room $*" | tr ' ' '|')
    for file in $(files "$room"); do
        if grep -nHE '^#include "[a-z_]+/' "$file" | grep -vE "#include \"($allowed)/"; then
            echo "broken: $room may include only: $*"
            failed=1
        fi
    done
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
