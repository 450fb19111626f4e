"""A server of embeddings: a text's vector is how often each of 20 letters stands in it. Prints its address, then a line
a request: how many texts. Files in the folder of the first argument tell it what to do: `refuse` (401 to all),
`fail` (503 to as many requests as it says), `short` (no text above 100 bytes), `wrong` (a vector too short), `garbage` (no JSON)."""
import http.server
import json
import os
import sys

FOLDER = sys.argv[1]


def told(name):
    return os.path.exists(os.path.join(FOLDER, name))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/v1/embeddings" or body["model"] != "letters-20":
            return self.answer(404, b'{"error":{"message":"no such model"}}')
        if told("refuse") or self.headers.get("Authorization") != "Bearer sesame":
            return self.answer(401, b'{"error":{"message":"wrong key"}}')
        if told("fail"):
            path = os.path.join(FOLDER, "fail")
            left = int(open(path).read()) - 1
            open(path, "w").write(str(left)) if left else os.remove(path)
            return self.answer(503, b"busy")
        if told("garbage"):
            return self.answer(200, b'{"data":[{"embedding":["x"]}]}')
        if told("short") and any(len(text) > 100 for text in body["input"]):
            return self.answer(400, b'{"error":{"message":"maximum context length is 25 tokens","code":"context_length_exceeded"}}')
        assert all(text and len(text.encode()) <= 8000 for text in body["input"])
        print(len(body["input"]), flush=True)
        data = [
            {"index": i, "embedding": [text.lower().count(c) for c in "abcdefghijklmnopqrst"][: 19 if told("wrong") else 20]}
            for i, text in enumerate(body["input"])
        ]
        self.answer(200, json.dumps({"data": data[::-1]}).encode())  # in any order, with the index


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
server.serve_forever()
