#!/bin/sh
# probe: what it says of servers of several kinds, of wrong addresses, and that it never shows a key.
. "$(dirname "$0")/inc/common.sh"

serve() { # serve MODE: sets $at, the address without its path
    rm -f "$T/port"
    python3 tests/e2e/inc/probe_server.py "$T/port" "$1" &
    server=$!
    for _ in $(seq 50); do [ -s "$T/port" ] && break; sleep 0.1; done
    at=http://127.0.0.1:$(cat "$T/port")
}
stop() { kill "$server"; wait "$server" 2>/dev/null; }
trap 'kill "$server" 2>/dev/null; rm -rf "$T"' EXIT
probe() { "$G" probe --endpoint "$@"; }

# An embedded policy: everything is there.
expect 0 "$G" probe --json
json 'd["usable"] and d["endpoint"] == "builtin:letters" and d["flags"] == "--endpoint builtin:letters"'
json 'all(d["features"][k] for k in ("tools", "structured_calls", "thoughts", "logprobs", "token_ids", "usage", "stream"))'
json 'd["untrainable_reason"] is None and d["calls"][0]["status"] == "valid" and d["body"]["seed"] < 2**53'
json 'isinstance(d["body"]["seed"], int)'
expect 0 "$G" probe
prints 'can be trained on'
awk 'length($0) > 80 { print; bad = 1 } END { exit bad }' "$T/out" || fail 'a line is longer than 80 columns'

serve good
expect 0 probe "$at/v1" --json
json 'd["address_fault"] is None and d["model"] == "m" and d["owner"] == "vllm"'
json 'd["prompt_tokens"] == {"with_tools": 175, "without_tools": 37}'
json 'd["features"]["tools"] and d["features"]["parallel_calls"] and d["features"]["reasoning_effort"]'
json 'd["features"]["stream"] and d["features"]["stream_usage"] and d["features"]["token_ids"]'
json '[r["what"] for r in d["requests"]] == ["models", "first", "without_tools", "strange_effort", "stream"]'
# A body that holds the sampling to a form: not to be trained on, unless the user says so.
expect 0 probe "$at/v1" --json --extra-body '{"tool_choice":"required"}'
json 'd["body"]["tool_choice"] == "required" and d["untrainable_reason"] == "constrained_sampling"'
expect 0 probe "$at/v1" --json --extra-body '{"tool_choice":"required"}' --train-constrained
json 'd["untrainable_reason"] is None'
expect 2 probe "$at/v1" --extra-body '["x"]'
says 'must be a JSON object'
# Addresses as people type them: told, and mended in the advice.
for wrong in "$at" "$at/" "$at/v1/v1" "$at/v1/chat/completions" "${at#http://}/v1"; do
    expect 0 probe "$wrong" --json
    json "d['endpoint'] == '$at/v1' and d['given'] == '$wrong' and d['address_fault']"
    json "d['flags'].startswith('--endpoint $at/v1 ') and 'not right' in d['advice'][0]"
done
for fine in "$at/v1/" "$at//v1"; do
    expect 0 probe "$fine" --json
    json "d['endpoint'] == '$at/v1' and d['address_fault'] is None"
done
expect 0 probe "$at"
prints 'The address is not right: /v1 is missing at its end.'
stop

serve nolist # the list's 404 is a page of HTML, the chat works
expect 0 probe "$at/v1" -m m --json
json 'd["usable"] and d["address_fault"] is None'
expect 0 probe "$at" -m m --json
json "d['endpoint'] == '$at/v1' and d['address_fault'] == '/v1 is missing at its end'"
stop

serve ignored
expect 0 probe "$at/v1" --json
json 'd["features"]["tools"] is False and d["features"]["structured_calls"] is False'
json 'd["features"]["reasoning_effort"] is None and d["features"]["stream"] is False and d["features"]["token_ids"] is False'
json 'd["untrainable_reason"] == "no_token_ids" and any("Tools are ignored" in a for a in d["advice"])'
json '"--extra-body" in d["flags"] and "json_schema" in d["flags"]'
expect 0 probe "$at/v1"
prints 'ignored: the prompt has 37 tokens with tools, 37 without'
awk 'length($0) > 80 && !/guessgym eval/ { print; bad = 1 } END { exit bad }' "$T/out" || fail 'a line is longer than 80 columns'
stop

serve strict # each refused field is told, and what leaves it out
expect 0 probe "$at/v1" --json
json 'd["usable"] and "max_tokens" not in d["body"] and d["body"]["max_completion_tokens"] == 512'
json '"--token-ids off" in d["flags"] and "--max-tokens-field max_completion_tokens" in d["flags"]'
json '"--drop-field temperature" in d["flags"] and d["flags"].count("--token-ids") == 1'
stop

serve text
expect 0 probe "$at/v1" --json
json 'd["features"]["tools"] and d["features"]["structured_calls"] is False'
json 'd["calls"][0]["repairs"] == ["text_object"] and d["calls"][0]["status"] == "valid"'
stop

serve key
expect 3 probe "$at/v1" --json
json 'not d["usable"] and d["requests"][-1]["status"] == 401 and d["flags"] is None'
export GUESSGYM_API_KEY=sesame
expect 0 probe "$at/v1"
prints 'key hidden'
! grep -q sesame "$T/out" "$T/err" || fail 'the key is shown'
expect 0 probe "$at/v1" --json
! grep -q sesame "$T/out" "$T/err" || fail 'the key is shown'
unset GUESSGYM_API_KEY
stop

serve names
expect 3 probe "$at/v1" -m x --json
json 'd["address_fault"] is None and "not in the endpoint" in d["advice"][0]'
stop
serve loading
expect 3 probe "$at/v1"
prints 'still loading'
stop

expect 3 probe http://127.0.0.1:9/v1
says 'cannot reach http://127.0.0.1:9/v1'
expect 3 probe http://no-such-host.invalid/v1
expect 2 probe http://me:secret@127.0.0.1:9/v1
! grep -q secret "$T/err" || fail 'the password is shown'
echo 'probe: everything holds'
