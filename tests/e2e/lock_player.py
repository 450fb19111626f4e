"""A scripted endpoint that opens the lock of examples/env-lock: binary search on each dial, from what the
messages tell. Standard library only. Prints its address and serves until it is killed."""
import http.server
import json
import re


def next_setting(messages):
    low, high = [0] * 3, [9] * 3
    for message in messages:
        if message["role"] != "tool":
            continue
        for dial, at, said in re.findall(r"Dial (\d) at (\d): (too low|too high|right)", message["content"]):
            i, at = int(dial) - 1, int(at)
            if said == "too low":
                low[i] = max(low[i], at + 1)
            elif said == "too high":
                high[i] = min(high[i], at - 1)
            else:
                low[i] = high[i] = at
    return [(a + b) // 2 for a, b in zip(low, high)]


class Player(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.answer({"object": "list", "data": [{"id": "search", "object": "model"}]})

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert [t["function"]["name"] for t in request["tools"]] == ["turn_dials"], request["tools"]
        setting = next_setting(request["messages"])
        arguments = json.dumps({"dial%d" % (i + 1): at for i, at in enumerate(setting)})
        call = {"id": "c%d" % len(request["messages"]), "type": "function",
                "function": {"name": "turn_dials", "arguments": arguments}}
        self.answer({"object": "chat.completion", "model": "search", "choices": [
            {"index": 0, "finish_reason": "tool_calls",
             "message": {"role": "assistant", "content": None, "tool_calls": [call]}}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}})


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Player)
print("http://127.0.0.1:%d/v1" % server.server_port, flush=True)
server.serve_forever()
