#!/bin/sh
# Static checks over the whole tree. Every one runs, so that one run names everything that is wrong.
# The compilers' flags are in build/flags, written by make.
set -u
cd "$(dirname "$0")/.." || exit 1
# Examples are built by their own Makefiles, in a test.
sources=$(git ls-files -co --exclude-standard '*.c' | grep -v '^examples/')
ours=$(git ls-files -co --exclude-standard '*.c' '*.h')
scripts=$(git ls-files -co --exclude-standard '*.sh'; echo .ci/run)
failed=''
eval "set -- $(cat build/flags)" # now they are the arguments

step() {
    name=$1
    shift
    if "$@"; then echo "ok   $name"; else failed="$failed $name"; echo "FAIL $name"; fi
}
# One compiler over every file, two files at a time.
compile() { echo "$sources" | xargs -P 2 -n 1 "$@" -std=c11 -Werror -fsyntax-only; }
# The program and its library; tests are read by the compilers and run under the sanitizers.
tidy() {
    echo "$sources" | grep -vE '^tests/|^core/error\.c' |
        xargs -P 2 -I '{}' clang-tidy --quiet '{}' -- -std=c11 "$@" -include .ci/analyzer.h 2>/dev/null
}
format() {
    # shellcheck disable=SC2086 # one word a file
    clang-format --dry-run -Werror $ours
}
cpp() {
    # shellcheck disable=SC2046 # one word a file
    cppcheck -q -j 2 --std=c11 --enable=warning,performance,portability --inline-suppr \
        --error-exitcode=1 --suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches \
        --suppress=unknownMacro --suppress=checkersReport --suppress=arrayIndexThenCheck -I. -Iinclude \
        $(echo "$sources" | grep -v '^tests/')
}

step rules sh tests/rules.sh
step format format
# shellcheck disable=SC2086 # one word a file
step shellcheck shellcheck $scripts
step gcc compile gcc "$@"
step clang compile clang "$@"
step cppcheck cpp
step clang-tidy tidy "$@"
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
echo "check: everything holds"
