"""What a user of the official Python client sees of an embedded policy."""
import asyncio
import json
import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1], api_key="unused", max_retries=0)
TOOLS = [{"type": "function", "function": {"name": "guess_word", "parameters": {
    "type": "object", "properties": {"guess": {"type": "string"}}, "required": ["guess"]}}}]
ASK = dict(model="letters", tools=TOOLS, seed=11, messages=[
    {"role": "system", "content": "You play."}, {"role": "user", "content": "Guess the 5-letter word"}])


def word(message):
    call = message.tool_calls[0]
    assert call.type == "function" and call.function.name == "guess_word", call
    guess = json.loads(call.function.arguments)["guess"]
    assert len(guess) == 5 and guess.isalpha() and guess.islower(), guess
    return guess


assert [m.id for m in client.models.list()] == ["letters"]

low = client.chat.completions.create(**ASK, reasoning_effort="low", logprobs=True,
                                     extra_body={"return_token_ids": True})
choice = low.choices[0]
assert choice.finish_reason == "tool_calls"
word(choice.message)
assert low.usage.total_tokens == low.usage.prompt_tokens + low.usage.completion_tokens
assert low.usage.completion_tokens_details.reasoning_tokens == 0
assert len(choice.logprobs.content) == low.usage.completion_tokens == len(choice.token_ids)
assert len(low.prompt_token_ids) == low.usage.prompt_tokens
assert all(entry.logprob <= 0 for entry in choice.logprobs.content)
assert any(entry.logprob < 0 for entry in choice.logprobs.content)

high = client.chat.completions.create(**ASK, reasoning_effort="high")
assert high.usage.completion_tokens_details.reasoning_tokens > 0
assert high.choices[0].message.reasoning

# A second turn: the tool's answer goes back, the policy goes on.
messages = ASK["messages"] + [choice.message.model_dump(exclude_none=True), {
    "role": "tool", "tool_call_id": choice.message.tool_calls[0].id, "content": "Guess 1: " + " ".join(
        f"{letter}=grey" for letter in word(choice.message))}]
second = client.chat.completions.create(**{**ASK, "messages": messages}, reasoning_effort="low")
assert word(second.choices[0].message) != word(choice.message)

# The stream adds up to the whole reply of the same seed.
arguments, finish, usage = "", None, None
with client.chat.completions.create(**ASK, reasoning_effort="low", stream=True,
                                    stream_options={"include_usage": True}) as stream:
    for chunk in stream:
        usage = chunk.usage or usage
        for part in chunk.choices:
            finish = part.finish_reason or finish
            for call in part.delta.tool_calls or []:
                arguments += call.function.arguments or ""
assert json.loads(arguments)["guess"] == word(choice.message)
assert finish == "tool_calls" and usage.completion_tokens == low.usage.completion_tokens

for change, kind in (({"reasoning_effort": "extreme"}, openai.BadRequestError), ({"stop": ["x"]}, openai.BadRequestError),
                     ({"model": "gpt-9"}, openai.NotFoundError)):
    try:
        client.chat.completions.create(**{**ASK, **change})
    except kind as error:
        assert error.body["message"] and error.body["param"] in change, error.body
    else:
        raise AssertionError(f"{change} was taken")


async def many():
    """64 at once, each with its own seed: every reply is the one that the same seed gives alone."""
    async with openai.AsyncOpenAI(base_url=sys.argv[1], api_key="unused") as loop_client:
        return await asyncio.gather(*(loop_client.chat.completions.create(**{**ASK, "seed": seed}) for seed in range(64)))


for seed, reply in enumerate(asyncio.run(many())):
    if seed % 16 == 0:
        assert word(reply.choices[0].message) == word(
            client.chat.completions.create(**{**ASK, "seed": seed}).choices[0].message)
print("ok Python client", openai.__version__)
