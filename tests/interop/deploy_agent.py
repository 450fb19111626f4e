"""An HTTP server whose answer is in the prompt: a status, or `slow`. Bodies go to the file given."""
import http.server
import json
import sys
import time


class Agent(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(sys.argv[1], "ab") as out:
            out.write(self.path.encode() + b" " + body + b"\n")
        prompt = json.loads(body)["prompt"]
        if prompt == "slow":
            time.sleep(5)
        self.send_response(int(prompt) if prompt.isdigit() and self.path == "/rollout" else 202)
        self.end_headers()
        self.wfile.write(b'{"status":"accepted"}')

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Agent)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
