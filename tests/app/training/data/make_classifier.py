"""classifier.onnx beside this file: a small classifier of ten classes, written node by node as torch.onnx.export (opset
17) writes one, names included. Needs onnx and numpy from pip."""
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

random = np.random.default_rng(5)


def weight(name, *shape):
    fan = int(np.prod(shape[1:])) if len(shape) > 1 else 16
    return numpy_helper.from_array((random.uniform(-1, 1, shape) / np.sqrt(fan)).astype(np.float32), name)


def node(kind, module, inputs, **attributes):
    return helper.make_node(kind, inputs, [f"/{module}/{kind}_output_0"], f"/{module}/{kind}", **attributes)


square = dict(dilations=[1, 1], group=1, kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[1, 1])
halves = dict(ceil_mode=0, dilations=[1, 1], kernel_shape=[2, 2], pads=[0, 0, 0, 0], strides=[2, 2])
nodes = [node("Conv", "features/features.0", ["input", "features.0.weight", "features.0.bias"], **square)]
for kind, module, attributes in [("Relu", "features/features.1", {}), ("MaxPool", "features/features.2", halves)]:
    nodes.append(node(kind, module, [nodes[-1].output[0]], **attributes))
nodes.append(node("Conv", "features/features.3", [nodes[-1].output[0], "features.3.weight", "features.3.bias"], **square))
for kind, module in [("Relu", "features/features.4"), ("GlobalAveragePool", "pool")]:
    nodes.append(node(kind, module, [nodes[-1].output[0]]))
nodes.append(helper.make_node("Flatten", [nodes[-1].output[0]], ["/Flatten_output_0"], "/Flatten", axis=1))
nodes.append(helper.make_node("Gemm", ["/Flatten_output_0", "classifier.weight", "classifier.bias"], ["output"],
                              "/classifier/Gemm", alpha=1.0, beta=1.0, transB=1))
weights = [weight("features.0.weight", 8, 3, 3, 3), weight("features.0.bias", 8), weight("features.3.weight", 16, 8, 3, 3),
           weight("features.3.bias", 16), weight("classifier.weight", 10, 16), weight("classifier.bias", 10)]
values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
          for name, shape in [("input", ["batch", 3, 16, 16]), ("output", ["batch", 10])]]
graph = helper.make_graph(nodes, "main_graph", values[:1], values[1:], weights)
model = helper.make_model(graph, producer_name="pytorch", producer_version="2.4.0",
                          opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.checker.check_model(model, full_check=True)
onnx.save(model, str(pathlib.Path(__file__).with_name("classifier.onnx")))
