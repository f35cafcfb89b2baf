"""ONNX's own backend suite through `loom import`, `loom export` and onnxruntime, by hand (never in CI):

    python3 -m venv /tmp/suite && /tmp/suite/bin/pip install onnx onnxruntime
    /tmp/suite/bin/python tests/exchange/onnx_suite.py build/bin/loom [--kind node] [--only REGULAR_EXPRESSION]

Each case ends as one of: right (onnxruntime's numbers come out of what we wrote), told (the report of the import says
what is left to be done), refused (by the import, with a sentence), other (its inputs or outputs are no tensors). What
must not be: wrong (other numbers, in silence), unexported (imported without a word, then not to be exported) and broken
(onnxruntime does not take the file). Exit code 1 where one of those is met."""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

BAD = ("wrong", "unexported", "broken")


def stored_cases(kind):
    root = pathlib.Path(onnx.__file__).parent / "backend/test/data" / kind
    for folder in sorted(root.iterdir()):
        model = folder / "model.onnx"
        if not model.exists():
            continue
        loaded = onnx.load(str(model))
        for data in sorted(folder.glob("test_data_set_*")):
            inputs = [load(data / f"input_{i}.pb", value) for i, value in enumerate(loaded.graph.input) if (data / f"input_{i}.pb").exists()]
            outputs = [load(data / f"output_{i}.pb", value) for i, value in enumerate(loaded.graph.output)]
            yield folder.name, loaded, inputs, outputs
            break


def load(path, value):
    if not value.type.HasField("tensor_type"):
        return None
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(tensor)


def node_cases():
    from onnx.backend.test.case.node import collect_testcases

    for case in collect_testcases(None):
        inputs, outputs = case.data_sets[0]
        yield case.name, case.model, list(inputs), list(outputs)


def is_plain(values):
    return all(isinstance(v, (np.ndarray, np.generic)) and v.dtype.kind in "fiub" for v in values)


def alike(have, want):
    """The report says where the batch of an output moved to the front: it is moved back."""
    moved = [have.reshape(want.shape)] + [np.moveaxis(have, 0, axis) for axis in range(1, have.ndim)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numbers beyond float32
        close = [np.allclose(each, want.astype(np.float32), rtol=1e-3, atol=1e-5, equal_nan=True) for each in moved if each.shape == want.shape]
    return any(close)


def call(loom, *arguments):
    done = subprocess.run([loom, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, (done.stderr.strip().splitlines() or [""])[-1]


def judge(loom, folder, model, inputs, outputs):
    if not is_plain(inputs) or not is_plain(outputs):
        return "other", ""
    source, project, back = folder / "m.onnx", folder / "p.loom", folder / "back.onnx"
    for old in folder.iterdir():
        old.unlink()
    onnx.save(model, str(source))
    code, out, why = call(loom, "import", source, "--out", project, "--json")
    if code:
        return "refused", why
    report = json.loads(out)
    items = report.get("items", [])
    told = [item for item in items if item.get("kind") in ("untranslatable", "to do")]
    if told:
        return "told", told[0].get("sentence", "")
    batch = next((str(v.shape[0]) for v in map(np.asarray, inputs) if v.ndim), "1")
    code, _, why = call(loom, "export", project, "--onnx", back, "--bare", "--batch", batch)
    if code:
        return "unexported", why
    try:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(str(back), options, providers=["CPUExecutionProvider"])
        types = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32, "tensor(bool)": bool}
        named = {value.name: given for value, given in zip(model.graph.input, inputs)}
        feed = {}
        for place, wanted in enumerate(session.get_inputs()):
            given = named.get(wanted.name, inputs[place] if place < len(inputs) else None)
            given = np.asarray(given).astype(types.get(wanted.type, np.float32))
            extents = [e for e in wanted.shape if isinstance(e, int)]
            if len(extents) == len(wanted.shape) and given.size == int(np.prod(extents)):
                given = given.reshape(extents)
            feed[wanted.name] = given
        got = session.run(None, feed)
    except Exception as fault:  # whatever onnxruntime says
        return "broken", str(fault).replace("\n", " ")[:200]
    if len(got) < len(outputs):
        return "wrong", f"{len(got)} outputs of {len(outputs)}"
    for place, want in enumerate(outputs):
        want = np.asarray(want, np.float64)
        have = np.asarray(got[place], np.float64)
        if have.size != want.size:
            return "wrong", f"output {place} has the shape {have.shape}, not {want.shape}"
        if not alike(have, want):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return "wrong", f"output {place} differs by {np.nanmax(np.abs(have.reshape(want.shape) - want)):.4g}"
    return "right", ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("loom")
    parser.add_argument("--kind", action="append", choices=["node", "simple", "pytorch-operator", "pytorch-converted"])
    parser.add_argument("--only", default="")
    parser.add_argument("--all", action="store_true", help="names the cases that are right, told or refused too")
    given = parser.parse_args()
    bad = 0
    for kind in given.kind or ["node", "simple", "pytorch-operator", "pytorch-converted"]:
        counts = collections.Counter()
        with tempfile.TemporaryDirectory() as folder:
            for name, model, inputs, outputs in node_cases() if kind == "node" else stored_cases(kind):
                if not re.search(given.only, name):
                    continue
                end, why = judge(given.loom, pathlib.Path(folder), model, inputs, outputs)
                counts[end] += 1
                bad += end in BAD
                if end in BAD or given.all:
                    print(f"{kind} {end}: {name}: {why}", flush=True)
        print(f"{kind}: " + ", ".join(f"{count} {end}" for end, count in counts.most_common()), flush=True)
    return 1 if bad else 0


sys.exit(main())
