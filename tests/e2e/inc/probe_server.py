"""An OpenAI-compatible server for `guessgym probe`: probe_server.py PORT_FILE MODE.

Modes: good (vLLM's manners), ignored (tools never reach the model, nothing extra), strict (refuses fields it does not know),
nolist (no list of models), key (wants the key "sesame"), loading (503), text (the call comes as text), names (the model does not
exist). Everything but /v1 answers with a page of HTML; the last body asked with stands in PORT_FILE.last."""
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

port_file, mode = sys.argv[1:3]
PAGE = "<html><body>It works!</body></html>"


def error(status, message, param=None, kind="invalid_request_error"):
    return status, {"error": {"message": message, "type": kind, "param": param, "code": None}}


def message(body):
    if mode in ("ignored", "strict"):
        return {"role": "assistant", "content": "I would guess crane."}, "stop"
    if mode == "text":
        return {"role": "assistant", "content": '{"name": "guess_word", "arguments": {"guess": "crane"}}'}, "stop"
    call = {"name": "guess_word", "arguments": '{"guess": "crane"}'}
    return {"role": "assistant", "content": None, "reasoning": "hm", "tool_calls": [
        {"id": "c1", "type": "function", "function": call},
        {"id": "c2", "type": "function", "function": dict(call, arguments='{"guess": "slate"}')}]}, "tool_calls"


def refusal(body):
    if mode == "names":
        return error(404, "The model `%s` does not exist." % body.get("model"), kind="NotFoundError")
    if mode == "loading":
        return error(503, "Loading model", kind="unavailable_error")
    if mode == "strict":
        for name in ("return_token_ids", "logprobs"):
            if name in body:
                return error(400, "Unrecognized request argument supplied: " + name)
        if "max_tokens" in body:
            return error(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens")
        if body.get("temperature") is not None:
            return error(400, "Unsupported value: 'temperature' does not support 1.", "temperature")
    if mode != "ignored" and body.get("reasoning_effort") == "no-such-effort":
        return error(400, "reasoning_effort must be one of none, low, medium, high")
    return None


def reply(body):
    refused = refusal(body)
    if refused:
        return refused
    said, finish = message(body)
    prompt = 37 if mode == "ignored" or not body.get("tools") else 175
    answer = {"id": "x", "object": "chat.completion", "created": 1, "model": "m",
              "choices": [{"index": 0, "message": said, "finish_reason": finish, "logprobs": None}],
              "usage": {"prompt_tokens": prompt, "completion_tokens": 2, "total_tokens": prompt + 2}}
    if mode == "good" and body.get("return_token_ids"):
        answer["prompt_token_ids"] = [1, 2, 3]
        answer["choices"][0]["token_ids"] = [4, 5]
        answer["choices"][0]["logprobs"] = {"content": [{"logprob": -1}, {"logprob": -2}]}
    return 200, answer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, text, kind):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def json(self, status, body):
        self.answer(status, json.dumps(body).encode(), "application/json")

    def barred(self):
        if mode == "key" and self.headers["Authorization"] != "Bearer sesame":
            self.json(*error(401, "Incorrect API key provided"))
            return True
        return False

    def do_GET(self):
        if self.path != "/v1/models" or mode == "nolist":
            self.answer(404 if mode == "nolist" else 200, PAGE.encode(), "text/html")
        elif not self.barred():
            names = ["m", "n"] if mode == "names" else ["m"]
            self.json(200, {"object": "list", "data": [{"id": n, "object": "model", "owned_by": "vllm"} for n in names]})

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path != "/v1/chat/completions":
            self.answer(404, PAGE.encode(), "text/html")
            return
        if self.barred():
            return
        body = json.loads(text)
        with open(port_file + ".last", "w") as f:
            json.dump(body, f)
        status, answer = reply(body)
        if status == 200 and body.get("stream") and mode != "ignored":
            chunks = [{"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": None}], "usage": None},
                      {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": None},
                      {"choices": [], "usage": answer["usage"]}]
            lines = ["data: " + json.dumps(c) for c in chunks] + ["data: [DONE]", ""]
            self.answer(200, "\n\n".join(lines).encode(), "text/event-stream")
        else:
            self.json(status, answer)

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(port_file + ".part", "w") as f:
    f.write(str(server.server_port))
os.rename(port_file + ".part", port_file)
server.serve_forever()
