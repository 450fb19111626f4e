#!/bin/sh
# The report without a browser: its figures are the summary's, both runs are in it, hostile text is no markup, and
# what cannot be told is refused. `view` in a pipe shows the same plays. The browser's part is in tests/interop.
set -eu
cd "$(dirname "$0")/../.."
gg=build/test/guessgym
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
$gg eval --effort low --limit 20 --samples 3 -q -o "$work/before" >/dev/null
$gg eval --effort high --limit 20 --samples 3 -q -o "$work/after" >/dev/null
python3 tests/interop/report_hostile.py "$work/after/episodes.jsonl"
$gg report "$work/before" "$work/after" -o "$work/both.html" | grep -qx "$work/both.html"
$gg report "$work/before" | grep -qx "$work/before/report.html"
$gg train --effort low --steps 2 --batch 32 -q -o "$work/train" >/dev/null
$gg report "$work/train" --no-plots -o - >"$work/train.html"
python3 - "$work" <<'END'
import base64, html, json, re, sys, zlib
work = sys.argv[1]
page = open(work + "/both.html", encoding="utf-8").read()
for run, when in (("before", "before"), ("after", "after")):
    s = json.load(open(f"{work}/{run}/summary.json"))
    shown = f'<b>{100 * s["solve_rate"]:.1f}&#8201;%</b><span>solved {when}, {100 * s["solve_rate_low"]:.1f} to {100 * s["solve_rate_high"]:.1f} %'
    assert shown in page, shown
data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1))
assert len(data["episodes"]) == 120 and data["runs"] == [work + "/before", work + "/after"]
pieces = re.findall(r'id="chunk\d+">([^<]*)</script>', page)
plays = [play for piece in pieces for play in json.loads(zlib.decompress(base64.b64decode(piece)))]
assert len(plays) == 120 and all(play["t"] for play in plays)
assert any("</script>" in call["x"] for play in plays for turn in play["t"] for call in turn["c"])
assert "<img src=x" not in page and page.count("<script") == len(pieces) + 2, page.count("<script")
assert "script-src 'sha256-" in page and "http-equiv=\"Content-Security-Policy\"" in page
train = open(work + "/train.html", encoding="utf-8").read()
assert train.count("<svg") == 0 and train.count('<div class="plot"><div class="scroll"><table>') == 4
print("ok: figures, plays, hostile text, tables for plots")
END
$gg view "$work/after" --filter repaired >"$work/view"
grep -q "window.owned" "$work/view" && ! grep -q "$(printf '\033')" "$work/view"
[ "$($gg view "$work/before" --id s0-g0-1 | grep -c '^s0-g0-1 ')" -eq 1 ]
python3 -c 'import sys; assert all(len(line) <= 81 for line in open(sys.argv[1], encoding="utf-8", newline="\n")), "wider than 80 columns"' "$work/view"
echo "ok: view in a pipe"
code=0
$gg report "$work/none" 2>"$work/err" || code=$?
[ $code -eq 2 ] && grep -q "$work/none" "$work/err"
code=0
$gg report "$work/before" -o "$work/none/x.html" 2>"$work/err" || code=$?
[ $code -eq 2 ] && [ ! -e "$work/none" ]
echo "ok: what is not there is refused"
