"""Drives `guessgym serve agent`. Argument: the program."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

PROGRAM = sys.argv[1]
KEY, SECRET, SESSION = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "SESSION/token+secret=="
ARN = "arn:aws:sagemaker:us-west-2:123456789012:job/AgentRFT/word-job"
PROMPTS = [json.loads(line)["prompt"] for line in open("wordlists/splits/test.jsonl")]
children = []


def start(command, **variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "RFT_", "REASONING_", "GUESSGYM_"))}
    environment.update(variables, HOME="/nowhere", AWS_EC2_METADATA_DISABLED="true")
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    children.append(child)
    child.lines = []
    threading.Thread(target=lambda: child.lines.extend(child.stderr), daemon=True).start()
    child.url = child.stdout.readline().strip()
    assert child.url.startswith("http://"), (command, child.lines)
    return child


def call(url, body=None, timeout=60, method=None):
    """Status, JSON, headers."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as reply:
            return reply.status, json.loads(reply.read()), reply.headers
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"{}"), error.headers


def invocation(name, **more):
    return {"prompt": PROMPTS[0], "metadata": {"jobArn": ARN, "rolloutId": name},
            "inferenceParams": {"temperature": 1.0, "topP": 1.0, "maxTokens": 2048}, **more}


def many(jobs):
    """Runs all at once; their results in order."""
    results = [None] * len(jobs)

    def run(index, job):
        results[index] = job()

    threads = [threading.Thread(target=run, args=item) for item in enumerate(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def look(name=None):
    state = call(runtime.url)[1]
    return state["trajectories"].get(name) if name else state


def equal(what, got, wanted):
    assert got == wanted, f"{what}: {got!r}, not {wanted!r}"


# ---------------------------------------------------------------- what is asked, in every spelling


def test_shapes():
    base = runtime.url
    snake = {"temperature": 0.5, "top_p": 0.9, "max_tokens": 512}
    rows = [
        (invocation("a-1"), {"temperature": 1, "top_p": 1, "max_tokens": 2048}),
        ({"prompt": PROMPTS[1], "metadata": {"job_arn": ARN, "trajectory_id": "a-2"}, "inference_params": snake}, snake),
        ({"instance": {"prompt": PROMPTS[2]}, "metadata": {"jobArn": ARN, "trajectoryId": "a-3"}},
         {"temperature": 1, "top_p": 1, "max_tokens": 4096}),
        ({"instance": {"answer": json.loads(PROMPTS[2])["answer"]}, "metadata": {"jobArn": ARN, "rollout_id": "a-4"}}, {}),
        ({"body": json.dumps(invocation("a-5"))}, {}),
        (invocation("a-6", metadata={"jobArn": ARN, "rolloutId": "a-6", "endpoint": base + "/v1", "region": "eu-west-1"}), {}),
        (invocation("a-7", inferenceParams=None, extra={"x": [1]}), {"max_tokens": 4096}),
        ({"prompt": PROMPTS[3], "jobArn": ARN, "rolloutId": "a-8", "model_endpoint": base + "/"}, {}),
    ]
    for number, (body, sampling) in enumerate(rows, 1):
        name = f"a-{number}"
        status, reply, _ = call(agent.url + ("/invocations" if number % 2 else "/rollout"), body)
        equal(name, (status, reply.get("status"), reply.get("reported")), (200, "completed", True))
        seen = look(name)
        equal(name, (seen["sealed"], seen["rewards"]), ("ready", [reply["reward"]]))
        equal(name, seen["order"][-2:], ["/complete-rollout", "/update-reward"])
        equal(name, len(set(seen["tokens"])), 2)
        assert all(len(token) == 36 for token in seen["tokens"]), seen["tokens"]
        assert reply["outcome"] in ("solved", "lost", "forfeited", "truncated"), reply
        equal(name, reply["turns"], len(seen["requests"]))
        first = seen["requests"][0]
        for key, value in sampling.items():
            equal(f"{name} {key}", first[key], value)
        equal(name, (first["model"], first["reasoning_effort"]), ("default", "low"))
        assert "seed" not in first and "logprobs" not in first and "return_token_ids" not in first, first
        assert "Reasoning: low" in first["messages"][0]["content"], first["messages"][0]


def test_bad_bodies():
    long = "x" * 257
    rows = [
        (b"", "the body is not JSON"), (b"{", "the body is not JSON"), (b"[]", "not a JSON object"),
        (b"\xff\xfe{}", "the body is not JSON"), (b"[" * 100000, "the body is not JSON"),
        ({}, "prompt is missing"), ({"prompt": ""}, "prompt is empty"), ({"prompt": 3}, "prompt is neither"),
        ({"prompt": "x"}, "metadata.jobArn is missing"),
        ({"prompt": "x", "metadata": 7}, "metadata is not an object"),
        ({"prompt": "x", "metadata": {"jobArn": ARN}}, "metadata.rolloutId is missing"),
        ({"prompt": "x", "metadata": {"jobArn": "", "rolloutId": "r"}}, "metadata.jobArn is missing"),
        ({"prompt": "x", "metadata": {"jobArn": ARN, "rolloutId": 5}}, "metadata.rolloutId is not a string"),
        ({"prompt": "x", "metadata": {"jobArn": ARN, "rolloutId": long}}, "longer than 256"),
        ({"prompt": "x", "metadata": {"jobArn": ARN, "rolloutId": "a\r\nX-Evil: 1"}}, "control character"),
        ({"prompt": "x", "metadata": {"jobArn": ARN + "\n", "rolloutId": "a"}}, "control character"),
        ({"prompt": "x", "metadata": {"jobArn": ARN, "rolloutId": "a", "region": "../x"}}, "no region's name"),
        (invocation("b", inferenceParams={"temperature": "hot"}), "temperature is not a number"),
        (invocation("b", inferenceParams={"temperature": -1}), "temperature must be"),
        (invocation("b", inferenceParams={"topP": 1.5}), "topP must be"),
        (invocation("b", inferenceParams={"maxTokens": 2.5}), "maxTokens must be a whole number"),
        (invocation("b", inferenceParams=[]), "inferenceParams is not an object"),
        ({"body": "{"}, "the event's body is not JSON"),
    ]
    for body, text in rows:
        status, reply, _ = call(agent.url + "/invocations", body)
        equal(text, (status, reply["errorType"]), (400, "ValidationError"))
        assert text in reply["errorMessage"], (text, reply)
    for method, path, status in (("GET", "/invocations", 405), ("POST", "/ping", 405), ("DELETE", "/health", 405),
                                 ("GET", "/", 404), ("POST", "/v1/chat/completions", 404)):
        got, reply, headers = call(agent.url + path, b"{}" if method == "POST" else None, method=method)
        equal(path, got, status)
        assert reply["errorMessage"], reply
        if status == 405:
            assert headers["Allow"] in ("GET", "POST"), headers
    big = b'{"prompt":"' + b"x" * (9 << 20) + b'"}'
    equal("a body over the cap", call(agent.url + "/invocations", big)[0], 413)


def test_places():
    """The token stays where it belongs."""
    trap = socket.create_server(("127.0.0.1", 0))
    trap.settimeout(0.2)
    port = trap.getsockname()[1]
    own = runtime.url.split(":")[2]
    for endpoint in (f"http://127.0.0.1:{port}", f"http://localhost:{own}", "https://evil.example/",
                     f"http://127.0.0.1:{own}@127.0.0.1:{port}", f"http://127.0.0.1:{own}\\@127.0.0.1:{port}/",
                     "https://job-runtime.sagemaker.us-west-2.api.aws.evil.example", "ftp://127.0.0.1",
                     f"http://127.0.0.1:{port}/?x=http://127.0.0.1:{own}", f"http://127.0.0.1:{port}#@127.0.0.1:{own}",
                     "http://job-runtime.sagemaker.us-west-2.api.aws", "https://job-runtime.sagemaker.us-west-2.api.aws:8443",
                     "https://job-runtime.sagemaker.x.y.api.aws"):
        metadata = {"jobArn": ARN, "rolloutId": "c-1", "endpoint": endpoint}
        status, reply, _ = call(agent.url + "/invocations", invocation("c-1", metadata=metadata))
        equal(endpoint, (status, reply["errorType"]), (403, "AccessDenied"))
    try:
        trap.accept()
        raise AssertionError("something came to another address")
    except TimeoutError:
        pass
    equal("nothing was asked", look("c-1"), None)


def test_trouble():
    rows = [  # name, status of the answer, its "status", reported, rewards seen, outcome
        ("unknown-1", 200, "skipped", None, None), ("sealed-1", 200, "skipped", None, None),
        ("conflict-1", 200, "skipped", None, None),
        ("nojob-1", 500, None, None, None), ("foreign-1", 500, None, None, None),
        ("flaky-1", 200, "completed", True, "same"), ("throttled-1", 200, "completed", True, "same"),
        ("expired-1", 200, "completed", True, "same"),
        ("dead-1", 200, "completed", True, [0]), ("midway-1", 200, "completed", True, [0]),
        ("unpaid-1", 200, "completed", False, None),
    ]
    results = many([lambda row=row: call(agent.url + "/invocations", invocation(row[0])) for row in rows])
    for (name, status, word, reported, rewards), (got, reply, _) in zip(rows, results):
        equal(name, (got, reply.get("status"), reply.get("reported")), (status, word, reported))
        seen = look(name)
        equal(name, seen["rewards"], [reply["reward"]] if rewards == "same" else rewards)
        if name in ("dead-1", "midway-1"):
            equal(name, (reply["outcome"], reply["tries"]), ("errored", 2 if name == "dead-1" else 1))
            equal(name, seen["sealed"], "ready")
        if status == 500:
            assert reply["errorType"] == "InternalServerError" and reply["errorMessage"], reply
    equal("a prompt that the game refuses", call(agent.url + "/rollout", invocation("d-1", prompt="{}"))[0], 400)
    equal("reported all the same", look("d-1")["rewards"], [0])


# ---------------------------------------------------------------- many at once


def test_many():
    """96 rollouts wait for the model at the same time; 100 connections say nothing, one says half."""
    port = int(agent.url.split(":")[2])
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
    half = socket.create_connection(("127.0.0.1", port))
    half.sendall(b"POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"prompt\":")
    before = call(agent.url + "/ping")[1]
    equal("ping", before["status"], "Healthy")
    call(runtime.url + "/hold", {"count": 97})
    names = [f"e-{i}" for i in range(96)]
    box = []
    crowd = threading.Thread(target=lambda: box.extend(many(
        [lambda n=n: call(agent.url + "/invocations", invocation(n, prompt=PROMPTS[int(n[2:])])) for n in names])))
    crowd.start()
    for _ in range(600):
        if look()["waiting"] == 96:
            break
        time.sleep(0.05)
    equal("rollouts in flight at once", look()["waiting"], 96)
    busy = call(agent.url + "/ping")[1]
    equal("ping", busy["status"], "HealthyBusy")
    time.sleep(1.1)
    equal("the time changes only with the status", call(agent.url + "/ping")[1], busy)
    status, reply, _ = call(agent.url + "/invocations", invocation("e-0"))
    equal("sent twice", (status, reply["status"]), (200, "skipped"))
    last = call(agent.url + "/invocations", invocation("e-96"))  # the 97th lets all go on
    crowd.join()
    for name, (status, reply, _) in zip(names + ["e-96"], box + [last]):
        equal(name, (status, reply["status"], reply["reported"]), (200, "completed", True))
        equal(name, look(name)["rewards"], [reply["reward"]])
    after = call(agent.url + "/ping")[1]
    equal("ping", after["status"], "Healthy")
    assert after["time_of_last_update"] >= busy["time_of_last_update"], (after, busy)
    for connection in idle + [half]:
        connection.close()


def test_drain():
    """The first SIGTERM lets rollouts end; new ones hear 503."""
    worker = start(COMMAND, **KEYS)
    box = []
    crowd = threading.Thread(target=lambda: box.extend(many(
        [lambda i=i: call(worker.url + "/rollout", invocation(f"slow-{i}")) for i in range(4)])))
    crowd.start()
    while not all((look(f"slow-{i}") or {"turns": 0})["turns"] for i in range(4)):
        time.sleep(0.02)
    worker.send_signal(signal.SIGTERM)
    time.sleep(0.2)
    equal("health", call(worker.url + "/health")[0], 503)
    equal("a new one", call(worker.url + "/rollout", invocation("late"))[0], 503)
    crowd.join()
    for status, reply, _ in box:
        equal("drained", (status, reply["status"], reply["reported"]), (200, "completed", True))
    equal("exit code", worker.wait(20), 0)
    # two signals: at once
    worker = start(COMMAND, **KEYS)
    call(runtime.url + "/hold", {"count": 50})
    box = []
    crowd = threading.Thread(target=lambda: box.append(call(worker.url + "/rollout", invocation("f-1"))))
    crowd.start()
    while not look("f-1"):
        time.sleep(0.02)
    worker.send_signal(signal.SIGTERM)
    time.sleep(0.3)
    worker.send_signal(signal.SIGTERM)
    equal("exit code", worker.wait(20), 0)
    crowd.join()
    equal("what was owed", box[0][0], 503)
    call(runtime.url + "/hold", {"count": 0})


def test_early_and_full():
    worker = start(COMMAND + ["--reply", "early", "--concurrency", "1"], **KEYS)
    call(runtime.url + "/hold", {"count": 50})
    status, reply, _ = call(worker.url + "/rollout", invocation("g-1"))
    equal("early", (status, reply), (200, {"status": "accepted", "rolloutId": "g-1"}))
    status, reply, headers = call(worker.url + "/rollout", invocation("g-2"))
    equal("full", (status, reply["errorType"], headers["Retry-After"]), (429, "Throttling", "1"))
    call(runtime.url + "/hold", {"count": 0})
    while not (look("g-1") or {}).get("rewards"):
        time.sleep(0.02)
    worker.send_signal(signal.SIGTERM)
    equal("exit code", worker.wait(20), 0)


def test_settings():
    """What is missing is told, at the start or by the rollout that needs it."""
    worker = start([PROGRAM, "serve", "agent", "--listen", "127.0.0.1:0", "--runtime-endpoint", runtime.url,
                    "--attempts", "1"])
    assert any("no region is set" in line for line in worker.lines) or not time.sleep(0.5) and \
        any("no region is set" in line for line in worker.lines), worker.lines
    status, reply, _ = call(worker.url + "/rollout", invocation("h-1"))
    equal("no region", status, 500)
    assert "no region to sign for" in reply["errorMessage"], reply
    metadata = {"jobArn": ARN, "rolloutId": "h-2", "region": "us-west-2"}
    status, reply, _ = call(worker.url + "/rollout", invocation("h-2", metadata=metadata))
    equal("no credentials", status, 500)
    assert "there are no AWS credentials" in reply["errorMessage"], reply
    worker.send_signal(signal.SIGTERM)
    equal("exit code", worker.wait(20), 0)
    for flags, text in ((["--region", "US_WEST"], "no region's name"), (["--runtime-endpoint", "nowhere"], "not like https"),
                        (["--allow-endpoint", "http://u:p@h"], "allowed endpoint"), (["--effort", "huge"], "huge"),
                        (["--listen", "nonsense"], "listen"), (["--budget", "0"], "budget")):
        result = subprocess.run([PROGRAM, "serve", "agent", "--listen", "127.0.0.1:0"] + flags, capture_output=True,
                                text=True, timeout=20)
        equal(flags, result.returncode, 2)
        assert text in result.stderr, (flags, result.stderr)


try:
    policy = start([PROGRAM, "serve", "policy", "--listen", "127.0.0.1:0"])
    runtime = start([sys.executable, "tests/lib/runtime.py", policy.url, KEY, SECRET])
    COMMAND = [PROGRAM, "serve", "agent", "--listen", "127.0.0.1:0", "--attempts", "3"]
    KEYS = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_SESSION_TOKEN": SESSION,
            "AWS_REGION": "us-west-2", "RFT_RUNTIME_ENDPOINT": runtime.url, "REASONING_EFFORT": "low",
            "REASONING_PROMPT_HINT": "true", "ROLLOUT_BUDGET_SECONDS": "60"}
    agent = start(COMMAND, **KEYS)
    for test in (test_shapes, test_bad_bodies, test_places, test_trouble, test_many, test_drain, test_early_and_full,
                 test_settings):
        begun = time.monotonic()
        test()
        print(f"ok {test.__name__} ({time.monotonic() - begun:.1f} s)", flush=True)
    equal("what the runtime found wrong", look()["problems"], [])
    said = "".join(line for child in children for line in child.lines)
    for secret in (SECRET, SESSION, "sagemaker-api-key-"):
        assert secret not in said, "a secret in the log"
    assert "AddressSanitizer" not in said and "runtime error" not in said, said
    agent.send_signal(signal.SIGTERM)
    equal("exit code", agent.wait(20), 0)
finally:
    for child in children:
        if child.poll() is None:
            child.terminate()
            child.wait(20)
