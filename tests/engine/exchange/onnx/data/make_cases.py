"""Small files of public reports, with onnxruntime's values: make_cases.py FOLDER (needs onnx, onnxruntime from pip).
Bounds behind activations, casts, attributes of functions, stretched scales, spare outputs, a batch that its name tells, windows and factors of
PyTorch, a pair of quantisation, a pipeline of scikit-learn."""
import pathlib
import sys

import numpy as np
from onnx import AttributeProto, TensorProto as T, helper as H, numpy_helper as NH, save

from storing import store

FOLDER = pathlib.Path(sys.argv[1])
RANDOM = np.random.default_rng(3)
N, F = H.make_node, np.float32


def spread(*shape):
    return RANDOM.uniform(-1, 1, shape).astype(F)


def write(name, nodes, weights, x, outputs=("y",), axes=None, opset=17, functions=(), domains=(), ir=8, **storing):
    graph = H.make_graph(nodes, name, [H.make_tensor_value_info("x", T.FLOAT, axes or ["N", *x.shape[1:]])], [H.make_empty_tensor_value_info(o) for o in outputs],
                         [NH.from_array(np.asarray(a), k) for k, a in weights.items()])
    path = FOLDER / f"{name}.onnx"
    save(H.make_model(graph, opset_imports=[H.make_opsetid("", opset)] + [H.make_opsetid(*d) for d in domains], functions=list(functions), ir_version=ir), path)
    if storing.pop("stored", True):
        store(path, {"x": x}, **storing)


far = np.array([[-3, 5, 15, 30, 0.001, -40, 1e4, 0]], F)
write("bounds", [N("Relu", ["x"], ["r"]), N("Min", ["r", "twenty"], ["a"]), N("Clip", ["r", "", "twenty"], ["b"]), N("Softplus", ["x"], ["s"]), N("Min", ["s", "fifteen"], ["c"]),
                 N("Sigmoid", ["x"], ["p"]), N("Max", ["p", "least"], ["q"]), N("Log", ["q"], ["d"])],
      {"twenty": F(20), "fifteen": F(15), "least": F(1e-7)}, far, "abcd")
write("casts", [N("Cast", ["x"], ["i"], to=T.INT64), N("Cast", ["i"], ["a"], to=T.FLOAT), N("Cast", ["x"], ["t"], to=T.BOOL), N("Cast", ["t"], ["b"], to=T.FLOAT),
                N("Cast", ["x"], ["h"], to=T.DOUBLE), N("Cast", ["h"], ["c"], to=T.FLOAT), N("Div", ["i", "three"], ["j"]), N("Cast", ["j"], ["d"], to=T.FLOAT)],
      {"three": np.int64(3)}, np.array([[2.87, -4.46, 0.5, -0.7, 0, 300, -7, 9]], F), "abcd")
def reference(name, to):
    return AttributeProto(name=name, ref_attr_name=to, type=AttributeProto.FLOAT)


leaky = N("LeakyRelu", ["i"], ["o"])
leaky.attribute.append(reference("alpha", "slope"))
inner = H.make_function("f", "Leaky", ["i"], ["o"], [leaky], [H.make_opsetid("", 17)], attribute_protos=[H.make_attribute("slope", F(0.3))])
through = N("Leaky", ["i"], ["o"], domain="f")
through.attribute.append(reference("slope", "steepness"))
outer = H.make_function("f", "Outer", ["i"], ["o"], [through], [H.make_opsetid("f", 1)], ["steepness"])
write("function_attributes", [N("Leaky", ["x"], ["a"], domain="f"), N("Outer", ["x"], ["b"], domain="f", steepness=0.7), N("Leaky", ["x"], ["c"], domain="f", slope=0.1)], {},
      np.array([[-1, -2, 3]], F), "abc", functions=[inner, outer], domains=[("f", 1)], ir=9)
write("stretched_scales", [N("LayerNormalization", ["x", "s", "b"], ["a"], axis=1), N("LayerNormalization", ["x", "t"], ["b1"], axis=2)],
      {"s": np.array([[[1]], [[2]]], F), "b": np.array([[[10]], [[20]]], F), "t": np.array([[3], [4]], F)}, spread(2, 2, 2, 3), ("a", "b1"))
