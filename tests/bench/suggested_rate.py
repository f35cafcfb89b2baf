#!/usr/bin/env python3
"""What the range test's suggestion is worth: accuracy after training with it beside a sweep of ten rates, on three samples.

    tests/bench/suggested_rate.py build/bin/loom --samples build/samples --csv tests/bench/results/suggested_rate.csv

The sweep's rates are half decades from 0.0001 to 3.16; everything else is the sample's own. The goal: within 0.5 points of the best."""
import argparse
import csv
import datetime
import json
import os
import subprocess
import sys
import tempfile

SAMPLES = ("digits", "binary_classifier", "residual_network")
RATES = [float(f"{10 ** (-4 + k / 2):.3g}") for k in range(10)]

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("loom")
parser.add_argument("--samples", required=True, help="the build's samples")
parser.add_argument("--csv", required=True)
parser.add_argument("--commit", default="")
given = parser.parse_args()
loom = os.path.abspath(given.loom)


def suggested(project):
    output = subprocess.run([loom, "range-test", project, "--json"], stdout=subprocess.PIPE, text=True, check=True).stdout
    rate = json.loads(output.strip().splitlines()[-1])["learning_rate"]
    if rate is None:
        sys.exit(f"{project}: no suggestion")
    return rate


def accuracy(project, rate):
    """Of the last validation; 0 where the loss diverged."""
    with tempfile.TemporaryDirectory() as folder:
        run = os.path.join(folder, "run")
        output = subprocess.run([loom, "train", project, "--run", run, "--set", f"optimizer.learning_rate={rate!r}"],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
        with open(os.path.join(run, "events.jsonl"), encoding="utf-8") as file:
            events = [json.loads(line) for line in file]
        if events[-1].get("reason") == "failed" and "diverge" not in output and "not finite" not in output:
            sys.exit(output[-2000:])
        if events[-1].get("reason") == "failed":
            return 0.0
        return [event["metrics"]["accuracy"] for event in events if event.get("kind") == "validation"][-1]


with open("/proc/cpuinfo", encoding="utf-8") as file:
    processor = next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
rows = []
for sample in SAMPLES:
    project = os.path.join(given.samples, sample)
    for way, rate in [("suggested", suggested(project))] + [("sweep", rate) for rate in RATES]:
        rows.append([datetime.date.today(), given.commit, processor, sample, way, f"{rate:.3g}", f"{accuracy(project, rate):.4f}"])
        print(*rows[-1][3:], flush=True)
    best = max(float(row[-1]) for row in rows if row[3] == sample and row[4] == "sweep")
    own = next(float(row[-1]) for row in rows if row[3] == sample and row[4] == "suggested")
    print(f"{sample}: {100 * own:.2f} % with the suggestion, {100 * best:.2f} % at the sweep's best", flush=True)
with open(given.csv, "w", encoding="utf-8", newline="") as file:
    csv.writer(file, lineterminator="\n").writerows([["date", "commit", "processor", "sample", "way", "rate", "accuracy"]] + rows)
