"""ONNX files as they are met outside of exporters: make_odd.py FOLDER (needs onnx, onnxruntime, skl2onnx, scikit-learn from pip).
scikit-learn's models, and files written with onnx's own helpers: old and new operators, named batches, weights in files
beside it, shapes calculated in the graph, recurrent operators as they are rarely exported."""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from skl2onnx import to_onnx
from sklearn.neural_network import MLPRegressor

from storing import store

FOLDER = pathlib.Path(sys.argv[1])
RANDOM = np.random.default_rng(11)
N = helper.make_node


def values(*shape):
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def write(name, opset, nodes, weights, inputs, outputs=("y",), batch="batch", external=False, fixed=False):
    kinds = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64, np.dtype(np.int32): TensorProto.INT32}
    given = [helper.make_tensor_value_info(k, kinds[a.dtype], list(a.shape) if fixed else [batch, *a.shape[1:]]) for k, a in inputs.items()]
    made = [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in outputs]
    held = [numpy_helper.from_array(a, k) for k, a in weights.items()]
    model = helper.make_model(helper.make_graph(nodes, name, given, made, held), opset_imports=[helper.make_opsetid("", opset)], ir_version=8 if opset < 21 else 10)
    path = FOLDER / f"odd_{name}.onnx"
    if external:
        onnx.save(model, path, save_as_external_data=True, location=f"odd_{name}.bin", size_threshold=0)
    else:
        onnx.save(model, path)
    try:
        store(path, inputs)
    except Exception as fault:
        print(f"{path.name}: onnxruntime refuses it: {str(fault)[:300]}")
        path.unlink()


def scikit():
    """Regression alone: what skl2onnx writes of classifiers, scalers and linear models are operators of ai.onnx.ml."""
    x = values(60, 6)
    for activation in ("relu", "tanh", "logistic"):
        model = MLPRegressor(hidden_layer_sizes=(12, 7), activation=activation, max_iter=60).fit(x, x @ values(6))
        made = to_onnx(model, x[:1], target_opset=17)
        path = FOLDER / f"sklearn_mlp_{activation}.onnx"
        path.write_bytes(made.SerializeToString())
        store(path, {made.graph.input[0].name: x[:4]})


