#!/bin/sh
# Every command shown in a ```sh block of README.md and docs/ runs. What would take minutes, installs packages or needs a
# server of the user's is shortened or left out here, by name, and said. Two pages have tests of their own.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
. tests/lib/serve.sh
dir=$(mktemp -d)
serve build/guessgym serve policy --listen 127.0.0.1:0
trap 'kill $server; wait $server || :; rm -rf "$dir"' EXIT
awk 'FILENAME ~ /tutorial|aws/ { next } /^```sh$/ { on = 1; next } /^```$/ { on = 0 } on { print FILENAME "\t" $0 }' \
    README.md docs/*.md examples/README.md >"$dir/commands"
[ "$(wc -l <"$dir/commands")" -ge 8 ] || { echo "not ok: too few commands found"; exit 1; }
mkdir "$dir/work"
ln -s "$root/build" "$root/examples" "$root/wordlists" "$dir/work/"
cd "$dir/work"
ran=0
while IFS="$(printf '\t')" read -r page command <&3; do
    case $command in
    '' | '#'*) continue ;;
    'make demo' | 'make demo-'* | 'make test' | 'make bench'* | 'make check' | 'make fuzz'* | 'make deps' | 'make interop'* | 'sudo '*)
        grep -q "^${command#make }:" "$root/Makefile" || { echo "not ok: $page: no such target: $command"; exit 1; }
        echo "checked only that the target is there: $command"
        continue
        ;;
    esac
    case $command in
    'mlflow server'* | *mlflow-push* | *--mlflow*)
        echo "left to tests/interop/mlflow.sh, which has a server: $command"
        continue
        ;;
    esac
    case $command in
    *foldoc*) [ -f /usr/share/dictd/foldoc.index ] || { echo "left out, as dict-foldoc is not installed: $command"; continue; } ;;
    esac
    command=$(printf '%s\n' "$command" | sed "s|http://127.0.0.1:8000/v1|$url|; s|^guessgym |build/guessgym |; s|shape\(.*\)--steps 100|shape\1--steps 4|; s|--steps 100|--steps 2|; s|foldoc.py foldoc|& --articles 3000 --train 120 --val 12 --test 40|")
    if ! printf 'crane\nslate\nmoist\nmoist\nmoist\nmoist\nmoist\n' | sh -c "$command" >"$dir/out" 2>&1; then
        echo "not ok: $page: $command"
        tail -n 5 "$dir/out"
        exit 1
    fi
    ran=$((ran + 1))
done 3<"$dir/commands"
echo "ok: $ran commands of README and docs ran"
