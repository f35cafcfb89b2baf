#!/usr/bin/env python3
"""What evaluating costs beside predicting the same samples, and what the second question to a resident engine costs beside the first.

    tests/bench/evaluation.py build/bin/loom --data build/samples/digits/data
Trains samples/digits for one epoch in a folder of its own and makes a CSV of 10,000 of its pictures. Then in turn `loom predict --json --rows 0`
(everything is computed, nothing is written) and `loom evaluate --report` (every measure, report and tables written), the least of several rounds in
processor time and by the clock; and questions to one `loom agent`. Prints CSV. Exit code 1 where evaluating takes more than --at-most of predicting."""
import argparse
import json
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("loom")
parser.add_argument("--data", required=True, help="the folder of the digits' train.csv and test.csv")
parser.add_argument("--samples", type=int, default=10000)
parser.add_argument("--rounds", type=int, default=7)
parser.add_argument("--at-most", type=float, default=1.1)
given = parser.parse_args()
loom = os.path.abspath(given.loom)
here = os.path.dirname(os.path.abspath(__file__))


def timed(*words):
    """Seconds of the processor and by the clock."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([loom, *words], check=True, stdout=subprocess.DEVNULL)
    after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, ended - begun


class Agent:
    """One `loom agent`: frames of a JSON object and bytes (engine/agent/frame.h)."""

    def __init__(self):
        self.process = subprocess.Popen([loom, "agent"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        while self.process.stdout.readline() != b"GRADLOOM-AGENT-1\n":
            pass
        self.last = 0

    def ask(self, *words):
        """Seconds until the answer."""
        self.last += 1
        header = json.dumps({"id": self.last, "verb": "ask", "question": self.last, "words": list(words)}).encode()
        begun = time.perf_counter()
        self.process.stdin.write(b"LMF1" + struct.pack("<II", len(header), 0) + header)
        self.process.stdin.flush()
        while True:
            mark, size, more = struct.unpack("<4sII", self.process.stdout.read(12))
            assert mark == b"LMF1"
            answer = json.loads(self.process.stdout.read(size))
            self.process.stdout.read(more)
            if answer.get("re") == self.last:
                assert answer["ok"], answer
                return time.perf_counter() - begun

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def processor():
    with open("/proc/cpuinfo") as facts:
        for line in facts:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return "unknown"


with tempfile.TemporaryDirectory() as folder:
    shutil.copytree(given.data, os.path.join(folder, "data"))
    shutil.copy(os.path.join(here, "../../samples/digits/digits.loom"), folder)
    run, csv = os.path.join(folder, "run"), os.path.join(folder, "data", "many.csv")
    rows = []
    for name in ("train.csv", "test.csv"):
        with open(os.path.join(folder, "data", name)) as text:
            head, *more = text.read().splitlines()
            rows += more
    with open(csv, "w") as text:
        text.write("\n".join([head] + [rows[i % len(rows)] for i in range(given.samples)]) + "\n")
    subprocess.run([loom, "train", "digits.loom", "--run", run, "--set", "epochs=1"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    predict = ("predict", run, csv, "--json", "--rows", "0")
    evaluate = ("evaluate", run, "--data", csv, "--report", os.path.join(folder, "report"), "--json")
    timed(*predict)  # packs the CSV
    least = {}
    for _ in range(given.rounds):
        for what, words in (("predict", predict), ("evaluate", evaluate)):
            for unit, seconds in zip(("processor", "clock"), timed(*words)):
                least[what, unit] = min(seconds, least.get((what, unit), seconds))
    agent = Agent()
    look = ("look", run, "--sample", "5", "--saliency", "grad-cam", "--json")
    first, second = agent.ask(*look), min(agent.ask(*look) for _ in range(5))
    many = agent.ask(*evaluate), min(agent.ask(*evaluate) for _ in range(3))
    agent.close()

ratio = least["evaluate", "processor"] / least["predict", "processor"]
print("what,seconds,remark")
for unit in ("processor", "clock"):
    for what in ("predict", "evaluate"):
        print(f"{what} {given.samples} by the {unit},{least[what, unit]:.3f},")
print(f"evaluate / predict,{ratio:.3f},processor time; at most {given.at_most}")
print(f"first look at a sample,{first:.3f},resident engine: weights and samples are read; networks are compiled")
print(f"further looks,{second:.3f},")
print(f"first evaluation of {given.samples},{many[0]:.3f},resident engine")
print(f"further evaluations,{many[1]:.3f},")
print(f"processor,,{processor()}")
sys.exit(ratio > given.at_most)
