# shellcheck shell=sh
# `start_jobs STATE [OPTION...]` starts an agent and a service that has it play, and sets
# $agent, $agent_url, $server and $url. The caller stops them with `stop_jobs`.
. tests/lib/serve.sh
export AWS_ACCESS_KEY_ID=AKIDEXAMPLE AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY
export AWS_DEFAULT_REGION=us-west-2 PYTHONPATH=tests/lib GUESSGYM_DATA="$PWD"
G=${GUESSGYM:-build/test/guessgym}

# shellcheck disable=SC2120 # options are given by some callers
start_agent() {
    serve "$G" serve agent --listen 127.0.0.1:0 --region us-west-2 --allow-endpoint 127.0.0.1 --effort low "$@"
    agent=$server
    agent_url=$url
}
start_jobs() {
    jobs_state=$1
    shift
    # shellcheck disable=SC2119 # the options are the service's
    start_agent
    serve "$G" serve service --listen 127.0.0.1:0 --state "$jobs_state" --agent "$agent_url" --rollout-tps 0 "$@"
}
stop_jobs() {
    kill "$server" "$agent" 2>/dev/null || :
    wait "$server" "$agent" 2>/dev/null || :
}
