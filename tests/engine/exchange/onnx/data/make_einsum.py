"""Einsum, CumSum and Mod: make_einsum.py writes the small files that the tests read, beside itself; make_einsum.py FOLDER
writes one file an equation there, and what torch and Keras (2, by tf2onnx) export with these operators, as far as each can be
imported (onnx, onnxruntime; torch, onnxscript; tensorflow-cpu==2.15.1, tf2onnx==1.16.1; from pip). The tests read those where
GRADLOOM_ONNX_MODELS names the folder."""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from storing import store

RANDOM = np.random.default_rng(17)
N = helper.make_node


def values(*shape):
    return RANDOM.uniform(-1, 1, shape).astype(np.float32)


def write(path, opset, nodes, weights, inputs, outputs=("y",)):
    given = [helper.make_tensor_value_info(k, TensorProto.FLOAT, ["batch", *a.shape[1:]]) for k, a in inputs.items()]
    made = [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in outputs]
    graph = helper.make_graph(nodes, path.stem, given, made, [numpy_helper.from_array(np.asarray(a), k) for k, a in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)
    store(path, inputs)


def einsum(inputs, output, equation):
    return N("Einsum", inputs, [output], name=output, equation=equation)


def together(folder):
    """An attention as Keras writes it; heads with matrices of their own; outer products, several operands, no result said."""
    write(folder / "einsum.onnx", 13, [
        einsum(["x", "wq"], "q0", "btc,chd->bthd"), N("Add", ["q0", "bq"], ["q"]), N("Mul", ["q", "scale"], ["qs"]),
        einsum(["x", "wk"], "k", "...c,chd->...hd"), einsum(["k", "qs"], "s", "bkhd,bqhd->bhqk"), N("Softmax", ["s"], ["p"], axis=-1),
        einsum(["x", "wv"], "v", "btc, chd -> bthd"), einsum(["p", "v"], "o", "bhqk,bkhd->bqhd"),
        einsum(["o", "wo"], "y0", "bqhd,hdc->bqc"), N("Add", ["y0", "bo"], ["y"]),
        einsum(["y", "wh"], "h0", "btc,chd->bthd"), einsum(["h0", "own"], "own_heads", "bthd,hde->bteh"),
        einsum(["y"], "sums", "btc->bt"), einsum(["sums", "sums"], "outer", "bi,bj->bij"),
        einsum(["y", "c", "sums"], "three", "btc,c,bt->bc"), einsum(["y", "w"], "unsaid", "btc,cd"),
        einsum(["x", "x"], "products", "bij,bkj->bik"),
    ], {"wq": values(8, 2, 4), "bq": values(2, 4), "scale": np.float32(0.5), "wk": values(8, 2, 4), "wv": values(8, 2, 4), "wo": values(2, 4, 8), "bo": values(8),
        "wh": values(8, 3, 2), "own": values(3, 2, 5), "c": values(8), "w": values(8, 3)},
        {"x": values(3, 6, 8)}, ("y", "own_heads", "outer", "three", "unsaid", "products"))


def running(folder):
    axis = lambda number: np.array(number, np.int64)
    write(folder / "running_sums.onnx", 14, [
        N("CumSum", ["x", "last"], ["a"]), N("CumSum", ["x", "first"], ["b"], exclusive=1, reverse=1),
        N("Mod", ["a", "step"], ["m"], fmod=1), N("Mod", ["b", "steps"], ["n"], fmod=1), N("Add", ["b", "ten"], ["b10"]), N("Mod", ["a", "b10"], ["both"], fmod=1),
        N("Mod", ["places", "three"], ["rest"]), N("Gather", ["a", "rest"], ["picked"], axis=1),
    ], {"last": axis(-1), "first": axis(1), "step": np.float32(0.7), "steps": values(4, 1) + 2, "places": np.arange(-2, 5), "three": axis(3), "ten": np.float32(10)},
        {"x": values(3, 4, 70)}, ("m", "n", "both", "picked"))


def rows(folder):
    """A LayerNormalization as Keras (2) writes it: rows as channels of one image."""
    ints = lambda *numbers: np.array(numbers, np.int64)
    write(folder / "keras_rows.onnx", 13, [
        N("Shape", ["x"], ["shape"]), N("Slice", ["shape", "zero", "two"], ["lead"]), N("ReduceProd", ["lead"], ["count"], axes=[0], keepdims=1),
        N("Expand", ["one", "count"], ["ones"]), N("Expand", ["none", "count"], ["zeros"]), N("Reshape", ["x", "image"], ["r"]),
        N("ReduceMean", ["r"], ["mean"], axes=[0, 2, 3], keepdims=1), N("Sub", ["r", "mean"], ["centred"]), N("ReduceSumSquare", ["centred"], ["squares"], axes=[0, 2, 3], keepdims=0),
        N("Squeeze", ["mean", "others"], ["m"]), N("Div", ["squares", "eight"], ["v"]), N("BatchNormalization", ["r", "ones", "zeros", "m", "v"], ["n"], epsilon=0.01),
        N("Reshape", ["n", "shape"], ["back"]), N("Mul", ["back", "gamma"], ["scaled"]), N("Add", ["scaled", "beta"], ["y"]),
    ], {"zero": ints(0), "two": ints(2), "one": np.float32(1), "none": np.float32(0), "image": ints(1, -1, 8, 1), "others": ints(0, 2, 3), "eight": np.float32(8),
        "gamma": values(8), "beta": values(8)}, {"x": values(3, 5, 8)})


# With the batch in "b"; operands in capitals are weights.
EQUATIONS = ["bij->bji", "bij->b", "bij->bj", "bijk->bki", "bij,jk->bik", "bij,kj->bki", "bij,jk->bk", "bi,bi->b", "bij,bjk->bik", "bij,bkj->bik", "bij,bkj->bki",
             "bhqd,bhkd->bhqk", "bqhd,bkhd->bhqk", "bhqk,bkhd->bqhd", "bhij,hjk->bhik", "bij,bij->bij", "bij,bj->bij", "bij,bkl->bijkl", "bi,i->bi", "bi,j->bij",
             "bij,jkl->bkil", "bij,ij->b", "bijk,bjkl->bil", "...ij,...jk->...ik", "...i,ij->...j", "b...i->b...", "bi,bj,bk->bijk", "bij,bjk,kl->bil", "ij,bjk->bik", "hij,bhj->bhi"]
EXTENTS = dict(b=3, i=4, j=5, k=6, l=2, h=2, q=4, d=3)


def zoo(folder):
    for number, equation in enumerate(EQUATIONS):
        terms = equation.split("->")[0].split(",")
        inputs, weights, names = {}, {}, []
        for place, term in enumerate(terms):
            fed = "b" in term or "..." in term and place == 0 or equation.startswith("...ij")
            shape = [EXTENTS[c] for c in term.replace("...", "bh" if "..." in term and "b" not in term else "h")]
            name = f"x{place}" if fed else f"w{place}"
            (inputs if fed else weights)[name] = values(*shape)
            names.append(name)
        # One number a sample is a row of one here.
        last = [N("Unsqueeze", ["y0", "one"], ["y"])] if equation.endswith("->b") else [N("Identity", ["y0"], ["y"])]
        write(folder / f"einsum_{number:02}.onnx", 13, [einsum(names, "y0", equation), *last], {**weights, "one": np.array([1])}, inputs)


def by_torch(folder):
    import torch

    class Heads(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w, self.out = torch.nn.Parameter(torch.randn(3, 8, 2, 4)), torch.nn.Parameter(torch.randn(2, 4, 8))

        def forward(self, x):
            q, k, v = (torch.einsum("btc,chd->bhtd", x, w) for w in self.w)
            p = torch.softmax(torch.einsum("bhqd,bhkd->bhqk", q, k) / 2, -1)
            y = torch.einsum("bhqd,hdc->bqc", torch.einsum("bhqk,bhkd->bhqd", p, v), self.out)
            return torch.cumsum(y, 1) + torch.remainder(y, 0.3) - torch.fmod(y, 0.7)

    torch.manual_seed(4)
    x = torch.randn(2, 6, 8)
    for exporter, opset in (("legacy", 14), ("legacy", 17), ("dynamo", 18)):
        path = folder / f"torch_einsum_{exporter}_{opset}.onnx"
        if exporter == "legacy":
            torch.onnx.export(Heads(), (x,), path, input_names=["x"], output_names=["y"], opset_version=opset, dynamo=False, dynamic_axes={"x": {0: "batch"}, "y": {0: "batch"}})
        else:
            torch.onnx.export(Heads(), (x,), path, input_names=["x"], output_names=["y"], opset_version=opset, dynamo=True, verbose=False, external_data=False, dynamic_shapes=({0: torch.export.Dim("batch", min=2, max=64)},))
        store(path, {"x": x.numpy()})


def by_keras(folder):
    import tensorflow as tf
    import tf2onnx
    from tensorflow.keras import Model, layers

    def attention(causal=False, cross=False, value=None):
        x = layers.Input((6, 8))
        memory = layers.Dense(8)(x) if cross else x
        y = layers.MultiHeadAttention(2, 4, value_dim=value)(x, memory, use_causal_mask=causal)
        return Model(x, layers.Dense(3)(layers.LayerNormalization()(x + y)))

    def encoder():
        y = x = layers.Input((10, 16))
        for _ in range(2):
            y = layers.LayerNormalization()(y + layers.MultiHeadAttention(4, 4, dropout=0.1)(y, y))
            y = layers.LayerNormalization()(y + layers.Dense(16)(layers.Dense(32, activation="gelu")(y)))
        return Model(x, layers.Dense(5)(layers.GlobalAveragePooling1D()(y)))

    models = {"attention": attention, "causal": lambda: attention(True), "cross": lambda: attention(cross=True), "value_dim": lambda: attention(value=3), "encoder": encoder}
    for name, make in models.items():
        tf.keras.utils.set_random_seed(3)
        model = make()
        for weight in model.weights:  # biases that are not 0
            weight.assign_add(RANDOM.uniform(-0.2, 0.2, weight.shape).astype(np.float32))
        for opset in (13, 18):
            path = folder / f"keras_{name}_{opset}.onnx"
            shape = model.input_shape[1:]
            tf2onnx.convert.from_keras(model, [tf.TensorSpec((None, *shape), tf.float32, name="x")], opset=opset, output_path=str(path))
            store(path, {"x": values(2, *shape)})


if __name__ == "__main__":
    if len(sys.argv) == 1:
        together(pathlib.Path(__file__).parent)
        running(pathlib.Path(__file__).parent)
        rows(pathlib.Path(__file__).parent)
    else:
        folder = pathlib.Path(sys.argv[1])
        folder.mkdir(parents=True, exist_ok=True)
        for make in (zoo, by_torch, by_keras):
            try:
                make(folder)
            except ImportError as fault:
                print(f"{make.__name__}: left out, {fault}")
