"""Small files of one operator each, with what onnxruntime gives: make_operators.py FILE [--long SEED] (needs onnx, onnxruntime from pip).
Operators x attributes x versions x shapes x values: large, small, negative, equal, infinite and missing ones. A line of FILE is a case; the
first holds the inputs, which many share. --long makes many more, of other attributes and values, for a run by hand:
GRADLOOM_ONNX_CASES=FILE test_onnx --gtest_filter='OnnxOperators.*'."""
import argparse
import base64
import itertools
import json
import warnings

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T, helper as H, numpy_helper as NH

onnxruntime.set_default_logger_severity(4)
ARGUMENTS = argparse.ArgumentParser()
ARGUMENTS.add_argument("file")
ARGUMENTS.add_argument("--long", type=int)
ARGUMENTS = ARGUMENTS.parse_args()
LONG = ARGUMENTS.long is not None
RANDOM = np.random.default_rng(ARGUMENTS.long or 5)
NEWEST = 25
KINDS = {np.dtype(np.float32): T.FLOAT, np.dtype(np.int64): T.INT64, np.dtype(np.int32): T.INT32, np.dtype(np.uint8): T.UINT8, np.dtype(np.int8): T.INT8,
         np.dtype(np.bool_): T.BOOL, np.dtype(np.uint32): T.UINT32, np.dtype(np.uint64): T.UINT64}
F = np.float32


def spread(*shape):
    return RANDOM.uniform(-2, 2, shape).astype(F)


WIDE = np.array([[0.0, -0.0, 1e-6, -1e-3, 0.3, -0.49, 0.5, 1, -1, 1.5, 2.5, -2.5], [3, -3, 5.9, 7, -20.3, 31.4, 300, -300, 1e4, -1e4, 1e10, -1e10],
                 [3e38, -3e38, np.inf, -np.inf, np.nan, 1e-30, -0.5, 0.75, 2, -2, 6, 0.999]], F)
POOL = {"wide": WIDE, "turned": WIDE[:, ::-1].copy(), "finite": np.where(np.isinf(WIDE), F(8.5), WIDE), "equal": np.full((2, 4), 1.25, F), "equals": np.array([[3, 1, 3, 3], [-2, -2, -7, -2]], F), "some": spread(3, 12),
        "row": spread(2, 5), "positive": np.abs(spread(2, 5)) + F(0.1), "sequence": spread(2, 4, 6), "other": spread(2, 4, 6), "image": spread(2, 4, 6, 5), "cube": spread(2, 2, 4, 3, 5),
        "signal": spread(2, 4, 9), "steps": spread(3, 2, 4), "one": spread(2, 1), "column": spread(2, 4, 1), "far": np.array([[1e6, 1e6 + 1, 1e6 - 1], [-1e6, 1e-6, 0]], F),
        "spiky": np.array([[[[1, -3e38, 5], [np.inf, 2, -7], [0, -1, 30]]]], F), "wholes": np.array([[7, -7, 8, -9, 0, 100], [3, -1, 127, -128, 5, 6]], np.int64),
        "divisors": np.array([[2, 2, -3, 4, 5, 7], [-2, 3, 10, 9, -5, 6]], np.int64), "truths": np.array([[True, False, True, False], [False, False, True, True]]),
        "otherTruths": np.array([[True, True, False, False], [False, True, False, True]]), "ids": np.array([[0, 3, 2], [1, 1, 4]], np.int64),
        "missing": np.array([[1, np.nan, 3], [0, -2, np.nan]], F), "zeros": np.array([[0, 0, 0], [3, -4, 0]], F)}
LINES, SEEN, COUNTS, KEPT = [], set(), {}, set()  # KEPT: names of cases that a short run keeps whatever it leaves out


def versions(op, domain=""):
    """The first and the last version of the operators that say something else of it."""
    found = sorted({s.since_version for s in onnx.defs.get_all_schemas_with_history() if s.name == op and s.domain == domain and s.since_version <= NEWEST})
    if domain:
        return [None]
    if not found:
        return []
    all_of = sorted({max(v, 7) for v in found}) + [NEWEST]
    return all_of if LONG else sorted({all_of[0], all_of[-1]})


def text(array):
    return base64.b64encode(np.ascontiguousarray(array, dtype=F).tobytes()).decode()