def recurrent():
    for op, gates, further in (("RNN", 1, {}), ("RNN", 1, {"direction": "reverse"}), ("RNN", 1, {"direction": "bidirectional", "activations": ["Relu", "Tanh"]}),
                               ("GRU", 3, {}), ("GRU", 3, {"direction": "bidirectional"}), ("GRU", 3, {"direction": "reverse", "linear_before_reset": 1})):
        ways = 2 if further.get("direction") == "bidirectional" else 1
        name = "_".join([op.lower(), *(str(v) if isinstance(v, str) else "x" for v in further.values())])
        write(name, 14, [N("Transpose", ["x"], ["t"], perm=[1, 0, 2]), N(op, ["t", "w", "r", "b"], ["s", "h"], hidden_size=5, **further),
                         N("Transpose", ["s"], ["u"], perm=[2, 0, 1, 3]), N("Reshape", ["u", "flat"], ["y"]), N("Transpose", ["h"], ["g"], perm=[1, 0, 2]), N("Reshape", ["g", "row"], ["last"])],
              {"w": values(ways, gates * 5, 4), "r": values(ways, gates * 5, 5), "b": values(ways, gates * 10),
               "flat": np.array([0, 7, ways * 5], np.int64), "row": np.array([0, ways * 5], np.int64)}, {"x": values(3, 7, 4)}, ("y", "last"))


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    scikit()
    recurrent()
    ints = lambda *numbers: np.array(numbers, np.int64)
    # Old and new operators of the same meaning.
    write("opset_7", 7, [N("Conv", ["x", "k"], ["c"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]), N("Upsample", ["c"], ["up"], mode="nearest", scales=[1.0, 1.0, 2.0, 2.0]),
                         N("Pad", ["up"], ["p"], pads=[0, 0, 1, 0, 0, 0, 0, 1], value=0.5), N("Slice", ["p"], ["s"], axes=[2, 3], starts=[1, 0], ends=[9, -1]),
                         N("ReduceMean", ["s"], ["m"], axes=[2], keepdims=1), N("Squeeze", ["m"], ["y"], axes=[2])], {"k": values(4, 2, 3, 3)}, {"x": values(3, 2, 4, 5)})
    write("opset_21", 21, [N("ReduceMean", ["x", "axes"], ["m"], keepdims=1), N("Sub", ["x", "m"], ["d"]), N("Gelu", ["d"], ["g"], approximate="tanh"),
                           N("GroupNormalization", ["g", "s", "b"], ["n"], num_groups=2, epsilon=1e-3), N("ReduceMax", ["n", "last"], ["y"], keepdims=0)],
          {"axes": ints(2), "last": ints(-1), "s": values(4), "b": values(4)}, {"x": values(2, 4, 6)})
    for name in ("N", "unk__17", "batch_size", ""):
        write(f"batch_named_{name or 'nothing'}", 13, [N("MatMul", ["x", "w"], ["m"]), N("Add", ["m", "b"], ["a"]), N("Softmax", ["a"], ["y"], axis=-1)],
              {"w": values(6, 4), "b": values(4)}, {"x": values(3, 6)}, batch=name)
    write("external", 13, [N("Gemm", ["x", "w", "b"], ["h"], transB=1), N("Tanh", ["h"], ["t"]), N("MatMul", ["t", "v"], ["y"])],
          {"w": values(8, 6), "b": values(8), "v": values(8, 3)}, {"x": values(3, 6)}, external=True)
    # Shapes that were folded for one batch: every number stands in the file.
    write("folded", 13, [N("Reshape", ["x", "a"], ["r"]), N("Transpose", ["r"], ["t"], perm=[0, 2, 1, 3]), N("Reshape", ["t", "b"], ["f"]), N("MatMul", ["f", "w"], ["m"]), N("Reshape", ["m", "c"], ["y"])],
          {"a": ints(2, 5, 3, 4), "b": ints(2, 3, 20), "w": values(20, 6), "c": ints(2, 18)}, {"x": values(2, 5, 12)}, fixed=True)
    write("stretched", 13, [N("Expand", ["c", "shape"], ["e"]), N("Concat", ["e", "x"], ["j"], axis=1), N("Add", ["j", "p"], ["y"])],
          {"c": values(1, 1, 6), "shape": ints(2, 1, 6), "p": values(1, 5, 6)}, {"x": values(2, 4, 6)}, fixed=True)
    write("tied", 13, [N("Gather", ["w", "x"], ["e"]), N("ReduceMean", ["e"], ["m"], axes=[1], keepdims=0), N("Transpose", ["w"], ["wt"], perm=[1, 0]), N("MatMul", ["m", "wt"], ["y"])],
          {"w": values(20, 8)}, {"x": RANDOM.integers(0, 20, (3, 5))})
    write("constants", 13, [N("Constant", [], ["k"], value_float=0.5), N("Constant", [], ["l"], value_floats=[1.0, 2.0, 3.0]), N("ConstantOfShape", ["n"], ["o"], value=numpy_helper.from_array(np.array([2], np.float32))),
                            N("Mul", ["x", "k"], ["a"]), N("Add", ["a", "l"], ["b"]), N("Pow", ["b", "o"], ["c"]), N("Min", ["c", "l"], ["d"]), N("Sum", ["d", "x", "a"], ["y"])],
          {"n": ints(3)}, {"x": values(4, 3)})
    write("arithmetic", 17, [N("Clip", ["x", "low", "high"], ["a"]), N("Mul", ["a", "two"], ["m"]), N("ReduceL2", ["m"], ["n"], axes=[1], keepdims=1), N("Div", ["m", "n"], ["y"])],
          {"low": np.float32(-0.5).reshape(()), "high": np.float32(0.6).reshape(()), "two": np.float32(0.7).reshape(())}, {"x": values(3, 6)})


main()
