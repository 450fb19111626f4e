"""A job whose service is killed again and again ends with the weights of one that nobody disturbed.

usage: jobs_killed.py PROGRAM AGENT_URL STATE KILLS
"""

import os
import random
import signal
import socket
import subprocess
import sys
import time

import boto3

import job_documents as jobs

program, agent, state, kills = sys.argv[1:]
SETTINGS = {"global_batch_size": 32, "group_size": 2, "max_epochs": 30, "learning_rate": 0.01,
            "max_steps_off_policy": 0, "max_steps": 30}
seed = int(os.environ.get("SEED", time.time_ns() % 1000000))
print("seed", seed)
draw = random.Random(seed)
with socket.create_server(("127.0.0.1", 0)) as probe:  # always the same: rollouts of before find the new service
    PORT = probe.getsockname()[1]


def start():
    service = subprocess.Popen(
        [program, "serve", "service", "--quiet", "--listen", f"127.0.0.1:{PORT}", "--state", state, "--agent", agent,
         "--rollout-tps", "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    url = service.stdout.readline().strip()
    assert url, "the service did not start"
    return service, boto3.client("sagemaker", endpoint_url=url, region_name=jobs.REGION)


def result(client, name):
    done = jobs.follow(client, name, limit=300)
    assert done["JobStatus"] == "Completed", done
    output = jobs.service_output(done)
    container = client.describe_model_package(ModelPackageName=output["OutputModelPackageArn"])
    uri = container["InferenceSpecification"]["Containers"][0]["ModelDataSource"]["S3DataSource"]["S3Uri"]
    with open(os.path.join(state, "s3", uri[len("s3://") :], "adapter.json"), "rb") as file:
        adapter = file.read()
    with open(os.path.join(state, "s3/out", name, "metrics.jsonl"), encoding="utf-8") as file:
        lines = len(file.readlines())
    return adapter, output["RolloutInfo"], output["BillableTokenUsage"], lines


def document(name):
    return jobs.training("s3://data/train.jsonl", None, "s3://out", SETTINGS, (name, name + "-checkpoint"))


service, client = start()
began = time.monotonic()
jobs.create(client, "whole", document("whole"))
want = result(client, "whole")
took = time.monotonic() - began
jobs.create(client, "killed", document("killed"))
for _ in range(int(kills)):
    time.sleep(draw.uniform(0, 1.5 * took / int(kills)))
    service.send_signal(signal.SIGKILL)
    service.wait()
    service, client = start()
try:
    have = result(client, "killed")
finally:
    service.terminate()
    service.wait()
assert have[0] == want[0], "the weights differ"
assert have[1:] == want[1:], (have[1:], want[1:])
print("ok", want[1], "kills", kills)
