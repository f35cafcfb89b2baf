#!/usr/bin/env python3
"""Drives `loom` as a service, with nothing but Python's standard library.

    python3 service.py --loom /path/to/loom --folder /some/empty/folder

It reads the catalogue, builds a project from it, has it checked, trains it while it follows the events, evaluates, predicts rows that the
training has not seen, and says hello to an agent. The requests and answers are those of engine/loom/SERVICE.md.
"""
import argparse
import csv
import json
import math
import random
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

EXIT_BAD_PROJECT = 10  # exit codes never change; SERVICE.md lists them


class Refused(Exception):
    """loom ended with another code than 0; its last words are the message."""

    def __init__(self, code, message):
        super().__init__(message.strip())
        self.code = code


class Loom:
    """The program, one process a request."""

    def __init__(self, program):
        self.program = str(program)
        self.entries = {}

    def ask(self, *words):
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True)
        if done.returncode != 0:
            raise Refused(done.returncode, done.stderr)
        return done.stdout

    def read_catalogue(self):
        catalogue = json.loads(self.ask("catalogue", "--json"))
        self.entries = {kind: {entry["id"]: entry for entry in entries} for kind, entries in catalogue.items()}
        return self.entries

    def values(self, kind, name, given):
        """`given` held against the entry: an unknown field or one out of its range is refused here, before a file is written."""
        fields = {field["key"]: field for field in self.entries[kind][name]["fields"]}
        for key, value in given.items():
            if key not in fields:
                raise KeyError(f"{name} has no field '{key}': it has {', '.join(fields)}")
            low, high = fields[key].get("range", (None, None))
            if isinstance(value, (int, float)) and (low is not None and value < low or high is not None and value > high):
                raise ValueError(f"{key} of {name} is {value}: it lies from {low} to {high}")
        return given

    def node(self, identity, layer, **given):
        return {"id": identity, "layer": layer, **self.values("layers", layer, given)}

    def train(self, project, run, settings=()):
        """Starts a training and yields its events as they are written. Whole lines only: the last one may still be growing."""
        words = [self.program, "train", str(project), "--run", str(run)]
        for setting in settings:
            words += ["--set", setting]
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        events, open_line = run / "events.jsonl", ""
        offset, ended = 0, False
        while not ended:
            ended = process.poll() is not None  # asked before the last look at the file, so that nothing is missed
            if events.exists():
                with events.open("rb") as file:
                    file.seek(offset)
                    piece = file.read()
                offset += len(piece)
                *lines, open_line = (open_line + piece.decode()).split("\n")
                for line in lines:
                    yield json.loads(line)
            if not ended:
                time.sleep(0.05)
        message = process.stderr.read()
        if process.returncode != 0:
            raise Refused(process.returncode, message)

    def hello(self):
        """One request to an agent: frames of a length, a JSON object and bytes, behind a line that marks their beginning."""
        agent = subprocess.Popen([self.program, "agent"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        request = json.dumps({"id": 1, "verb": "ping"}).encode()
        agent.stdin.write(b"LMF1" + struct.pack("<II", len(request), 0) + request)
        agent.stdin.flush()
        while agent.stdout.readline() != b"GRADLOOM-AGENT-1\n":
            pass
        while True:
            magic, length, more = struct.unpack("<4sII", agent.stdout.read(12))
            assert magic == b"LMF1"
            answer = json.loads(agent.stdout.read(length))
            agent.stdout.read(more)
            if answer.get("re") == 1:
                break
        agent.stdin.close()  # the agent ends with its input
        agent.stdout.close()
        agent.wait()
        return answer


def write_moons(path, samples, seed):
    """Two half circles that reach into each other, in the convention for data: x__0, x__1 are one variable, y a label."""
    dice = random.Random(seed)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["x__0:across", "x__1:up", "y:moon"])
        for _ in range(samples):
            moon, angle = dice.randrange(2), dice.uniform(0, math.pi)
            across = math.cos(angle) if moon == 0 else 1 - math.cos(angle)
            up = math.sin(angle) if moon == 0 else 0.5 - math.sin(angle)
            rows.writerow([f"{across + dice.gauss(0, 0.1):.5f}", f"{up + dice.gauss(0, 0.1):.5f}", moon])


def moons_project(loom, widths):
    nodes = [loom.node("x", "Input", shape=[2])]
    edges = []
    for number, width in enumerate(widths, 1):
        nodes += [loom.node(f"hidden{number}", "Linear", outputs=width), loom.node(f"relu{number}", "ReLU")]
        edges += [[nodes[-3]["id"], nodes[-2]["id"]], [nodes[-2]["id"], nodes[-1]["id"]]]
    last = nodes[-1]["id"]
    nodes += [loom.node("scores", "Linear", outputs=2), loom.node("y", "Input", shape=[1], type="label"),
              loom.node("loss", "SoftmaxCrossEntropy"), loom.node("accuracy", "Accuracy")]
    edges += [[last, "scores"], ["scores", "loss"], ["y", "loss.target"], ["scores", "accuracy"], ["y", "accuracy.target"]]
    return {
        "loom": 1,
        "networks": {"main": {"nodes": nodes, "edges": edges}},
        "datasets": {"training": {"csv": "train.csv"}, "validation": {"csv": "validation.csv"}},
        "training": {
            "validation": "validation", "epochs": 30, "batch": 32, "seed": 1, "monitor": "accuracy",
            "optimizer": {"name": "Adam", **loom.values("optimizers", "Adam", {"learning_rate": 0.01})},
        },
    }


def share_that_is_right(path):
    """Of a table that `loom predict` wrote: its rows as they were, and a column for each class behind them."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    classes = [column for column in rows[0] if column.startswith("y'")]
    right = sum(max(range(len(classes)), key=lambda k: float(row[classes[k]])) == int(row["y:moon"]) for row in rows)
    return right / len(rows)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--loom", default=shutil.which("loom"), help="the program; by default the one on the PATH")
    arguments.add_argument("--folder", type=Path, default=Path("moons"), help="where project, data and runs are written")
    arguments.add_argument("--epochs", type=int, default=30)
    given = arguments.parse_args()
    if not given.loom:
        arguments.error("there is no loom on the PATH: name it with --loom")
    folder = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    loom = Loom(given.loom)

    entries = loom.read_catalogue()
    print(f"catalogue: {len(entries['layers'])} layers, {len(entries['optimizers'])} optimizers, "
          f"{len(entries['schedules'])} schedules, {len(entries['metrics'])} metrics")

    for name, samples, seed in (("train", 600, 1), ("validation", 200, 2), ("new", 200, 3)):
        write_moons(folder / f"{name}.csv", samples, seed)
    project = moons_project(loom, [16, 16])
    path = folder / "moons.loom"

    # A project with a fault is refused with a code and a sentence that names the place; the same call says when it is sound.
    broken = json.loads(json.dumps(project))
    broken["networks"]["main"]["edges"].remove(["scores", "loss"])
    path.write_text(json.dumps(broken, indent=2))
    try:
        loom.ask("check", path)
    except Refused as refused:
        assert refused.code == EXIT_BAD_PROJECT
        print(f"refused with {refused.code}: {str(refused).splitlines()[-1]}")
    path.write_text(json.dumps(project, indent=2))
    print(loom.ask("check", path).strip())

    number = 1
    while (folder / f"run{number}").exists():
        number += 1
    run = folder / f"run{number}"
    steps, last = 0, {}
    for event in loom.train(path, run, [f"epochs={given.epochs}"]):
        if event["kind"] == "step":
            steps = event["step"]
        elif event["kind"] == "validation":
            print(f"epoch {event['epoch']:g}: loss {event['loss']:.4f}, accuracy {event['metrics']['accuracy']:.3f}")
        elif event["kind"] == "finished":
            last = event
    print(f"{last['reason']} after {steps} steps, best accuracy {last['best']['value']:.3f} at step {last['best']['step']}")

    measured = json.loads(loom.ask("evaluate", run, "--json"))
    print(f"evaluated: accuracy {measured['metrics']['accuracy']:.3f} of {measured['samples']:g} samples")
    loom.ask("predict", run, folder / "new.csv", "--out", folder / "predicted.csv")
    print(f"predicted: {share_that_is_right(folder / 'predicted.csv'):.3f} of 200 new rows are right")
    print(f"agent answered: {loom.hello()['ok']}")


if __name__ == "__main__":
    try:
        main()
    except Refused as refused:
        sys.exit(f"loom ended with {refused.code}: {refused}")
