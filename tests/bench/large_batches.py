#!/usr/bin/env python3
"""What batches of thousands cost in accuracy, recipe by recipe: LeNet on MNIST, resnet20 on CIFAR-10. One row a recipe and batch.

    loom data import idx FOLDER/mnist --out WORK/mnist ; tar xzf FOLDER/cifar10/cifar10-train-jpeg.tar.gz -C WORK/cifar
    tests/bench/large_batches.py build/bin/loom --work WORK --csv tests/bench/results/large_batches.csv --rows mnist-128,mnist-4096
The rate is chosen on samples held out of the training data: eight rates at a quarter of the length, the best two at full length. The one
chosen then trains on all training data with three seeds, and is judged by the test part (MNIST's 10,000; CIFAR-10's last 5,000, which
nothing else sees). Every run that ended is a line of the CSV and is not run again, so that a table may be made over days; without --rows
the table so far is printed, and nothing runs."""
import argparse
import csv
import datetime
import json
import math
import os
import shutil
import statistics
import subprocess
import sys

FIELDS = ["date", "commit", "processor", "row", "phase", "rate", "seed", "accuracy"]
LARS = {"name": "LARS", "coefficient": 0.05, "weight_decay": 0.0005}
POLYNOMIAL = {"schedule": {"name": "Polynomial", "power": 2}}


def doubled(first):
    return [float(f"{first * 2 ** k:.6g}") for k in range(8)]


def linear(batch):
    return {"rate_scaling": "linear", "base_batch": 128} if batch > 128 else {}


# name: (dataset, batch, epochs, warm-up in epochs at full length, optimizer of a rate, other settings, rates)
ROWS = {}
for batch, warm in ((128, 0), (4096, 1), (8192, 2), (16384, 2)):
    if batch == 128:
        ROWS["mnist-128"] = ("mnist", batch, 10, warm, lambda r: {"name": "Momentum", "learning_rate": r}, {}, doubled(0.003125))
    else:
        ROWS[f"mnist-{batch}"] = ("mnist", batch, 10, warm, lambda r: {**LARS, "learning_rate": r}, POLYNOMIAL, doubled(0.05))
MOMENTUM = {"name": "Momentum", "weight_decay": 0.0005}
RECIPES = {
    "momentum": (lambda r: {**MOMENTUM, "learning_rate": r}, linear(2048), doubled(0.003125)),
    "lars": (lambda r: {**LARS, "learning_rate": r}, POLYNOMIAL, doubled(0.1)),
    # Its LAMB begins with the size of a step that its LARS has at its highest, of the tensor's own size.
    "still": (lambda r: {"name": "STiLL", "learning_rate": r, "lamb_learning_rate": 0.05 * r * 0.5, "transition": 1, "momentum": 0.9,
                         "coefficient": 0.05, "weight_decay": 0.0005}, POLYNOMIAL, doubled(0.1)),
    "lamb": (lambda r: {"name": "LAMB", "learning_rate": r}, {"schedule": {"name": "Polynomial", "power": 1}}, doubled(0.0025)),
    "muon": (lambda r: {"name": "Muon", "learning_rate": r, "adamw_rate": 0.1 * r}, {"schedule": {"name": "Polynomial", "power": 1}},
             doubled(0.0025)),
    "shampoo": (lambda r: {"name": "Shampoo", "learning_rate": r}, {"schedule": {"name": "Polynomial", "power": 1}}, doubled(0.0003125)),
    "schedule-free": (lambda r: {"name": "ScheduleFreeSGD", "learning_rate": r}, {"schedule": {"name": "Constant"}}, doubled(0.0625)),
}
ROWS["cifar-128-momentum"] = ("cifar", 128, 4, 0, RECIPES["momentum"][0], {}, doubled(0.0125))
for recipe, (optimizer, others, rates) in RECIPES.items():
    ROWS[f"cifar-2048-{recipe}"] = ("cifar", 2048, 4, 1, optimizer, others, rates)

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("loom")
parser.add_argument("--work", required=True, help="a folder with mnist/train, mnist/t10k and cifar/train.csv")
parser.add_argument("--csv", required=True)
parser.add_argument("--rows", default="", help="of: " + " ".join(ROWS))
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--commit", default="")
given = parser.parse_args()
loom, work = os.path.abspath(given.loom), os.path.abspath(given.work)
here = os.path.dirname(os.path.abspath(__file__))


