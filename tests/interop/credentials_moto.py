"""Argument: the program. The runtime here only remembers the token and knows no trajectory."""

import base64
import json
import os
import subprocess
import sys
import tempfile
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

from moto.server import ThreadedMotoServer

ARN = "arn:aws:sagemaker:us-west-2:123456789012:job/AgentRFT/keys"
PROMPT = json.loads(open("wordlists/splits/test.jsonl").readline())["prompt"]
seen = []


class Runtime(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        seen.append(self.headers["Authorization"])
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


def token_of(**variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("AWS_")}
    environment.update(variables, HOME="/nowhere", AWS_REGION="us-west-2", RFT_RUNTIME_ENDPOINT=url)
    agent = subprocess.Popen([sys.argv[1], "serve", "agent", "--listen", "127.0.0.1:0", "--quiet"], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=environment, text=True)
    try:
        address = agent.stdout.readline().strip()
        body = json.dumps({"prompt": PROMPT, "metadata": {"jobArn": ARN, "rolloutId": "r"}}).encode()
        reply = json.loads(urllib.request.urlopen(urllib.request.Request(address + "/rollout", body)).read())
        assert reply["status"] == "skipped", reply
    finally:
        agent.terminate()
        said = agent.stderr.read()
        assert agent.wait(20) == 0, said
    text = base64.b64decode(seen[-1].removeprefix("Bearer sagemaker-api-key-")).decode()
    fields = parse_qs(text.split("?", 1)[1])
    session = fields["X-Amz-Security-Token"][0]
    assert session not in said and "sagemaker-api-key-" not in said, said
    return fields["X-Amz-Credential"][0].split("/")[0], session


server = ThreadingHTTPServer(("127.0.0.1", 0), Runtime)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_address[1]}"
cloud = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
cloud.start()
host, port = cloud.get_host_and_port()
moto = f"http://{host}:{port}"

assert token_of(AWS_EC2_METADATA_SERVICE_ENDPOINT=moto) == ("test-key", "test-session-token")
print("ok: keys of an instance's role")
with tempfile.NamedTemporaryFile("w") as file:
    file.write("header.payload.signature\n")
    file.flush()
    key, session = token_of(AWS_WEB_IDENTITY_TOKEN_FILE=file.name, AWS_ENDPOINT_URL_STS=moto,
                            AWS_ROLE_ARN="arn:aws:iam::123456789012:role/agent")
assert key.startswith("ASIA") and len(session) > 100, (key, session)
print("ok: keys of a web identity")
cloud.stop()