write("rnn_last_state", [N("Transpose", ["x"], ["t"], perm=[1, 0, 2]), N("RNN", ["t", "w", "r"], ["s", "h"], hidden_size=2, direction="bidirectional"), N("Transpose", ["h"], ["g"], perm=[1, 0, 2]),
                         N("Reshape", ["g", "row"], ["y"]), N("Exp", ["s"], ["spare"])],
      {"w": spread(2, 2, 2), "r": spread(2, 2, 2), "row": np.array([0, 4])}, spread(2, 3, 2))
write("batch_by_name", [N("LSTM", ["x", "w", "r"], ["", "h"], hidden_size=2), N("Squeeze", ["h", "zero"], ["y"])], {"w": spread(1, 8, 2), "r": spread(1, 8, 2), "zero": np.array([0])},
      spread(64, 2, 2), axes=["seq", "batch", 2], batch_first_in=("x",))
square = np.arange(16, dtype=F).reshape(1, 1, 4, 4)
write("ceiling", [N("AveragePool", ["x"], ["a"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1, count_include_pad=1),
                  N("AveragePool", ["x"], ["b"], kernel_shape=[2, 2], strides=[3, 3], ceil_mode=1, count_include_pad=1),
                  N("Resize", ["x", "", "scales"], ["c"], mode="linear")], {"scales": np.array([1, 1, 1.7, 0.7], F)}, square, "abc", opset=19)
write("quantised", [N("QuantizeLinear", ["x", "s", "z"], ["q"]), N("DequantizeLinear", ["q", "s", "z"], ["d"]), N("MatMul", ["d", "w"], ["y"])],
      {"s": F(0.02), "z": np.uint8(100), "w": np.array([[1], [2]], F)}, np.array([[0.5, -0.3], [9, -9]], F), opset=13, stored=False)
write("pipeline", [N("Scaler", ["x"], ["n"], domain="ai.onnx.ml", offset=[1.0, 10.0], scale=[2.0, 0.5]), N("MatMul", ["n", "w"], ["m"]), N("Softmax", ["m"], ["p"]),
                   N("ArgMax", ["p"], ["i"], axis=1), N("ArrayFeatureExtractor", ["classes", "i"], ["l"], domain="ai.onnx.ml"), N("Cast", ["l"], ["k"], to=T.INT64), N("Reshape", ["k", "all"], ["label"])],
      {"w": np.array([[1, 0.5, -1], [2, -1, 0.2]], F), "classes": np.array([0, 1, 2], np.int32), "all": np.array([-1, 1])}, np.array([[3, 12], [-5, 10], [1, 1]], F), ("p", "label"), domains=[("ai.onnx.ml", 1)])

# Operators as they were before version 7, which onnxruntime no longer takes: their values are those of the same network in newer ones.
b, slopes, x = spread(3), spread(3), spread(2, 3, 2, 2)
write("before_seven", [N("Add", ["x", "b"], ["p"], broadcast=1, axis=1), N("PRelu", ["p", "s"], ["q"]), N("Upsample", ["q"], ["u"], height_scale=2.0, width_scale=1.0, mode="nearest"),
                       N("Reshape", ["u"], ["r"], shape=[0, 24]), N("Cast", ["r"], ["c"], to="FLOAT"), N("Mul", ["c", "k"], ["y"], broadcast=1)],
      {"b": b, "s": slopes, "k": np.array([0.5], F)}, x, opset=1, ir=3, stored=False)
write("newer", [N("Add", ["x", "b"], ["p"]), N("PRelu", ["p", "s"], ["q"]), N("Resize", ["q", "", "scales"], ["u"], coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
                N("Reshape", ["u", "shape"], ["y0"]), N("Mul", ["y0", "k"], ["y"])],
      {"b": b.reshape(3, 1, 1), "s": slopes.reshape(3, 1, 1), "k": F(0.5), "scales": np.array([1, 1, 2, 1], F), "shape": np.array([0, 24])}, x)
(FOLDER / "newer.onnx").unlink()
(FOLDER / "newer.safetensors").rename(FOLDER / "before_seven.safetensors")
