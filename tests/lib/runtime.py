"""A small stand-in for the managed runtime: trajectories, bearer tokens, the two closing calls. The model behind it is an
embedded policy at another address.

Arguments: the policy's base URL, the access key, the secret key. Prints its own address. What a trajectory's id begins
with makes trouble: see TROUBLE. GET /state tells everything that was seen; POST /hold {"count": N} holds chat requests
back until N of them wait; 0 lets them go."""

import base64
import hashlib
import hmac
import json
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, quote

POLICY, KEY, SECRET = sys.argv[1:4]
lock = threading.Condition()
trajectories, calls, problems = {}, [], []
hold = {"count": 0, "waiting": 0}

TROUBLE = {  # id's beginning: (path's end, how often, status, body, headers)
    "unknown-": ("", 10**9, 404, {"Message": "Trajectory does not exist"}, {}),
    "sealed-": ("", 10**9, 400, {"Message": "Trajectory is not in valid status: COMPLETED"}, {}),
    "conflict-": ("", 10**9, 409, {"Message": "Cannot transition trajectory from REWARDED"}, {}),
    "nojob-": ("", 10**9, 400, {"Message": "Could not find job"}, {}),
    "foreign-": ("", 10**9, 403, {"Message": "not authorized to access this resource"}, {}),
    "flaky-": ("", 2, 500, {"Message": "internal"}, {}),
    "throttled-": ("", 2, 429, {"Message": "Rate exceeded"}, {"Retry-After": "0.05"}),
    "expired-": ("", 1, 403, {"Message": "Authentication failed: Please make sure your API Key is valid"}, {}),
    "dead-": ("/chat/completions", 10**9, 500, {"Message": "no model"}, {"retry-after-ms": "1"}),
    "midway-": ("/chat/completions", 10**9, 500, {"Message": "no model"}, {"retry-after-ms": "1"}),
    "unpaid-": ("/update-reward", 10**9, 400, {"Message": "no"}, {}),
}


def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def check_token(token):
    """The token generator's rules, written down once more; returns what is wrong."""
    if not token.startswith("Bearer sagemaker-api-key-"):
        return "no bearer token"
    text = base64.b64decode(token[len("Bearer sagemaker-api-key-"):], validate=True).decode()
    host, query = text.split("/?", 1)
    pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=True)
    if host != "sagemaker.amazonaws.com" or pairs[-1] != ("Version", "1"):
        return "host or version"
    fields = dict(pairs)
    credential = fields["X-Amz-Credential"].split("/")
    if credential[0] != KEY or credential[3:] != ["sagemaker", "aws4_request"]:
        return f"credential {credential}"
    signed = sorted((quote(k, safe="-_.~"), quote(v, safe="-_.~")) for k, v in pairs
                    if k not in ("X-Amz-Signature", "Version"))
    canonical = "\n".join(["POST", "/", "&".join(f"{k}={v}" for k, v in signed), f"host:{host}\n", "host",
                           hashlib.sha256(b"").hexdigest()])
    key = ("AWS4" + SECRET).encode()
    for part in credential[1:]:
        key = mac(key, part)
    scope = "/".join(credential[1:])
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    wanted = mac(key, f"AWS4-HMAC-SHA256\n{fields['X-Amz-Date']}\n{scope}\n{digest}").hex()
    return "" if wanted == fields["X-Amz-Signature"] else "signature"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *args):
        pass

    def answer(self, status, body, headers=None):
        data = json.dumps(body).encode() if not isinstance(body, bytes) else body
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        with lock:
            self.answer(200, {"trajectories": trajectories, "calls": calls, "problems": problems,
                              "waiting": hold["waiting"]})

    def trouble(self, name, state):
        for start, (path, often, status, body, headers) in TROUBLE.items():
            if name.startswith(start) and self.path.endswith(path) and state["trouble"] < often:
                if start == "midway-" and state["turns"] < 1:
                    continue
                state["trouble"] += 1
                self.answer(status, body, headers)
                return True
        return False

    def chat(self, state, body):
        with lock:
            hold["waiting"] += 1
            lock.notify_all()
            while hold["waiting"] < hold["count"]:
                lock.wait(30)
            hold["count"] = 0
            lock.notify_all()
        if state["sealed"]:
            return self.answer(400, {"Message": "not in valid status"})
        request = urllib.request.Request(POLICY + "/chat/completions", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as reply:
            data = reply.read()
        with lock:
            hold["waiting"] -= 1
            state["turns"] += 1
            state["requests"].append({k: v for k, v in json.loads(body).items() if k != "tools"})
        if state["name"].startswith("slow-"):
            time.sleep(0.3)
        self.answer(200, data)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        parsed = json.loads(body)
        if self.path == "/hold":
            with lock:
                hold.update(count=parsed["count"], waiting=0)
                lock.notify_all()
            return self.answer(200, {})
        wrong = check_token(self.headers.get("Authorization", ""))
        chat = self.path.endswith("/v1/chat/completions")
        arn = self.headers.get("X-Amzn-SageMaker-Job-Arn", "")
        name = self.headers.get("X-Amzn-SageMaker-Trajectory-Id", "") if chat else parsed.get("TrajectoryId", "")
        with lock:
            state = trajectories.setdefault(name, {"name": name, "trouble": 0, "turns": 0, "sealed": False, "rewards": None,
                                                   "requests": [], "tokens": [], "order": []})
            state["order"].append(self.path)
            if chat is False:
                state["tokens"].append(parsed.get("ClientToken"))
            calls.append(self.path)
            if wrong or not arn or (not chat and parsed.get("JobArn") != arn):
                problems.append([self.path, name, wrong, arn])
                return self.answer(403, {"Message": "Authentication failed"})
            if self.trouble(name, state):
                return None
            if not chat and self.path.endswith("/complete-rollout"):
                if state["sealed"]:
                    return self.answer(409, {"Message": "Cannot transition trajectory"})
                state["sealed"] = parsed["Status"]
                return self.answer(200, {})
            if not chat and self.path.endswith("/update-reward"):
                if not state["sealed"] or state["rewards"] is not None:
                    problems.append([self.path, name, "order", arn])
                    return self.answer(409, {"Message": "Cannot transition trajectory"})
                state["rewards"] = parsed["Rewards"]
                return self.answer(200, {})
        return self.chat(state, body) if chat else self.answer(404, {"Message": "no such path"})


class Server(ThreadingHTTPServer):
    request_queue_size = 1024
    daemon_threads = True


server = Server(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()
