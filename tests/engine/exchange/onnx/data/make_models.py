"""The small files that the tests read: make_models.py (needs onnx, onnxruntime and torch from pip; writes beside itself).
Each shows constructs of one kind; what onnxruntime computes lies beside it in a .safetensors."""
import pathlib

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

import make_zoo as zoo
from storing import store

HERE = pathlib.Path(__file__).parent
RANDOM = np.random.default_rng(5)


def weights(**arrays):
    return [numpy_helper.from_array(np.asarray(a, np.float32) if np.asarray(a).dtype == np.float64 else np.asarray(a), name) for name, a in arrays.items()]


def values(*shape):
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def write(name, opset, nodes, initializers, inputs, outputs=("y",), functions=(), batch="batch", external=False):
    """`inputs`: arrays by name; the first axis is left open under the name `batch`, or fixed where that is None."""
    kinds = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64}
    given = [helper.make_tensor_value_info(k, kinds[a.dtype], list(a.shape) if batch is None else [batch, *a.shape[1:]]) for k, a in inputs.items()]
    made = [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in outputs]
    graph = helper.make_graph(nodes, name, given, made, initializers)
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid("local", 1)] * bool(functions)
    model = helper.make_model(graph, opset_imports=imports, functions=list(functions), ir_version=8)
    path = HERE / f"{name}.onnx"
    if external:
        onnx.save(model, path, save_as_external_data=True, location=f"{name}.bin", size_threshold=0)
    else:
        onnx.save(model, path)
    store(path, inputs)


N = helper.make_node


def windows():
    write("windows", 11, [
        N("Conv", ["x", "a"], ["c1"], auto_pad="SAME_LOWER", strides=[2, 2], kernel_shape=[4, 3]),
        N("Conv", ["c1", "b", "bb"], ["c2"], pads=[0, 1, 2, 0], dilations=[2, 1], group=2, kernel_shape=[2, 2]),
        N("MaxPool", ["c2"], ["p1"], kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 0, 1], ceil_mode=1),
        N("AveragePool", ["p1"], ["p2"], kernel_shape=[2, 2], pads=[1, 1, 0, 0], count_include_pad=1),
        N("AveragePool", ["p2"], ["p3"], kernel_shape=[2, 2], strides=[1, 2], pads=[0, 1, 1, 0], ceil_mode=1),
        N("ConvTranspose", ["p3", "d"], ["t"], strides=[2, 2], pads=[0, 1, 1, 0], output_padding=[1, 0], kernel_shape=[3, 3]),
        N("LRN", ["t"], ["l"], size=3, alpha=0.3, beta=0.6, bias=1.5),
        N("GlobalAveragePool", ["l"], ["g"]), N("Flatten", ["g"], ["y"]),
    ], weights(a=values(4, 2, 4, 3), b=values(6, 2, 2, 2), bb=values(6), d=values(6, 5, 3, 3)), {"x": values(2, 2, 13, 11)})


def oldest():
    write("oldest", 7, [
        N("BatchNormalization", ["x", "s", "b", "m", "v"], ["n"], epsilon=1e-3),
        N("Clip", ["n"], ["c"], min=0.0, max=3.4e38), N("Dropout", ["c"], ["d"], ratio=0.25),
        N("Reshape", ["d", "shape"], ["r"]), N("Gemm", ["r", "w", "bias"], ["g"], alpha=0.5, beta=2.0, transB=1),
        N("LeakyRelu", ["g"], ["q"], alpha=0.2), N("Gemm", ["q", "w2", "bias2"], ["h"]), N("Softmax", ["h"], ["y"], axis=1),
    ], weights(s=values(3) + 1.5, b=values(3), m=values(3), v=values(3) + 1.5, w=values(5, 12), bias=values(5), w2=values(5, 4), bias2=values(1, 4))
        + weights(shape=np.array([0, -1], np.int64)), {"x": values(3, 3, 2, 2)})


