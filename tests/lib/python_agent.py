"""An agent as somebody else would write it: POST /invocations in, played with the OpenAI client through the jobs'
runtime, completed and rewarded with boto3. Prints its address.

usage: python_agent.py [--port N] [--faults NAME=SHARE ...]

Faults by the rollout's number: `error` answers HTTP 500 and reports nothing, `failed` completes as failed with reward
0, `quiet` completes without a reward, `slow` waits a second first.
"""

import argparse
import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import boto3
import botocore.auth
import botocore.awsrequest
import botocore.config
import botocore.session
import openai

GUESSES = 6
TOOL = {
    "type": "function",
    "function": {
        "name": "guess_word",
        "description": "Guess the hidden word.",
        "parameters": {
            "type": "object",
            "properties": {"guess": {"type": "string"}},
            "required": ["guess"],
        },
    },
}


def token(region):
    """The bearer token of the managed runtime, by botocore's own signer."""
    request = botocore.awsrequest.AWSRequest(
        method="POST", url="https://sagemaker.amazonaws.com/", params={"Action": "CallWithBearerToken"}
    )
    credentials = botocore.session.get_session().get_credentials()
    botocore.auth.SigV4QueryAuth(credentials, "sagemaker", region, expires=43200).add_auth(request)
    text = request.url[len("https://") :] + "&Version=1"
    return "sagemaker-api-key-" + base64.b64encode(text.encode()).decode()


def marks(guess, hidden):
    out = ["green" if g == h else "grey" for g, h in zip(guess, hidden)]
    rest = [h for h, m in zip(hidden, out) if m != "green"]
    for i, g in enumerate(guess):
        if out[i] == "grey" and g in rest:
            out[i] = "yellow"
            rest.remove(g)
    return out


def play(client, hidden, extra, params):
    """One game; the share of right letters in the last guess, 1 when solved."""
    messages = [
        {"role": "system", "content": f"Find one hidden English word of {len(hidden)} letters."},
        {"role": "user", "content": "Guess the word"},
    ]
    found = []
    for turn in range(1, GUESSES + 1):
        reply = client.chat.completions.create(
            model="default",
            messages=messages,
            tools=[TOOL],
            temperature=params.get("temperature", 1),
            top_p=params.get("topP", 1),
            max_tokens=params.get("maxTokens", 512),
            reasoning_effort="low",
            extra_headers=extra,
        )
        message = reply.choices[0].message
        if not message.tool_calls:
            break
        call = message.tool_calls[0]
        guess = json.loads(call.function.arguments)["guess"]
        found = marks(guess, hidden)
        messages.append(message.model_dump(exclude_none=True))
        text = f"Guess {turn}: " + " ".join(f"{g}={m}" for g, m in zip(guess, found))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
        if guess == hidden:
            return 1.0
    return found.count("green") / len(hidden) / 2 if found else -1.0


class Agent(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    faults = {}
    lock = threading.Lock()
    count = 0
    clients = threading.local()

    def log_message(self, *args):
        pass

    def reply(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.reply(200, {"status": "Healthy"})

    def fault(self):
        with Agent.lock:
            Agent.count += 1
            for name, every in self.faults.items():
                if Agent.count % every == 0:
                    return name
        return None

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        meta, params = request["metadata"], request.get("inferenceParams", {})
        job, rollout = meta["jobArn"], meta["rolloutId"]
        fault = self.fault()
        if fault == "error":
            self.reply(500, {"error": "on purpose"})
            return
        extra = {"X-Amzn-SageMaker-Job-Arn": job, "X-Amzn-SageMaker-Trajectory-Id": rollout}
        if not hasattr(self.clients, "chat"):
            self.clients.chat = openai.OpenAI(base_url=meta["endpoint"] + "/v1", api_key=token(meta["region"]))
            self.clients.runtime = boto3.session.Session().client(
                "sagemakerjobruntime",
                endpoint_url=meta["endpoint"],
                region_name=meta["region"],
                config=botocore.config.Config(retries={"max_attempts": 0}),
            )
        try:
            reward = play(self.clients.chat, json.loads(request["prompt"])["answer"], extra, params)
            status = "failed" if fault == "failed" else "ready"
            self.clients.runtime.complete_rollout(JobArn=job, TrajectoryId=rollout, Status=status)
            if fault != "quiet":
                rewards = [0.0] if fault == "failed" else [reward]
                self.clients.runtime.update_reward(JobArn=job, TrajectoryId=rollout, Rewards=rewards)
            self.reply(200, {"reward": reward})
        except (openai.APIError, botocore.exceptions.ClientError) as error:
            self.reply(500, {"error": str(error)})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--faults", nargs="*", default=[], help="NAME=N: every N-th rollout")
    options = parser.parse_args()
    Agent.faults = {name: int(every) for name, every in (f.split("=") for f in options.faults)}
    ThreadingHTTPServer.daemon_threads = True
    ThreadingHTTPServer.request_queue_size = 256
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Agent)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