def case(op, given, consts=None, outputs=1, order=None, domain="", only=None, batch_axis=0, out_axes=(0, 0), types=None, keep=False, **attributes):
    """`given`: names in the pool; `consts`: arrays by name, behind them. `order`: of all input names. `only`: versions. In the file the batch stands in front,
    wherever the operator has it. `keep`: a short run, too."""
    consts = consts or {}
    names = order or [*given, *consts]
    values = {n: POOL[n] if types is None else POOL[n].astype(types) for n in given}
    for version in versions(op, domain) if only is None else [v for v in versions(op, domain) if only(v or 0)]:
        imports = [H.make_opsetid("", version or 17)] + ([H.make_opsetid(domain, 3)] if domain else [])
        info = [H.make_tensor_value_info(n, KINDS[a.dtype], ["N" if i == batch_axis else d for i, d in enumerate(a.shape)]) for n, a in values.items()]
        made = [f"y{i}" for i in range(outputs)]
        try:
            node = H.make_node(op, names, made, domain=domain, **attributes)
            graph = H.make_graph([node], "g", info, [H.make_empty_tensor_value_info(m) for m in made], [NH.from_array(a, n) for n, a in consts.items()])
            model = H.make_model(graph, opset_imports=imports, ir_version=8 if (version or 17) < 21 else 10)
            session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
            wanted = session.run(None, values)
        except Exception as fault:
            COUNTS.setdefault("left out: onnxruntime or onnx refuse it", []).append(f"{op} {version}: {str(fault)[:90]}")
            continue
        name = "_".join([op, str(version or domain), *given] + [f"{k}={v}" for k, v in attributes.items()] + [f"{k}={a.tolist()}" for k, a in consts.items() if a.size <= 6])
        if types is not None:
            name += "_" + np.dtype(types).name
        if name in SEEN:
            continue
        SEEN.add(name)
        if keep:
            KEPT.add(name[:200])
        LINES.append({"name": name[:200], "op": op, "model": base64.b64encode(model.SerializeToString()).decode(), "in": given if types is None else [f"{n}:{np.dtype(types).name}" for n in given],
                      "out": [[list(w.shape), text(w)] for w in (np.moveaxis(w, at, 0) if w.ndim else w for w, at in zip(wanted, out_axes))]})
        if types is not None:
            for n in given:
                POOL.setdefault(f"{n}:{np.dtype(types).name}", values[n])


def scalar(x, kind=F):
    return np.array(x, kind)


def vector(*x, kind=np.int64):
    return np.array(x, kind)