def shapes():
    """What exporters calculate with shapes: none of it is left in a drawing."""
    ints = lambda *numbers: np.array(numbers, np.int64)
    one = lambda number: np.array(number, np.int64)
    write("shapes", 13, [
        N("Shape", ["x"], ["s"]), N("Gather", ["s", "zero"], ["b"]), N("Unsqueeze", ["b", "axis"], ["b1"]),
        N("Concat", ["b1", "rest"], ["target"], axis=0), N("Reshape", ["x", "target"], ["r"]),
        N("Transpose", ["r"], ["t"], perm=[0, 2, 1, 3]), N("Shape", ["t"], ["ts"]), N("Slice", ["ts", "zero1", "two1"], ["lead"]),
        N("ReduceProd", ["lead"], ["rows"], keepdims=1), N("Concat", ["rows", "minus"], ["flat"], axis=0),
        N("Reshape", ["t", "flat"], ["f"]), N("MatMul", ["f", "w"], ["m"]), N("Add", ["bias", "m"], ["l"]),
        N("Concat", ["lead", "minus"], ["back"], axis=0), N("Reshape", ["l", "back"], ["u"]),
        N("Slice", ["u", "one1", "big", "two1", "one1"], ["cut"]), N("Gather", ["cut", "one"], ["picked"], axis=1),
        N("Unsqueeze", ["picked", "axis1"], ["wide"]), N("Squeeze", ["wide", "axis1"], ["y"]),
    ], weights(zero=one(0), one=one(1), axis=ints(0), axis1=ints(1), rest=ints(2, 3, 4), zero1=ints(0), one1=ints(1), two1=ints(2), minus=ints(-1),
               big=ints(2**62), w=values(8, 5), bias=values(5)), {"x": values(3, 24)})


def functions():
    """GELU in two forms, SiLU, hard swish, a normalisation and a bias, written out; a local function; a branch on a constant."""
    number = lambda v: np.array(v, np.float32)
    local = helper.make_function("local", "Half", ["a"], ["b"], [N("Constant", [], ["h"], value_float=0.5), N("Mul", ["a", "h"], ["b"])], [helper.make_opsetid("", 13)])
    branch = lambda op: helper.make_graph([N(op, ["e"], ["inner_" + op])], op, [], [helper.make_tensor_value_info("inner_" + op, TensorProto.FLOAT, None)])
    write("functions", 13, [
        N("MatMul", ["x", "w"], ["m"]), N("Add", ["m", "b"], ["a"]),
        N("ReduceMean", ["a"], ["mean"], axes=[-1]), N("Sub", ["a", "mean"], ["centred"]), N("Pow", ["centred", "two"], ["sq"]),
        N("ReduceMean", ["sq"], ["var"], axes=[-1]), N("Add", ["var", "eps"], ["ve"]), N("Sqrt", ["ve"], ["sd"]), N("Div", ["centred", "sd"], ["n"]),
        N("Mul", ["n", "gamma"], ["ng"]), N("Add", ["ng", "beta"], ["ln"]),
        N("Div", ["ln", "root2"], ["e1"]), N("Erf", ["e1"], ["e2"]), N("Add", ["e2", "one"], ["e3"]), N("Mul", ["ln", "e3"], ["e4"]), N("Mul", ["e4", "half"], ["gelu"]),
        N("Pow", ["gelu", "three"], ["c"]), N("Mul", ["c", "k"], ["ck"]), N("Add", ["gelu", "ck"], ["i"]), N("Mul", ["i", "r2pi"], ["ir"]),
        N("Tanh", ["ir"], ["th"]), N("Add", ["th", "one"], ["th1"]), N("Half", ["gelu"], ["hx"], domain="local"), N("Mul", ["hx", "th1"], ["gelu2"]),
        N("Sigmoid", ["gelu2"], ["sg"]), N("Mul", ["gelu2", "sg"], ["e"]),
        N("If", ["yes"], ["if"], then_branch=branch("Tanh"), else_branch=branch("Relu")), N("MatMul", ["if", "w2"], ["y"]),
    ], weights(w=values(6, 8), b=values(8), two=number(2), three=number(3), eps=number(1e-4), gamma=values(8) + 1, beta=values(8), root2=number(2**0.5), one=number(1),
               half=number(0.5), k=number(0.044715), r2pi=number((2 / np.pi)**0.5), w2=values(8, 3)) + weights(yes=np.array(True)), {"x": values(3, 5, 6)}, functions=[local])


