"""Starts `guessgym serve agent` (argument: the program) with several kinds of keys, sends it what the SDK's models make,
and compares the token and the headers that come back with what the SDK makes for the same clock, keys and region."""

import base64
import datetime
import json
import os
import subprocess
import sys
import tempfile
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import botocore.auth
from botocore.credentials import Credentials
from sagemaker.core.token_generator import generate_token
from sagemaker.train.rft.headers import make_inference_headers
from sagemaker.train.rft.models import InferenceParams, RolloutMetadata, RolloutRequest

ARN = "arn:aws:sagemaker:us-west-2:123456789012:job/AgentRFT/sdk"
ROW = json.loads(open("wordlists/splits/test.jsonl").readline())
seen = []


class Runtime(BaseHTTPRequestHandler):
    """Remembers a request and knows no trajectory."""

    def do_POST(self):
        seen.append((dict(self.headers), json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
        self.send_response(404)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args):
        pass


def freeze(stamp):
    """botocore asks for the time in one of two ways, by version."""
    if hasattr(botocore.auth, "get_current_datetime"):
        botocore.auth.get_current_datetime = lambda remove_tzinfo=True: stamp

    class Fixed(datetime.datetime):
        @classmethod
        def utcnow(cls):
            return stamp

    class Module:
        datetime = Fixed

        def __getattr__(self, name):
            return getattr(datetime, name)

    botocore.auth.datetime = Module()


class Provider:
    def __init__(self, *keys):
        self.keys = keys

    def load(self):
        return Credentials(*self.keys)


def ask(variables, region, keys):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
    environment.update(variables, HOME="/nowhere", AWS_EC2_METADATA_DISABLED="true")
    agent = subprocess.Popen([sys.argv[1], "serve", "agent", "--listen", "127.0.0.1:0", "--allow-endpoint", url, "--quiet"],
                             stdout=subprocess.PIPE, env=environment, text=True)
    try:
        address = agent.stdout.readline().strip()
        metadata = RolloutMetadata(job_arn=ARN, trajectory_id=f"sdk-{region}", endpoint=url, region=region)
        request = RolloutRequest(instance=ROW, metadata=metadata, inference_params=InferenceParams(temperature=0.5))
        body = json.dumps(request.model_dump()).encode()
        reply = json.loads(urllib.request.urlopen(urllib.request.Request(address + "/rollout", body)).read())
        assert reply["status"] == "skipped", reply
    finally:
        agent.terminate()
        assert agent.wait(20) == 0
    headers, sent = seen[-1]
    assert sent["temperature"] == 0.5 and sent["model"] == "default", sent
    for name, value in make_inference_headers(metadata).items():
        assert headers[name] == value, (name, headers)
    token = headers["Authorization"].removeprefix("Bearer ")
    text = base64.b64decode(token.removeprefix("sagemaker-api-key-")).decode()
    freeze(datetime.datetime.strptime(parse_qs(text)["X-Amz-Date"][0], "%Y%m%dT%H%M%SZ"))
    assert token == generate_token(region=region, aws_credentials_provider=Provider(*keys)), text
    print(f"ok: the SDK's token for {region}, {'temporary' if keys[2] else 'lasting'} keys")


server = ThreadingHTTPServer(("127.0.0.1", 0), Runtime)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_address[1]}"
SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
ask({"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": SECRET}, "us-west-2", ("AKIDEXAMPLE", SECRET, None))
ask({"AWS_ACCESS_KEY_ID": "ASIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_SESSION_TOKEN": "FQoSESSION/TOKEN+abc=="},
    "eu-central-1", ("ASIDEXAMPLE", SECRET, "FQoSESSION/TOKEN+abc=="))
with tempfile.NamedTemporaryFile("w") as file:
    file.write(f"[work]\naws_access_key_id = FILEKEY\naws_secret_access_key = {SECRET}\n")
    file.flush()
    ask({"AWS_PROFILE": "work", "AWS_SHARED_CREDENTIALS_FILE": file.name}, "us-east-1", ("FILEKEY", SECRET, None))