def elementwise():
    for op in ("Relu LeakyRelu Elu Selu Sigmoid Tanh HardSwish HardSigmoid Softplus Softsign Mish Celu Erf Abs Neg Exp Log Sqrt Reciprocal Sign Floor Ceil Round Sin Cos Tan Asin Acos Atan "
               "Sinh Cosh Asinh Acosh Atanh Gelu Swish Identity IsNaN IsInf Shrink").split():
        case(op, ["wide"])
    for op, further in (("LeakyRelu", {"alpha": -0.3}), ("Elu", {"alpha": 0.4}), ("Elu", {"alpha": -1.5}), ("Celu", {"alpha": 2.5}), ("HardSigmoid", {"alpha": 0.7, "beta": -0.2}), ("Selu", {"alpha": 1.5, "gamma": 2.0}), ("Swish", {"alpha": 1.702})):
        case(op, ["wide"], **further)
    # Without infinities (and NaN where a mask is multiplied with, which keeps it here): onnxruntime makes the largest number of one where a Clip has no bound, and here a mask times one is NaN.
    for alpha in (0.0, 1.0, 2.5):
        case("ThresholdedRelu", ["some"], alpha=alpha)
    case("Gelu", ["some"], approximate="tanh")
    case("Not", ["truths"])
    for low, high in ((0, None), (0, 6), (None, 2), (-1, 1), (2, -1), (None, None), (0.0, 20.0)):
        bounds = {k: scalar(v) for k, v in (("low", low), ("high", high)) if v is not None}
        case("Clip", ["finite"], bounds, order=["finite", "low" if low is not None else "", "high" if high is not None else ""], only=lambda v: v >= 11)
        case("Clip", ["finite"], only=lambda v: v < 11, **{k: float(v) for k, v in (("min", low), ("max", high)) if v is not None})
    for op in "Add Sub Mul Div Max Min Pow Mean Sum Equal Greater GreaterOrEqual Less LessOrEqual".split():
        case(op, ["wide", "turned"])
        case(op, ["sequence", "column"])
        for number in (0, 1, 2, -1.5, 0.5, 3):
            case(op, ["wide"], {"c": scalar(number)})
            case(op, ["wide"], {"c": scalar(number)}, order=["c", "wide"])
        case(op, ["sequence"], {"c": spread(6)})
        case(op, ["sequence"], {"c": spread(4, 1)}, order=["c", "sequence"])
    for op in ("Add", "Sub", "Mul", "Max", "Min"):
        case(op, ["wholes", "divisors"], types=np.int32)
        case(op, ["wholes", "divisors"], types=np.int8)
    for kind in (np.int64, np.int32, np.uint32, np.uint64, np.uint8):
        base = [n if np.issubdtype(kind, np.signedinteger) else n + "Positive" for n in ("wholes", "divisors")]
        case("Div", base, types=kind)
        case("Mod", base, types=kind)
        case("Div", base[:1], {"c": np.array(3, kind)}, types=kind)
        case("Mod", base[:1], {"c": np.array(3, kind)}, types=kind)
        case("Mod", base[:1], {"c": np.array([2, 3, 4, 5, 7, 9], kind)}, types=kind)
    case("Mod", ["some", "turned"], fmod=1)
    case("Mod", ["wide"], {"c": scalar(1.75)}, fmod=1)
    for op in ("And", "Or", "Xor"):
        case(op, ["truths", "otherTruths"])
        case(op, ["truths"], {"c": np.array(True)})
        case(op, ["truths"], {"c": np.array([True, False, True, True])}, order=["c", "truths"])
    for to in (T.FLOAT, T.INT32, T.INT64, T.BOOL, T.DOUBLE):
        case("Cast", ["some"], to=to)
        case("Cast", ["truths"], to=to)
        case("Cast", ["wholes"], to=to)
    case("Cast", ["wholes"], to=T.INT8)
    case("Cast", ["wholes"], to=T.UINT8)
    for slope in ([0.25], [[0.1, 0.2, 0.3, 0.4, 0.5, 0.6]], [[[0.1], [0.2], [-0.3], [0.4]]]):
        case("PRelu", ["sequence"], {"c": np.array(slope, F)})
    case("PRelu", ["image"], {"c": spread(4, 1, 1)})
    case("PRelu", ["finite"], {"c": scalar(0.25)})
    case("Where", ["truths", "equal", "equals"])
    case("Where", ["truths", "equals"], {"c": scalar(-1e9)})
    case("Where", ["truths", "equals"], {"c": scalar(-1e9)}, order=["truths", "c", "equals"])
    case("Dropout", ["row"])


def axes():
    for op in "ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceSumSquare ReduceLogSum ReduceLogSumExp".split():
        for axis, keep in itertools.product(([1], [-1], [1, 2], [2, 1], [0]), (0, 1)):
            for of in ("sequence",) if not LONG else ("sequence", "image"):
                case(op, [of], keepdims=keep, axes=axis)
                case(op, [of], {"axes": vector(*axis)}, keepdims=keep, only=lambda v: v >= (13 if op == "ReduceSum" else 18))
        case(op, ["wide"], {"axes": vector(1)}, only=lambda v: v >= 18)
        case(op, ["far"], {"axes": vector(1)}, only=lambda v: v >= 18)
        case(op, ["sequence"], noop_with_empty_axes=1, only=lambda v: v >= 18)
    for op in ("ArgMax", "ArgMin"):
        for axis, keep, last in itertools.product((1, -1), (0, 1), (0, 1)):
            case(op, ["equals"], axis=axis, keepdims=keep, **({"select_last_index": 1} if last else {}))
        case(op, ["sequence"], axis=2, keepdims=0)
        case(op, ["far"], axis=1)
    for axis in (1, -1, 2, 0):
        for op in ("Softmax", "LogSoftmax", "Hardmax"):
            case(op, ["sequence"], axis=axis)
    for op in ("Softmax", "LogSoftmax"):
        case(op, ["far"], axis=1)
        case(op, ["image"], axis=1)
    for exclusive, reverse in itertools.product((0, 1), (0, 1)):
        case("CumSum", ["sequence"], {"axis": scalar(1, np.int64)}, exclusive=exclusive, reverse=reverse)
    for k, largest, axis in itertools.product((1, 3), (0, 1), (1, -1)):
        case("TopK", ["sequence"], {"k": vector(k)}, outputs=2, largest=largest, axis=axis, only=lambda v: v >= 11)
        case("TopK", ["equals"], {"k": vector(k)}, outputs=2, largest=largest, only=lambda v: v >= 11)
    case("TopK", ["sequence"], outputs=2, k=2, only=lambda v: v < 10)
    case("OneHot", ["ids"], {"depth": scalar(5, np.int64), "values": vector(0, 1, kind=F)})
    case("OneHot", ["ids"], {"depth": scalar(5, np.int64), "values": vector(0, 3, kind=F)})
    case("OneHot", ["ids"], {"depth": scalar(5, np.int64), "values": vector(0, 1, kind=F)}, axis=1)
    case("LpNormalization", ["sequence"], axis=-1, p=2)
    case("MeanVarianceNormalization", ["image"])
    case("Trilu", ["sequence"], upper=0)