def recurrent():
    """Both outputs of a two-way LSTM with biases of both kinds; a backward GRU; time first, as ONNX has it."""
    write("recurrent", 14, [
        N("Transpose", ["x"], ["t"], perm=[1, 0, 2]),
        N("LSTM", ["t", "w", "r", "b", "", "h0", "h0"], ["ys", "yh", ""], hidden_size=4, direction="bidirectional"),
        N("Transpose", ["ys"], ["yt"], perm=[0, 2, 1, 3]), N("Reshape", ["yt", "flat"], ["seq"]),
        N("GRU", ["seq", "gw", "gr", "gb"], ["gs", "gh"], hidden_size=3, direction="reverse", linear_before_reset=1),
        N("Squeeze", ["gh", "axis0"], ["last"]), N("Transpose", ["yh"], ["ht"], perm=[1, 0, 2]), N("Reshape", ["ht", "pair"], ["state"]),
        N("Concat", ["last", "state"], ["all"], axis=1), N("Gemm", ["all", "fw"], ["y"]),
    ], weights(w=values(2, 16, 5), r=values(2, 16, 4), b=values(2, 32), gw=values(1, 9, 8), gr=values(1, 9, 3), gb=values(1, 18), fw=values(11, 2), h0=np.zeros((2, 3, 4), np.float32),
               flat=np.array([0, 0, -1], np.int64), axis0=np.array([0], np.int64), pair=np.array([0, -1], np.int64)), {"x": values(3, 6, 5)}, batch=None)


def embedding():
    """Indices of a text, positions, weights in a file beside it."""
    write("embedding", 17, [
        N("Gather", ["table", "tokens"], ["e"]), N("Add", ["e", "positions"], ["p"]), N("LayerNormalization", ["p", "g", "b"], ["n"], axis=-1, epsilon=1e-6),
        N("ReduceMean", ["n"], ["m"], axes=[1], keepdims=0), N("Gemm", ["m", "w"], ["y"]),
    ], weights(table=values(11, 6), positions=values(1, 5, 6), g=values(6) + 1, b=values(6), w=values(6, 3)), {"tokens": RANDOM.integers(0, 11, (4, 5))}, external=True)


def exported(name, model, x, exporter, opset, fixed=False):
    torch.manual_seed(2)
    model = zoo.settle(model())
    path = HERE / f"{name}.onnx"
    if exporter == "legacy":
        torch.onnx.export(model, (x,), path, input_names=["x"], output_names=["y"], opset_version=opset, dynamo=False,
                          dynamic_axes=None if fixed else {"x": {0: "batch"}, "y": {0: "batch"}})
    else:
        torch.onnx.export(model, (x,), path, input_names=["x"], output_names=["y"], opset_version=opset, dynamo=True, verbose=False, external_data=False,
                          dynamic_shapes=None if fixed else ({0: torch.export.Dim("batch", min=2, max=64)},))
        plain = onnx.load(path)
        for node in plain.graph.node:  # where each came from: longer than all else
            del node.metadata_props[:]
        onnx.save(plain, path)
    store(path, {"x": x.numpy()})


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.attention, self.fc = nn.LayerNorm(8), nn.MultiheadAttention(8, 2, batch_first=True), nn.Linear(8, 3)

    def forward(self, x):
        y = self.norm(x)
        return self.fc(x + self.attention(y, y, y, need_weights=False)[0])


class Causal(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 8)

    def forward(self, x):
        q, k, v = (s.view(x.shape[0], 6, 4, 2).transpose(1, 2) for s in self.qkv(x).chunk(3, -1))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(x.shape[0], 6, 8))


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1, self.conv2, self.fc = nn.Conv2d(2, 4, 3, 2, 1, bias=False), nn.BatchNorm2d(4), nn.Conv2d(4, 4, 3, 1, 1), nn.Linear(4, 3)

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        return self.fc((y + self.conv2(y)).mean((2, 3)))


if __name__ == "__main__":
    for make in (windows, oldest, shapes, functions, recurrent, embedding):
        make()
    torch.manual_seed(9)
    sequence, image = torch.randn(2, 6, 8), torch.randn(2, 2, 9, 7)
    exported("torch_attention_legacy_fixed", Attention, sequence, "legacy", 17, True)
    exported("torch_attention_dynamo", Attention, sequence, "dynamo", 18)
    exported("torch_causal_legacy", Causal, sequence, "legacy", 14)
    exported("torch_causal_dynamo_fixed", Causal, sequence, "dynamo", 18, True)
    exported("torch_residual_legacy", Residual, image, "legacy", 9)
    exported("torch_residual_dynamo", Residual, image, "dynamo", 21)
