#!/usr/bin/env python3
"""How long a step waits for its batch while samples are prepared: the six workloads, each from files with random steps.

waiting.py LOOM --mnist FOLDER --cifar FOLDER [--folder FOLDER] [--only NAME ...]

FOLDER: mnist with the IDX files, cifar with cifar10-train-jpeg.tar.gz. Run by a Python that has numpy and Pillow.
Each project is trained twice: with a cold cache (until it has packed; its seconds before the first step), then with a
warm one. Prints CSV: median step, share of all steps' time that was waiting for data, steps that waited over 1 ms.
"""
import argparse, glob, json, os, shutil, statistics, subprocess, tarfile, tempfile, time

import numpy
from PIL import Image

SCALED = [{"step": "Scale"}]
BLOCKS = 6


def chain(shape, layers, label=(1,), kind="values"):
    """Nodes and edges of layers in a row, from Input x to a loss with label y."""
    nodes = [{"id": "x", "layer": "Input", "shape": list(shape), "type": kind}]
    nodes += [{"id": f"l{i}", "layer": name, **fields} for i, (name, fields) in enumerate(layers)]
    nodes += [{"id": "loss", "layer": "SoftmaxCrossEntropy"}, {"id": "y", "layer": "Input", "shape": list(label), "type": "label"}]
    names = ["x"] + [f"l{i}" for i in range(len(layers))] + ["loss"]
    return {"nodes": nodes, "edges": [list(pair) for pair in zip(names, names[1:])] + [["y", "loss.target"]]}


def linear(outputs, **more):
    return "Linear", {"outputs": outputs, **more}


def residual_chain(channels, blocks):
    """resnet20: nodes and edges."""
    net = {"nodes": [{"id": "x", "layer": "Input", "shape": [3, 32, 32]}], "edges": []}
    last = ["x"]

    def add(layer, *more, **fields):
        name = f"n{len(net['nodes'])}"
        net["nodes"].append({"id": name, "layer": layer, **fields})
        for source in (last[0], *more):
            net["edges"].append([source, name])
        last[0] = name
        return name

    def normalised(width, stride, kernel=3):
        add("Convolution", channels=width, kernel=[kernel, kernel], stride=[stride, stride], padding="same", bias=False)
        return add("BatchNormalization")

    normalised(channels[0], 1)
    add("ReLU")
    before = channels[0]
    for width in channels:
        for block in range(blocks):
            stride = 2 if width > channels[0] and block == 0 else 1
            entry = last[0]
            normalised(width, stride)
            add("ReLU")
            body = normalised(width, 1)
            shortcut = entry
            if stride != 1 or before != width:
                last[0] = entry
                shortcut = normalised(width, stride, 1)
            last[0] = body
            add("Add", shortcut)
            add("ReLU")
            before = width
    add("GlobalAveragePooling")
    add("Linear", outputs=10)
    head = last[0]
    net["nodes"] += [{"id": "loss", "layer": "SoftmaxCrossEntropy"}, {"id": "y", "layer": "Input", "shape": [1], "type": "label"}]
    net["edges"] += [[head, "loss"], ["y", "loss.target"]]
    return net


def transformer():
    net = {"nodes": [{"id": "x", "layer": "Input", "shape": [128], "type": "index"},
                     {"id": "embed", "layer": "Embedding", "vocabulary": 256, "channels": 384},
                     {"id": "place", "layer": "PositionEmbedding"}], "edges": [["x", "embed"], ["embed", "place"]]}
    last = "place"

    def add(name, layer, *sources, **fields):
        net["nodes"].append({"id": name, "layer": layer, **fields})
        net["edges"] += [[source, name] for source in sources]
        return name

    for b in range(BLOCKS):
        norm = add(f"a{b}", "LayerNormalization", last)
        attended = add(f"b{b}", "MultiHeadAttention", norm, heads=6)
        middle = add(f"c{b}", "Add", last, attended)
        norm = add(f"d{b}", "LayerNormalization", middle)
        wide = add(f"e{b}", "GELU", add(f"f{b}", "Linear", norm, outputs=1536, base_axis=1))
        last = add(f"g{b}", "Add", middle, add(f"h{b}", "Linear", wide, outputs=384, base_axis=1))
    last = add("digit", "Linear", add("norm", "LayerNormalization", last), outputs=256, base_axis=1)
    add("y", "Input", shape=[128], type="label")
    add("loss", "SoftmaxCrossEntropy", last)
    net["edges"].append(["y", "loss.target"])
    return net