def shapes():
    case("Reshape", ["sequence"], {"shape": vector(0, 6, 4)})
    case("Reshape", ["sequence"], {"shape": vector(-1, 24)})
    case("Reshape", ["sequence"], {"shape": vector(-1, 6)})
    case("Flatten", ["sequence"])
    case("Flatten", ["sequence"], axis=2)
    case("Squeeze", ["column"], axes=[2])
    case("Squeeze", ["column"], {"axes": vector(-1)}, only=lambda v: v >= 13)
    case("Unsqueeze", ["row"], axes=[1])
    case("Unsqueeze", ["row"], {"axes": vector(1, -1)}, only=lambda v: v >= 13)
    for perm in ([0, 2, 1], [1, 0, 2], [2, 1, 0]):
        case("Transpose", ["sequence"], out_axes=[perm.index(0)], perm=perm)
    case("Transpose", ["image"], out_axes=[3])
    for axis in (1, 2, -1):
        case("Concat", ["sequence", "other"], axis=axis)
        case("Split", ["sequence"], outputs=2, axis=axis, only=lambda v: v < 18)
        case("Split", ["sequence"], {"split": vector(1, 3 if axis == 1 else 5)}, outputs=2, axis=axis, only=lambda v: v >= 13)
    case("Split", ["signal"], outputs=2, axis=2, num_outputs=2)
    for starts, ends, axes_, steps in (([1], [3], [1], [1]), ([0], [100], [2], [2]), ([-1], [-100], [2], [-1]), ([3], [0], [1], [-1]), ([1, 1], [3, -1], [1, 2], [1, 2]), ([-3], [-1], [2], [1])):
        case("Slice", ["sequence"], {"starts": vector(*starts), "ends": vector(*ends), "axes": vector(*axes_), "steps": vector(*steps)}, only=lambda v: v >= 10)
        if steps == [1]:
            case("Slice", ["sequence"], starts=starts, ends=ends, axes=axes_, only=lambda v: v < 10)
    for indices, axis in ((scalar(2, np.int64), 1), (scalar(-1, np.int64), 2), (vector(0, 2), 1), (vector(3, 0, 0, -1), 1), (np.array([[0, 1], [2, 3]]), 1)):
        case("Gather", ["sequence"], {"i": indices}, axis=axis)
    case("Gather", ["ids"], {"table": spread(5, 3)}, order=["table", "ids"])
    case("Gather", ["ids"], {"table": spread(3, 5)}, order=["table", "ids"], axis=1)
    for pads, mode in (([0, 1, 2, 0, 0, 1], "constant"), ([0, 1, 2, 0, 0, 1], "reflect"), ([0, 2, 1, 0, 1, 3], "edge"), ([0, -1, 0, 0, 0, -2], "constant"), ([0, 1, 1, 0, 1, 1], "wrap"), ([1, 0, 0, 0, 0, 0], "constant")):
        case("Pad", ["sequence"], {"pads": vector(*pads)}, mode=mode, only=lambda v: v >= 11)
        case("Pad", ["sequence"], pads=pads, mode=mode, only=lambda v: v < 11)
    case("Pad", ["sequence"], {"pads": vector(1, 2), "value": scalar(-3.5), "axes": vector(2)}, only=lambda v: v >= 18)
    case("Pad", ["sequence"], {"pads": vector(0, 0, 1, 0, 0, 0), "value": scalar(-np.inf)}, only=lambda v: v >= 11)
    case("Tile", ["sequence"], {"repeats": vector(1, 2, 3)})
    case("Tile", ["sequence"], {"repeats": vector(2, 1, 1)})
    case("Expand", ["column"], {"shape": vector(1, 4, 3)})
    case("Expand", ["row"], {"shape": vector(1, 1)})
    for mode, block in itertools.product(("DCR", "CRD"), (2,)):
        case("DepthToSpace", ["image"], blocksize=block, mode=mode, only=lambda v: v >= 11)
    case("SpaceToDepth", ["cubeImage"], blocksize=2)
    case("SpaceToDepth", ["cubeImage"], blocksize=2, mode="CRD")
    case("DepthToSpace", ["image"], blocksize=2, only=lambda v: v < 11)


