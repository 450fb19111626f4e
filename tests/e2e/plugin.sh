#!/bin/sh
# A game that is no word game, built outside of the tree: checked, played by a scripted endpoint, summarised. And
# what env-check says of games that leak memory or crash.
. "$(dirname "$0")/inc/common.sh"

cp -r examples/env-lock "$T/lock"
rm -f "$T"/lock/*.so
include=$PWD/include
(cd "$T/lock" && PKG_CONFIG_PATH=/nonexistent make -s GG="-I$include") || fail 'the example does not build'
[ "$(find "$T/lock" -name '*.so')" = "$T/lock/lock.so" ] || fail 'the example leaves other than one .so'

expect 0 "$G" env-check "$T/lock/lock.so"; prints 'kept   secret'; prints 'rules are kept'
grep -q 'not tried' "$T/out" && fail 'a rule was not tried on the example'
echo '{"prompt": "{\"answer\": \"12345\"}"}' >"$T/tasks.jsonl"
echo '{"prompt": "54321"}' >>"$T/tasks.jsonl"
expect 0 "$G" env-check "$T/lock/lock.so" --env-set dials=5 --tasks "$T/tasks.jsonl" --json
json 'd["broken"] == 0 and len(d["rules"]) > 20 and all(r["kept"] for r in d["rules"])'
expect 0 "$G" env-check guess --hard; prints 'rules are kept'
expect 2 "$G" env-check "$T/lock/lock.so" --env-set dial=5; says 'did you mean "dials"?'
expect 2 "$G" env-check "$T/none.so"; says none.so

# Played over HTTP, with its own nouns, parts and labels.
python3 tests/e2e/lock_player.py >"$T/url" 2>"$T/player.log" &
player=$!
trap 'kill $player 2>/dev/null; rm -rf "$T"' EXIT
for _ in 1 2 3 4 5 6 7 8 9 10; do [ -s "$T/url" ] && break; sleep 0.2; done
url=$(cat "$T/url")
[ -n "$url" ] || fail 'the scripted endpoint does not start'
expect 0 "$G" eval --env "$T/lock/lock.so" --endpoint "$url" --reward solve=1,right_dials=0.5 --json -o "$T/run"
json 'd["planned"] == 24 == d["solved"] and d["measure"]["name"] == "opened" and d["mean_moves"] <= 4'
expect 0 "$G" eval --env "$T/lock/lock.so" --env-set turns=1 -e "$url" --json -o "$T/short"
json 'd["planned"] == 24 == d["solved"] + d["lost"] and d["lost"] > 20'
expect 0 "$G" compare "$T/short" "$T/run" --json
json 'd["verdict"] == "better" and d["pairs"] == 24'
head -n 1 "$T/run/episodes.jsonl" >"$T/out"
json 'd["env"] == "lock" and d["reward"] == {"total": 1.5, "parts": {"solve": 1, "right_dials": 1}}'
json 'd["labels"] == {"opening": "444"} and d["outcome"] == "solved"'
expect 2 "$G" eval --env "$T/lock/lock.so" --endpoint "$url" --reward greens=1; says 'right_dials'

# A game that keeps its plays, and one that crashes, made from the example. The sanitized program sees leaks by its
# own report, so this needs the other one.
[ -x build/guessgym ] || { echo 'SKIP: build/guessgym is not built; leaks and crashes were not tried'; exit 0; }
broken() { # NAME SED-SCRIPT
    mkdir -p "$T/$1"
    sed "$2" examples/env-lock/lock.c >"$T/$1/lock.c"
    cmp -s "$T/$1/lock.c" examples/env-lock/lock.c && fail "the fault of $1 is not there"
    ${CC:-cc} -std=c11 -I"$include" -fPIC -shared -o "$T/$1/lock.so" "$T/$1/lock.c" || fail "$1 does not build"
    expect 2 build/guessgym env-check "$T/$1/lock.so" --tasks examples/env-lock/tasks.txt
}
broken keeps 's/^    free(play);$/    (void)play;/'; prints 'BROKEN leaks: memory grows'
broken crashes 's/^    gg_buf_str(out, "Open the lock.");$/    *(volatile int *)8 = 1;/'
prints 'kept   tools'; says 'crashed (Segmentation fault)'
echo 'plugin: everything holds'