def resnet50(loom_root):
    with open(os.path.join(loom_root, "samples/resnet_50/resnet_50.loom"), encoding="utf-8") as file:
        return json.load(file)


def write_csv(path, header, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.write(header + "\n")
        file.writelines(",".join(map(str, row)) + "\n" for row in rows)


def make_mnist(loom, mnist, folder):
    out = os.path.join(folder, "mnist")
    if not os.path.exists(out):
        subprocess.run([loom, "data", "import", "idx", *(os.path.join(mnist, f"train-{n}.gz") for n in ("images-idx3-ubyte", "labels-idx1-ubyte")), "--out", out], check=True)
    return glob.glob(os.path.join(out, "*.csv"))[0]


def make_cifar(cifar, folder):
    out = os.path.join(folder, "cifar")
    if not os.path.exists(out):
        with tarfile.open(os.path.join(cifar, "cifar10-train-jpeg.tar.gz")) as archive:
            archive.extractall(out, filter="data")
    classes = sorted(os.listdir(os.path.join(out, "train")))
    csv = os.path.join(folder, "cifar.csv")
    write_csv(csv, "x:picture,y:label", [(os.path.join("cifar/train", name, file), label) for label, name in enumerate(classes)
                                 for file in sorted(os.listdir(os.path.join(out, "train", name)))])
    return csv


def make_photographs(cifar_csv, folder, count=256):
    out = os.path.join(folder, "photographs")
    if not os.path.exists(out):
        os.makedirs(out)
        paths = [line.split(",")[0] for line in open(cifar_csv, encoding="utf-8").read().split("\n")[1:-1]]
        for i in range(count):
            big = Image.new("RGB", (512, 384))
            for y in range(6):
                for x in range(8):
                    tile = Image.open(os.path.join(folder, paths[(i * 131 + 8 * y + x) * 7 % len(paths)]))
                    big.paste(tile.resize((64, 64), Image.BICUBIC), (64 * x, 64 * y))
            big.crop((0, 0, 500, 375)).save(os.path.join(out, f"{i}.jpg"), quality=90)
    csv = os.path.join(folder, "photographs.csv")
    write_csv(csv, "x,y:label", [(f"photographs/{i}.jpg", i % 1000) for i in range(count)])
    return csv


def make_sequences(folder, count=512):
    out = os.path.join(folder, "sequences")
    random = numpy.random.default_rng(2)
    if not os.path.exists(out):
        os.makedirs(out)
        for i in range(count):
            numpy.save(os.path.join(out, f"{i}.npy"), random.normal(size=(110, 80)).astype(numpy.float32))
    csv = os.path.join(folder, "sequences.csv")
    write_csv(csv, "x,y:label", [(f"sequences/{i}.npy", i % 1000) for i in range(count)])
    return csv


def make_tokens(folder, count=512):
    csv = os.path.join(folder, "tokens.csv")
    random = numpy.random.default_rng(3)
    header = ",".join([f"x__{i}" for i in range(128)] + [f"y__{i}" for i in range(128)])
    write_csv(csv, header, random.integers(0, 256, (count, 256)).tolist())
    return csv


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("loom")
    parser.add_argument("--mnist", required=True)
    parser.add_argument("--cifar", required=True)
    parser.add_argument("--folder")
    parser.add_argument("--only", nargs="*")
    args = parser.parse_args()
    folder = args.folder or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
    mnist, cifar = make_mnist(args.loom, args.mnist, folder), make_cifar(args.cifar, folder)
    turned = [{"step": "Rotate", "degrees": 10}] + SCALED + [{"step": "Pad", "by": [2, 2]}, {"step": "Crop", "size": [28, 28]}]
    coloured = [{"step": "ColourJitter", "brightness": 0.3, "contrast": 0.3, "saturation": 0.3, "hue": 0.05}]
    convolution = lambda channels: ("Convolution", {"channels": channels, "kernel": [3, 3], "padding": "valid"})
    relu = ("ReLU", {})
    works = {
        "mlp": (chain([1, 28, 28], [linear(512), relu, linear(512), relu, linear(10)]), mnist, turned, 128, 900),
        "mnist-cnn": (chain([1, 28, 28], [convolution(32), relu, convolution(64), relu, ("MaxPooling", {"kernel": [2, 2]}), ("Dropout", {"probability": 0.25}),
                                          ("Flatten", {}), linear(128), relu, ("Dropout", {"probability": 0.5}), linear(10)]), mnist, turned, 64, 600),
        "resnet20": (residual_chain([16, 32, 64], 3), cifar,
                     coloured + [{"step": "RandomResizedCrop", "size": [32, 32]}] + SCALED + [{"step": "Normalise"}, {"step": "Flip"}], 128, 120),
        "resnet50": (None, make_photographs(cifar, folder),
                     coloured + [{"step": "RandomResizedCrop", "size": [224, 224]}] + SCALED + [{"step": "Flip"}], 32, 6),
        "lstm": (chain([100, 80], [("LSTM", {"units": 512}), ("LSTM", {"units": 512, "returns": "last"}), linear(1000)]),
                 make_sequences(folder), [{"step": "Normalise"}, {"step": "Crop", "size": [100]}], 32, 14),
        "gpt-mini": (transformer(), make_tokens(folder), [], 16, 14),
    }
    print("data,steps,median_step_ms,before_the_first_step_cold_s,before_the_first_step_warm_s,waiting_share,steps_that_waited")
    for name, (net, csv, prepare, batch, steps) in works.items():
        if args.only and name not in args.only:
            continue
        project = {"loom": 1, "networks": {"main": net}} if net else resnet50(root)
        project["datasets"] = {"training": {"csv": os.path.abspath(csv), "prepare": prepare}}
        project["training"] = {"batch": batch, "epochs": 1000, "max_steps": steps, "optimizer": {"name": "Momentum", "learning_rate": 1e-4}}
        path = os.path.join(folder, f"{name}.loom")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(project, file)
        before = []
        for cache in "cold", "warm":
            if cache == "cold":
                shutil.rmtree(os.path.join(os.path.dirname(csv), ".gradloom-cache"), ignore_errors=True)
            run = os.path.join(folder, f"run-{name}")
            shutil.rmtree(run, ignore_errors=True)
            begin = time.time()
            more = ["--set", "max_steps=1"] if cache == "cold" else []
            subprocess.run([args.loom, "train", path, "--run", run, "--device", "cpu", *more], check=True, stdout=subprocess.DEVNULL)
            events = [json.loads(line) for line in open(os.path.join(run, "events.jsonl"), encoding="utf-8")]
            taken = [event for event in events if event["kind"] == "step"]
            before.append(taken[0]["time"] - taken[0]["ms"] / 1000 - begin)
        taken = taken[1:]  # the first one also compiles
        total = sum(event["ms"] for event in taken)
        waiting = sum(event["data_ms"] for event in taken)
        print(f"{name},{len(taken)},{statistics.median(e['ms'] for e in taken):.1f},{before[0]:.2f},{before[1]:.2f},"
              f"{waiting / total:.4f},{sum(e['data_ms'] > 1 for e in taken)}", flush=True)


if __name__ == "__main__":
    main()
