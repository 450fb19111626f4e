#!/bin/sh
# The rehearsal on docs/aws.md runs as it stands there, shortened; every option of ours on the page exists.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' docs/aws.md >"$work/script"
port=$((20000 + $$ % 20000))
sed -i "s/--steps 100 --batch 128/--steps 2 --batch 32/; s/--epochs 20/--epochs 1/; s/127.0.0.1:8080/127.0.0.1:$port/g; s/127.0.0.1:8070/127.0.0.1:$((port + 1))/g" "$work/script"
grep -q -- '--steps 2 --batch 32' "$work/script"
(cd "$work" && PATH=$root/build:$PATH timeout 120 bash -e -m script) >"$work/out" 2>&1 || { cat "$work/out"; exit 1; }
grep -q '^status *Completed' "$work/out"
grep -q 'Completed *job-' "$work/out"
echo "ok: the rehearsal"
grep '^guessgym ' docs/aws.md | sed 's/ &$//' | while read -r line; do
    # An option that does not exist is told before anything else is done; --help stops what would be done.
    sh -c "$root/build/$line --help" >"$work/help" 2>&1 || { echo "not ok: $line"; cat "$work/help"; exit 1; }
    for option in $(printf '%s\n' "$line" | grep -o -- '--[a-z0-9-]*' | grep -v -- '^--$'); do
        case $option in --help | --samples | --resume) continue ;; esac
        grep -q -e "$option" "$work/help" || grep -q -e "${option#--}" "$work/help" || { echo "not ok: no $option in: $line"; exit 1; }
    done
done
echo "ok: the options"
