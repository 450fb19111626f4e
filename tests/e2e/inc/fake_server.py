"""An OpenAI-compatible server that misbehaves: fake_server.py PORT_FILE MODE [FILE].

Modes: ok (plays the word of FILE's first line), text (never calls the tool), down (500), busy (429 for
the first 6 requests), refused (401), quota (429, insufficient_quota), models (lists three models),
switch (500 from the second request on as long as FILE exists; plays "crane")."""
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

port_file, mode = sys.argv[1:3]
extra = sys.argv[3] if len(sys.argv) > 3 else ""
count = 0
lock = threading.Lock()


def word():
    return open(extra).readline().strip() if mode == "ok" else "crane"


def error(status, text, code=None):
    return status, {"error": {"message": text, "type": "error", "param": None, "code": code}}


def reply():
    global count
    with lock:
        count += 1
        number = count
    if mode == "refused":
        return error(401, "Incorrect API key provided")
    if mode == "quota":
        return error(429, "You exceeded your current quota", "insufficient_quota")
    if mode == "down" or (mode == "switch" and number > 1 and os.path.exists(extra)):
        return error(500, "the server is on fire")
    if mode == "busy" and number <= 6:
        return error(429, "Rate limit reached; try again in 10ms")
    message = {"role": "assistant", "content": "I would rather not."}
    if mode != "text":
        call = {"name": "guess_word", "arguments": json.dumps({"guess": word()})}
        message = {"role": "assistant", "content": None,
                   "tool_calls": [{"id": f"call_{number}", "type": "function", "function": call}]}
    finish = "stop" if mode == "text" else "tool_calls"
    return 200, {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 0, "model": "fake",
                 "choices": [{"index": 0, "message": message, "finish_reason": finish}],
                 "usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        names = ["a", "b", "c"] if mode == "models" else ["fake"]
        self.answer(200, {"object": "list", "data": [{"id": n, "object": "model"} for n in names]})

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(*reply())

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        pass  # a client that hangs up is no news


server = Server(("127.0.0.1", 0), Handler)
with open(port_file + ".part", "w") as f:
    f.write(str(server.server_port))
os.rename(port_file + ".part", port_file)
server.serve_forever()