def resnet20():
    nodes = [{"id": "x", "layer": "Input", "shape": [3, 32, 32]}]
    edges = []

    def add(name, source, layer, **arguments):
        nodes.append({"id": name, "layer": layer, **arguments})
        edges.append([source, name])
        return name

    def convolve(name, source, channels, kernel=3, stride=1):
        add(name, source, "Convolution", channels=channels, kernel=[kernel, kernel], stride=[stride, stride], bias=False)
        return add(name + "_norm", name, "BatchNormalization")

    last = add("relu", convolve("conv", "x", 16), "ReLU")
    for number in range(9):
        name, channels, stride = f"b{number}", 16 * 2 ** (number // 3), 2 if number in (3, 6) else 1
        side = convolve(name + "_shortcut", last, channels, 1, stride) if stride > 1 else last
        inner = add(name + "_relu1", convolve(name + "_conv1", last, channels, 3, stride), "ReLU")
        add(name + "_sum", convolve(name + "_conv2", inner, channels), "Add")
        edges.append([side, name + "_sum"])
        last = add(name + "_relu2", name + "_sum", "ReLU")
    add("fc", add("mean", last, "GlobalAveragePooling"), "Linear", outputs=10)
    nodes.append({"id": "y", "layer": "Input", "shape": [1], "type": "label"})
    for name, layer in (("loss", "SoftmaxCrossEntropy"), ("accuracy", "Accuracy")):
        add(name, "fc", layer)
        edges.append(["y", name + ".target"])
    return {"loom": 1, "networks": {"main": {"nodes": nodes, "edges": edges}}}


def lenet():
    with open(os.path.join(here, "lenet.loom"), encoding="utf-8") as file:
        return json.load(file)


def datasets(name, chosen):
    """The rows of training and of judging; `chosen`: while a rate is being chosen, of the training data alone."""
    if name == "mnist":
        table, all_rows, prepare = "mnist/train/index.csv", 60000, [{"step": "Scale"}]
        test = {"csv": os.path.join(work, "mnist/t10k/index.csv")}
    else:
        table, all_rows = "cifar/train.csv", 45000
        prepare = [{"step": "Normalise", "mean": [125.307, 122.95, 113.866], "deviation": [62.993, 62.089, 66.705]},
                   {"step": "Pad", "by": [2, 2]}, {"step": "Crop", "size": [32, 32]}, {"step": "Flip"}]
        test = {"csv": os.path.join(work, table), "first_row": 45000, "rows": 5000}
    table = os.path.join(work, table)
    training = {"csv": table, "rows": all_rows - 5000 if chosen else all_rows, "prepare": prepare}
    held_out = {"csv": table, "first_row": all_rows - 5000, "rows": 5000}
    return {"training": training, "validation": held_out if chosen else test}


def run(row, phase, rate, seed):
    name, batch, epochs, warm, optimizer, others, _ = ROWS[row]
    length = 0.25 if phase == "quarter" else 1.0
    project = lenet() if name == "mnist" else resnet20()
    project["datasets"] = datasets(name, phase != "printed")
    training = {"validation": "validation", "batch": batch, "monitor": "accuracy", "seed": seed, "drop_last": True, "threads": given.threads,
                "schedule": {"name": "Cosine"}, "optimizer": optimizer(rate), **others}
    if batch > 128:
        training["memory_budget"] = max(1024, batch // 8)
    if name == "cifar":
        training["precision"] = "bf16"  # on every row: a third of the time on a processor with tiles
    if warm:
        training["warmup"] = {"epochs": warm * length}
    steps = int(project["datasets"]["training"]["rows"] // batch * epochs * length)
    training["epochs"] = math.ceil(epochs * length)
    training["max_steps"] = steps
    project["training"] = training
    path, folder = os.path.join(work, f"{row}.loom"), os.path.join(work, "runs", f"{row}-{phase}-{rate:g}-{seed}")
    shutil.rmtree(folder, ignore_errors=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(project, file)
    output = subprocess.run([loom, "train", path, "--run", folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return result(folder, output)


def result(folder, output):
    """The last validation's accuracy; 0 of a run whose loss diverged (loom ends it with code and sentence)."""
    best = None
    with open(os.path.join(folder, "events.jsonl"), encoding="utf-8") as file:
        for line in file:
            event = json.loads(line)
            if event.get("kind") == "validation":
                best = event["metrics"]["accuracy"]
    if best is None and "diverge" not in output.stdout and "not finite" not in output.stdout:
        sys.exit(output.stdout[-2000:])
    return best or 0.0


def stored():
    if not os.path.exists(given.csv):
        return []
    with open(given.csv, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def known(row, phase, rate, seed):
    """From the CSV, or trained now and written there."""
    for line in stored():
        if (line["row"], line["phase"], float(line["rate"]), int(line["seed"])) == (row, phase, rate, seed):
            return float(line["accuracy"])
    accuracy = run(row, phase, rate, seed)
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        processor = next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    fresh = not os.path.exists(given.csv)
    with open(given.csv, "a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if fresh:
            writer.writerow(FIELDS)
        writer.writerow([datetime.date.today(), given.commit, processor, row, phase, f"{rate:g}", seed, f"{accuracy:.5f}"])
    print(f"{row} {phase} rate {rate:g} seed {seed}: {100 * accuracy:.2f} %", flush=True)
    return accuracy


for row in filter(None, given.rows.split(",")):
    quarter = {rate: known(row, "quarter", rate, 1) for rate in ROWS[row][-1]}
    best_two = sorted(quarter, key=quarter.get)[-2:]
    full = {rate: known(row, "full", rate, 1) for rate in best_two}
    for number in (1, 2, 3):
        known(row, "printed", max(full, key=full.get), number)

print("row,rate,runs,accuracy,standard_error")
for row in ROWS:
    lines = [line for line in stored() if line["row"] == row and line["phase"] == "printed"]
    if lines:
        values = [100 * float(line["accuracy"]) for line in lines]
        error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else float("nan")
        print(f"{row},{lines[0]['rate']},{len(values)},{statistics.mean(values):.2f} %,{error:.2f}")
