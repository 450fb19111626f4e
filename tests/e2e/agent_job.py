"""Argument: the program."""

import hashlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile

import boto3

sys.path.insert(0, "tests/lib")
import job_documents as jobs  # noqa: E402
from local_service import s3_file  # noqa: E402

PROGRAM = sys.argv[1]
STEPS, BATCH, GROUP = 2, 32, 4
KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
children = []


def serve(*arguments, **variables):
    child = subprocess.Popen([PROGRAM, "serve", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env={**os.environ, **KEYS, **variables})
    children.append(child)
    return child, child.stdout.readline().strip()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def digest(path):
    return hashlib.sha256(open(path, "rb").read()).hexdigest()


def train_by_job(effort):
    state, port = tempfile.mkdtemp(), free_port()
    bucket = os.path.join(state, "s3", "bucket")
    os.makedirs(bucket)
    for name in ("train", "val"):
        shutil.copy(f"wordlists/splits/{name}.jsonl", bucket)
    service, url = serve("service", "--listen", "127.0.0.1:0", "--state", state, "--rollout-tps", "0",
                         "--agent", f"http://127.0.0.1:{port}")
    agent, _ = serve("agent", "--listen", f"127.0.0.1:{port}", AWS_REGION=jobs.REGION, RFT_RUNTIME_ENDPOINT=url,
                     REASONING_EFFORT=effort)
    sagemaker = boto3.client("sagemaker", endpoint_url=url, region_name=jobs.REGION,
                             aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
                             aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"])
    hyper = {"global_batch_size": BATCH, "group_size": GROUP, "max_steps": STEPS, "learning_rate": 0.01,
             "max_steps_off_policy": 0}
    jobs.create(sagemaker, effort, jobs.training("s3://bucket/train.jsonl", "s3://bucket/val.jsonl", "s3://bucket/out", hyper))
    described = jobs.follow(sagemaker, effort)
    assert described["JobStatus"] == "Completed", described
    package = sagemaker.describe_model_package(ModelPackageName=jobs.service_output(described)["OutputModelPackageArn"])
    source = package["InferenceSpecification"]["Containers"][0]["ModelDataSource"]["S3DataSource"]["S3Uri"]
    result = digest(s3_file(state, source, "adapter.json"))
    for child in (agent, service):
        child.terminate()
        said = child.stderr.read()
        assert child.wait(20) == 0, said
        assert "rollout " not in said and "ERROR" not in said and "runtime error" not in said, said
        if child is agent:
            assert " 0 errored, 0 not reported" in said, said
    shutil.rmtree(state)
    return result


def train_by_session(effort):
    folder = tempfile.mkdtemp()
    subprocess.run([PROGRAM, "train", "--quiet", "--steps", str(STEPS), "--batch", str(BATCH), "--group-size", str(GROUP),
                    "--effort", effort, "--val-every", "0", "-o", f"{folder}/run"], check=True, stdout=subprocess.DEVNULL)
    result = digest(f"{folder}/run/adapter.json")
    shutil.rmtree(folder)
    return result


try:
    for effort in ("low", "medium"):
        by_job, by_session = train_by_job(effort), train_by_session(effort)
        assert by_job == by_session, (effort, by_job, by_session)
        print(f"ok: {effort}, adapter {by_job[:12]} by job and by session")
finally:
    for child in children:
        if child.poll() is None:
            child.kill()
