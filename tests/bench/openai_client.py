"""The yardstick of agent.sh in Python: AsyncOpenAI sends the bodies of a file and reads the calls.

    openai_client.py BASE_URL BODIES_FILE REQUESTS IN_FLIGHT

Prints a JSON object."""
import asyncio
import json
import sys
import time

import openai

OWN = {"return_token_ids"}  # not parameters of OpenAI's


def arguments(body):
    extra = {k: body.pop(k) for k in OWN & body.keys()}
    return {**body, "extra_body": extra}


async def worker(client, bodies, numbers):
    calls = 0
    for i in numbers:
        reply = await client.chat.completions.create(**bodies[i % len(bodies)])
        json.loads(reply.choices[0].message.tool_calls[0].function.arguments)
        calls += 1
    return calls


async def main(url, path, requests, in_flight):
    with open(path, encoding="utf-8") as lines:
        bodies = [arguments(json.loads(line)) for line in lines]
    client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    numbers = iter(range(requests))
    await worker(client, bodies, range(64))  # imports and connections are not the question
    wall, cpu = time.monotonic(), time.process_time()
    calls = sum(await asyncio.gather(*(worker(client, bodies, numbers) for _ in range(in_flight))))
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    print('{"requests":%d,"cpu_us":%.1f,"per_s":%.0f}' % (calls, 1e6 * cpu / calls, calls / wall))


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
