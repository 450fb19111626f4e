"""An S3 endpoint in memory; prints its address in a line of its own."""

import threading

from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
server.start()
host, port = server.get_host_and_port()
print(f"http://{host}:{port}", flush=True)
threading.Event().wait()
