"""An agent of the Strands framework behind POST /invocations; prints its address.

Its model is Strands' OpenAI model at the jobs' runtime; the tool is a plain function. Completed and rewarded with boto3.
"""

import json
import sys
from http.server import ThreadingHTTPServer

import boto3
from strands import Agent, tool
from strands.hooks import AfterToolCallEvent
from strands.models.openai import OpenAIModel

sys.path.insert(0, "tests/lib")
import python_agent as plain  # noqa: E402


def play(meta, params, hidden):
    """One game; 1 when solved, else the share of right letters of the last guess, halved."""
    told = []

    @tool
    def guess_word(guess: str) -> str:
        """Guess the hidden word.

        Args:
            guess: a word
        """
        if len(told) >= plain.GUESSES or (told and told[-1] == 1):
            return "The game is over."
        found = plain.marks(guess, hidden)
        told.append(found.count("green") / len(hidden))
        return f"Guess {len(told)}: " + " ".join(f"{g}={m}" for g, m in zip(guess, found))

    model = OpenAIModel(
        client_args={
            "base_url": meta["endpoint"] + "/v1",
            "api_key": plain.token(meta["region"]),
            "default_headers": {
                "X-Amzn-SageMaker-Job-Arn": meta["jobArn"],
                "X-Amzn-SageMaker-Trajectory-Id": meta["rolloutId"],
            },
        },
        model_id="default",
        params={"temperature": params["temperature"], "max_tokens": params["maxTokens"], "reasoning_effort": "low"},
    )
    agent = Agent(
        model=model,
        tools=[guess_word],
        system_prompt=f"Find one hidden English word of {len(hidden)} letters.",
        callback_handler=None,
    )
    # The policy goes on guessing for ever: the game ends the loop.
    agent.add_hook(lambda event: stop_at_end(event, told), AfterToolCallEvent)
    agent("Guess the word")
    return 1.0 if told and told[-1] == 1 else told[-1] / 2 if told else -1.0


def stop_at_end(event, told):
    if told and (told[-1] == 1 or len(told) == plain.GUESSES):
        event.invocation_state.setdefault("request_state", {})["stop_event_loop"] = True


class Handler(plain.Agent):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        meta = request["metadata"]
        try:
            reward = play(meta, request["inferenceParams"], json.loads(request["prompt"])["answer"])
        except Exception as error:  # whatever the framework raises is a failed rollout
            self.reply(500, {"error": repr(error)})
            return
        runtime = boto3.session.Session().client(
            "sagemakerjobruntime", endpoint_url=meta["endpoint"], region_name=meta["region"]
        )
        names = {"JobArn": meta["jobArn"], "TrajectoryId": meta["rolloutId"]}
        runtime.complete_rollout(**names)
        runtime.update_reward(**names, Rewards=[reward])
        self.reply(200, {"reward": reward})


if __name__ == "__main__":
    ThreadingHTTPServer.request_queue_size = 256
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