def windows():
    grid = list(itertools.product(([3, 3], [2, 3]), ([1, 1], [2, 2], [3, 2]), ([0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 1, 0]), (0, 1)))
    for i, (kernel, strides, pads, ceiling) in enumerate(grid):
        if not LONG and i % 3:
            continue
        if max(pads) >= min(kernel):
            continue
        case("MaxPool", ["image"], kernel_shape=kernel, strides=strides, pads=pads, ceil_mode=ceiling, only=lambda v: v >= 10)
        for count in (0, 1):
            case("AveragePool", ["image"], kernel_shape=kernel, strides=strides, pads=pads, ceil_mode=ceiling, count_include_pad=count, only=lambda v: v >= 10)
            case("AveragePool", ["image"], kernel_shape=kernel, strides=strides, pads=pads, count_include_pad=count, only=lambda v: v < 10)
    for automatic in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        for op in ("MaxPool", "AveragePool"):
            case(op, ["image"], kernel_shape=[3, 2], strides=[2, 2], auto_pad=automatic)
            case(op, ["signal"], kernel_shape=[4], strides=[3], auto_pad=automatic)
            case(op, ["signal"], kernel_shape=[4], strides=[3], auto_pad=automatic, ceil_mode=1, only=lambda v: v >= 10)
        case("AveragePool", ["image"], kernel_shape=[3, 2], strides=[2, 2], auto_pad=automatic, count_include_pad=1)
        for group in (1, 2):
            case("Conv", ["image"], {"w": spread(6, 4 // group, 3, 2), "b": spread(6)}, auto_pad=automatic, strides=[2, 1], group=group)
            case("ConvTranspose", ["image"], {"w": spread(4, 3, 3, 2)}, auto_pad=automatic, strides=[2, 3], group=group)
    case("MaxPool", ["signal"], kernel_shape=[3], dilations=[2], only=lambda v: v >= 10)
    case("AveragePool", ["signal"], kernel_shape=[3], dilations=[2], only=lambda v: v >= 19)
    case("MaxPool", ["spiky"], kernel_shape=[2, 2])
    case("MaxPool", ["spiky"], kernel_shape=[2, 2], pads=[1, 1, 1, 1])
    case("MaxPool", ["cube"], kernel_shape=[2, 2, 3])
    case("AveragePool", ["cube"], kernel_shape=[2, 2, 3], pads=[1, 0, 1, 0, 1, 1], strides=[2, 2, 2], ceil_mode=1, count_include_pad=1, only=lambda v: v >= 10)
    case("MaxPool", ["image"], outputs=2, kernel_shape=[2, 2])
    for pads, dilations, strides in itertools.product(([0, 0, 0, 0], [2, 1, 0, 1], [1, 1, 1, 1]), ([1, 1], [2, 2]), ([1, 1], [2, 1])):
        case("Conv", ["image"], {"w": spread(3, 4, 2, 2)}, pads=pads, dilations=dilations, strides=strides)
        case("ConvTranspose", ["image"], {"w": spread(4, 2, 3, 3), "b": spread(2)}, pads=pads, dilations=dilations, strides=strides)
    case("ConvTranspose", ["image"], {"w": spread(4, 2, 3, 3)}, strides=[3, 2], output_shape=[17, 11])
    case("ConvTranspose", ["image"], {"w": spread(4, 2, 3, 3)}, strides=[3, 2], output_shape=[17, 10], auto_pad="SAME_UPPER")
    case("ConvTranspose", ["image"], {"w": spread(4, 2, 3, 3)}, strides=[3, 2], output_padding=[1, 1])
    case("Conv", ["signal"], {"w": spread(4, 1, 3)}, group=4)
    case("Conv", ["cube"], {"w": spread(3, 2, 2, 2, 2)})
    for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
        case(op, ["image"])
        case(op, ["signal"])
    case("LpPool", ["image"], kernel_shape=[2, 2])
    for size in (1, 3, 4):
        case("LRN", ["image"], size=size, alpha=0.3, beta=0.6, bias=1.5)


def resizing():
    sizes = [[1, 1, 2.0, 2.0], [1, 1, 1.7, 1.7], [1, 1, 0.5, 0.6], [1, 1, 0.7, 3.0]] + ([[1, 1, float(a), float(b)] for a, b in RANDOM.uniform(0.3, 3, (6, 2)).astype(F)] if LONG else [])
    for scale, mode, coordinates in itertools.product(sizes, ("nearest", "linear", "cubic"), ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric")):
        case("Resize", ["image"], {"scales": np.array(scale, F)}, order=["image", "", "scales"], mode=mode, coordinate_transformation_mode=coordinates, only=lambda v: v >= 13)
    for rounding in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"):
        case("Resize", ["image"], {"scales": np.array([1, 1, 2.3, 0.8], F)}, order=["image", "", "scales"], nearest_mode=rounding, only=lambda v: v >= 13)
        case("Resize", ["image"], {"sizes": vector(2, 4, 9, 4)}, order=["image", "", "", "sizes"], nearest_mode=rounding, coordinate_transformation_mode="asymmetric", only=lambda v: v >= 13)
    for mode in ("nearest", "linear", "cubic"):
        case("Resize", ["image"], {"sizes": vector(2, 4, 4, 9)}, order=["image", "", "", "sizes"], mode=mode, only=lambda v: v >= 13)
        case("Resize", ["image"], {"scales": np.array([1, 1, 2, 1.5], F)}, mode=mode, only=lambda v: v == 10)
        case("Resize", ["image"], {"scales": np.array([1, 1, 0.6, 0.6], F)}, order=["image", "", "scales"], mode=mode, antialias=1, only=lambda v: v >= 18)
        case("Upsample", ["image"], {"scales": np.array([1, 1, 2, 1.5], F)}, mode=mode, only=lambda v: v == 9)
        case("Upsample", ["image"], mode=mode, scales=[1.0, 1.0, 2.0, 1.5], only=lambda v: v < 9)
    case("Resize", ["image"], {"sizes": vector(12, 5)}, order=["image", "", "", "sizes"], mode="linear", axes=[2, 3], only=lambda v: v >= 18)
    # Places are found in 32 bits: which neighbour is the nearest hangs on it where a place is a whole number or midway, and with a large image what is between, too.
    for length, scale, coordinates, rounding in ((174, None, "asymmetric", "floor"), (90, None, "asymmetric", "ceil"), (50, None, "half_pixel", "floor"), (170, None, "half_pixel", "ceil"),
                                                 (None, 1 / 3, "asymmetric", "floor"), (None, 1 / 3, "half_pixel", "floor"), (None, 0.7, "half_pixel", "round_prefer_floor"), (None, 1.3, "asymmetric", "ceil"), (None, 1.2, "asymmetric", "round_prefer_ceil")):
        shape = {"scales": np.array([1, 1, 1, scale], F)} if length is None else {"sizes": vector(2, 1, 1, length)}
        case("Resize", ["strip"], shape, order=["strip", "", *([""] if length else []), *shape], coordinate_transformation_mode=coordinates, nearest_mode=rounding, keep=True, only=lambda v: v >= 13)
    case("Resize", ["strip"], {"sizes": vector(2, 1, 1, 400)}, order=["strip", "", "", "sizes"], mode="cubic", keep=True, only=lambda v: v >= 13)
    case("Resize", ["strip"], {"sizes": vector(2, 1, 1, 400)}, order=["strip", "", "", "sizes"], mode="linear", keep=True, only=lambda v: v >= 13)
    for mode in ("nearest", "linear", "cubic"):  # as large as before: copied
        case("Resize", ["strip"], {"scales": np.array([1, 1, 1, 1.003], F)}, order=["strip", "", "scales"], mode=mode, coordinate_transformation_mode="asymmetric", keep=mode != "linear", only=lambda v: v >= 13)
    for scale in ([1, 1, 1, 0.6], [1, 1, 2, 0.6]):
        case("Resize", ["strip"], {"scales": np.array(scale, F)}, mode="nearest", keep=True, only=lambda v: v == 10)


def weights():
    for trans in (0, 1):
        case("Gemm", ["row"], {"w": spread(*((3, 5) if trans else (5, 3))), "b": spread(3)}, transB=trans, alpha=0.5, beta=-2.0)
        case("Gemm", ["row"], {"w": spread(*((3, 5) if trans else (5, 3)))}, transB=trans, only=lambda v: v >= 11)
    case("Gemm", ["row"], {"w": spread(5, 3), "b": spread(1, 3)})
    case("Gemm", ["row"], {"w": spread(5, 3), "b": spread(2, 1)})
    case("Gemm", ["row"], {"w": spread(5, 3), "b": scalar(0.7)})
    case("MatMul", ["sequence"], {"w": spread(6, 3)})
    case("MatMul", ["sequence"], {"w": spread(6)})
    case("MatMul", ["sequence"], {"w": spread(3, 4)}, order=["w", "sequence"])
    case("MatMul", ["image"], {"w": spread(4, 5, 2)})
    case("MatMul", ["sequence", "columns"])
    for eps in (1e-5, 0.1):
        case("BatchNormalization", ["image"], {"s": spread(4), "b": spread(4), "m": spread(4), "v": np.abs(spread(4)) + F(0.1)}, epsilon=eps)
        case("InstanceNormalization", ["image"], {"s": spread(4), "b": spread(4)}, epsilon=eps)
        case("LayerNormalization", ["sequence"], {"s": spread(6), "b": spread(6)}, epsilon=eps)
        case("RMSNormalization", ["sequence"], {"s": spread(6)}, epsilon=eps)
    case("BatchNormalization", ["row"], {"s": spread(5), "b": spread(5), "m": spread(5), "v": np.abs(spread(5)) + F(0.1)})
    for groups in (1, 2, 4):
        case("GroupNormalization", ["image"], {"s": spread(4), "b": spread(4)}, num_groups=groups, only=lambda v: v >= 21)
        case("GroupNormalization", ["image"], {"s": spread(groups), "b": spread(groups)}, num_groups=groups, only=lambda v: v < 21)
    for scale in ((4, 6), (4, 1), (1, 6), (6,), (1,), (1, 4, 1)):
        case("LayerNormalization", ["sequence"], {"s": spread(*scale), "b": spread(6)}, axis=1)
        case("LayerNormalization", ["sequence"], {"s": spread(*scale)}, axis=-1)
        case("RMSNormalization", ["sequence"], {"s": spread(*scale)}, axis=-1)
        case("RMSNormalization", ["sequence"], {"s": spread(*scale)}, axis=1)
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        for direction, before in itertools.product(("forward", "reverse", "bidirectional"), (0, 1) if op == "GRU" else (None,)):
            ways = 2 if direction == "bidirectional" else 1
            consts = {"w": spread(ways, gates * 3, 4), "r": spread(ways, gates * 3, 3), "b": spread(ways, gates * 6)}
            further = {} if before is None else {"linear_before_reset": before}
            case(op, ["steps"], consts, outputs=2, batch_axis=1, out_axes=(2, 1), hidden_size=3, direction=direction, **further)
            for names in {"LSTM": (["Sigmoid", "Tanh", "Tanh"], ["sigmoid", "tanh", "tanh"], ["Sigmoid", "Sigmoid", "Tanh"], ["Tanh", "Tanh", "Tanh"]),
                          "GRU": (["sigmoid", "tanh"], ["Sigmoid", "Sigmoid"], ["Tanh", "Tanh"]), "RNN": (["relu"], ["Sigmoid"], ["Elu"])}[op]:
                case(op, ["steps"], consts, outputs=2, batch_axis=1, out_axes=(2, 1), hidden_size=3, direction=direction, activations=names * ways, only=lambda v: v >= 14, **further)


def learning():
    ml = "ai.onnx.ml"
    for offset, scale in (([1.0, 10.0, -3.0], [0.5, 2.0, 1.0]), ([2.0], [0.25]), ([0.0, 0.0, 0.0], [1.0, 1.0, 3.0])):
        case("Scaler", ["far"], domain=ml, offset=offset, scale=scale)
    case("Imputer", ["missing"], domain=ml, imputed_value_floats=[10.0, 20.0, 30.0], replaced_value_float=float("nan"))
    case("Imputer", ["missing"], domain=ml, imputed_value_floats=[7.0], replaced_value_float=0.0)
    case("Binarizer", ["wide"], domain=ml, threshold=0.5)
    for norm in ("L1", "L2", "MAX"):
        case("Normalizer", ["zeros"], domain=ml, norm=norm)
        case("Normalizer", ["row"], domain=ml, norm=norm)
    case("LinearRegressor", ["row"], domain=ml, coefficients=spread(10).tolist(), intercepts=[0.5, -1.0], targets=2)
    for transform in ("NONE", "SOFTMAX", "LOGISTIC", "PROBIT"):
        case("LinearClassifier", ["row"], domain=ml, outputs=2, coefficients=spread(15).tolist(), intercepts=[0.5, -1.0, 0.1], classlabels_ints=[0, 1, 2], post_transform=transform)
    case("LinearClassifier", ["row"], domain=ml, outputs=2, coefficients=spread(15).tolist(), intercepts=[0.5, -1.0, 0.1], classlabels_ints=[5, 1, 2])
    case("LinearClassifier", ["row"], domain=ml, outputs=2, coefficients=spread(5).tolist(), intercepts=[0.5], classlabels_ints=[0, 1], post_transform="LOGISTIC")
    case("ArrayFeatureExtractor", ["row"], {"i": vector(3, 0)}, domain=ml)
    for op in ("com.microsoft.FastGelu",):
        case("FastGelu", ["wide"], domain="com.microsoft")
    case("QuickGelu", ["wide"], domain="com.microsoft")


POOL["wholesPositive"], POOL["divisorsPositive"] = np.abs(POOL["wholes"]), np.abs(POOL["divisors"])
POOL["cubeImage"] = spread(2, 3, 4, 6)
POOL["strip"] = np.sin(np.arange(2 * 290, dtype=np.float64) ** 1.5).astype(F).reshape(2, 1, 1, 290)
POOL["columns"] = spread(2, 6, 3)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for make in (elementwise, axes, shapes, windows, resizing, weights, learning):
        make()
# Of each operator some, spread over all of its cases; more of those with many ways to go wrong.
MORE = {"Cast": 12, "Div": 10, "Mod": 6, "Clip": 8, "AveragePool": 10, "MaxPool": 6, "Resize": 12, "ConvTranspose": 6, "Conv": 5, "LSTM": 5, "GRU": 5, "RNN": 4, "LayerNormalization": 6, "Slice": 6, "Pad": 6}
if not LONG:
    kept = []
    for op in dict.fromkeys(line["op"] for line in LINES):
        of_op = [line for line in LINES if line["op"] == op]
        drawn = [line for line in of_op if line["name"] not in KEPT]
        kept += [drawn[i] for i in sorted({round(i) for i in np.linspace(0, len(drawn) - 1, MORE.get(op, 3))}) if drawn] + [line for line in of_op if line["name"] in KEPT]
    LINES = kept
used = {n for line in LINES for n in line["in"]}
POOL["steps"] = np.moveaxis(POOL["steps"], 1, 0)
pool = {n: [list(a.shape), text(a)] for n, a in POOL.items() if n in used}
with open(ARGUMENTS.file, "w") as file:
    for line in [pool, *LINES]:
        file.write(json.dumps(line, separators=(",", ":")) + "\n")
for what, which in COUNTS.items():
    print(f"{len(which)} {what}")
    if LONG:
        print("\n".join("  " + w for w in which))
print(f"{len(LINES)} cases of {len({line['op'] for line in LINES})} operators, onnxruntime {onnxruntime.__version__}")
