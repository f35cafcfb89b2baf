"""Runs every NAME.onnx of a folder in onnxruntime on the inputs in NAME.safetensors and compares with the outputs there."""
import json
import pathlib
import struct
import sys

import numpy as np
import onnx
import onnxruntime


def read_safetensors(path):
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, facts in json.loads(data[8:8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = facts["data_offsets"]
        tensors[name] = np.frombuffer(data[8 + length + begin:8 + length + end], np.float32).reshape(facts["shape"])
    return tensors


wrong = checked = 0
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.onnx")):
    try:
        onnx.checker.check_model(str(path), full_check=True)
        session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        stored = read_safetensors(path.with_suffix(".safetensors"))
        feed = {i.name: stored["in/" + i.name].astype(np.int64 if i.type == "tensor(int64)" else np.float32) for i in session.get_inputs()}
        for output, value in zip(session.get_outputs(), session.run(None, feed)):
            want = stored["out/" + output.name.removesuffix("_output")]
            if value.shape != want.shape or not np.allclose(value, want, rtol=1e-4, atol=1e-4, equal_nan=True):
                wrong += 1
                print(f"{path.stem}: output {output.name} {value.shape} differs from {want.shape} by {np.abs(value - want).max() if value.shape == want.shape else 'its shape'}")
            checked += 1
    except Exception as fault:
        wrong += 1
        print(f"{path.stem}: {type(fault).__name__}: {str(fault)[:400]}")
print(f"{checked} outputs compared with onnxruntime {onnxruntime.__version__}, {wrong} wrong")
sys.exit(1 if wrong or not checked else 0)
