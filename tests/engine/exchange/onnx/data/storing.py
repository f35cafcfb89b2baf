"""What both scripts share: a model is written with random inputs and what onnxruntime makes of them, in one .safetensors beside it."""
import json
import pathlib
import struct

import numpy as np
import onnx
import onnxruntime


def write_safetensors(path, tensors):
    header, data, offset = {}, b"", 0
    for name, array in tensors.items():
        array = np.ascontiguousarray(array, dtype=np.float32)
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [offset, offset + array.nbytes]}
        data += array.tobytes()
        offset += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def store(path, inputs, batch_first_in=(), batch_first_out=()):
    """`inputs` by name, as the file wants them; those named in batch_first_in have the batch as axis 1 and are stored with it in front."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    wanted = session.run(None, inputs)
    clean = lambda name: "".join(c if c.isalnum() else "_" for c in name)
    tensors = {}
    for name, array in inputs.items():
        tensors["in/" + clean(name)] = np.swapaxes(array, 0, 1) if name in batch_first_in else array
    for output, array in zip(session.get_outputs(), wanted):
        tensors["out/" + clean(output.name)] = np.swapaxes(array, 0, 1) if output.name in batch_first_out else array
    write_safetensors(pathlib.Path(path).with_suffix(".safetensors"), tensors)
    print(f"{path}: {pathlib.Path(path).stat().st_size} bytes, opset {onnx.load(path, load_external_data=False).opset_import[0].version}")
