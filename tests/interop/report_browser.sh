#!/bin/sh
# The report in a real browser: Debian's Chromium, driven by Playwright.
set -eu
cd "$(dirname "$0")/../.."
. tests/lib/venv.sh
need_python playwright playwright
sh .ci/deps.sh browser >build/browser.log 2>&1 || { echo "SKIP: cannot install Chromium: $(tail -n 1 build/browser.log)"; exit 0; }
gg=build/guessgym
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
$gg eval --effort low --limit 40 --samples 4 -q -o "$work/before" >/dev/null
$gg eval --effort high --limit 40 --samples 4 -q -o "$work/after" >/dev/null
python3 tests/interop/report_hostile.py "$work/after/episodes.jsonl"
$gg report "$work/before" "$work/after" -o "$work/report.html"
$gg train --effort low --steps 6 --batch 32 --val-every 2 -q -o "$work/train" >/dev/null
$gg report "$work/train"
$gg eval --effort low --samples 40 -q -o "$work/large" >/dev/null
begun=$(date +%s%N)
$gg report "$work/large"
echo "10,240 plays: report in $((($(date +%s%N) - begun) / 1000000)) ms, $(wc -c <"$work/large/report.html") bytes"
"$python" tests/interop/report_browser.py "$work/report.html" "$work/train/report.html" "$work/large/report.html"
