#!/bin/sh
# The forwarder function under the platform's own runtime emulator: what it posts, and what it answers.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p build
. tests/lib/serve.sh
if ! command -v go >/dev/null; then
    echo "SKIP: no go here; the runtime emulator cannot be built"
    exit 0
fi
if ! GOBIN=$PWD/build/go GOFLAGS=-mod=mod go install \
    github.com/aws/aws-lambda-runtime-interface-emulator/cmd/aws-lambda-rie@latest >build/rie.log 2>&1; then
    echo "SKIP: cannot build the runtime emulator: $(tail -n 1 build/rie.log)"
    exit 0
fi
work=$(mktemp -d)
trap 'kill $agent $emulator 2>/dev/null || :; rm -rf "$work"' EXIT
make -s -C examples/deploy/forwarder clean forwarder CFLAGS="-g -fsanitize=address,undefined"
serve python3 -u tests/interop/deploy_agent.py "$work/got"
agent=$server
port=$((20000 + $$ % 20000))
AGENT_URL=$url/ AGENT_TIMEOUT_SECONDS=2 build/go/aws-lambda-rie --runtime-interface-emulator-address 127.0.0.1:$port \
    "$PWD/examples/deploy/forwarder/forwarder" >"$work/rie.log" 2>&1 &
emulator=$!

invoke() { curl -s --retry 20 --retry-connrefused --retry-delay 1 -d "$1" "http://127.0.0.1:$port/2015-03-31/functions/function/invocations"; }
# is NAME EVENT ANSWER: an answer has to hold the given text; an empty object is what was taken.
is() {
    got=$(invoke "$2")
    case $got in *"$3"*) echo "ok: $1" ;; *) echo "not ok: $1: $got"; cat "$work/rie.log"; exit 1 ;; esac
}
meta='"metadata":{"jobArn":"arn:aws:sagemaker:us-west-2:123456789012:job/AgentRFT/a","rolloutId":"r-1"}'
is "a rollout is handed on" "{\"prompt\":\"{\\\"x\\\":1}\",$meta,\"inferenceParams\":{\"topP\":0.9}}" '{}'
grep -q '"topP":0.9' "$work/got" && grep -q '"prompt":"{\\"x\\":1}"' "$work/got"
is "an event in body" "{\"body\":\"{\\\"prompt\\\":\\\"p\\\",$(printf %s "$meta" | sed 's/"/\\"/g')}\"}" '{}'
is "no prompt" "{$meta}" '"errorType":"ValidationError"'
is "a blank id" '{"prompt":"p","metadata":{"jobArn":"a","rolloutId":" "}}' '"errorType":"ValidationError"'
is "a body that is no JSON" '{"body":"{"}' '"errorType":"ValidationError"'
is "the agent refuses the caller" "{\"prompt\":\"403\",$meta}" '"errorType":"AccessDenied"'
is "the agent finds the rollout wrong" "{\"prompt\":\"400\",$meta}" '"errorType":"ValidationError"'
is "the agent fails" "{\"prompt\":\"500\",$meta}" '"errorType":"InternalServerError"'
is "the agent does not answer in time" "{\"prompt\":\"slow\",$meta}" 'Timeout was reached'
is "and goes on after that" "{\"prompt\":\"p\",$meta}" '{}'
kill "$agent"
wait "$agent" 2>/dev/null || :
is "no agent there" "{\"prompt\":\"p\",$meta}" '"errorType":"InternalServerError"'
