#!/usr/bin/env python3
"""Ranks that train together against ranks that compute at the same time and exchange nothing (apart: their ceiling), against ranks that
exchange nothing but begin each step together (in step: what cores of unlike speed cost by themselves), and against one rank on one
core; in turn, round after round, and compared within a round only.

    tests/bench/ranks.py build/bin/loom --workloads resnet20,resnet50:8 --ranks 2 --rounds 5 --seconds 10
WORKLOAD:N computes N samples a rank at once. Exit code 1 where a ratio to the ceiling is below --at-least."""
import argparse
import json
import os
import statistics
import subprocess
import sys

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("loom")
parser.add_argument("--workloads", default="resnet20,resnet50:8")
parser.add_argument("--ranks", type=int, default=2)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--seconds", type=float, default=10)
parser.add_argument("--at-least", type=float, default=0)
given = parser.parse_args()


def stolen():
    """Seconds since boot in which this machine wanted its processors and its neighbours had them."""
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


def measured(workload, ranks, *more):
    name, _, batch = workload.partition(":")
    bench = [given.loom, "bench", name, "--seconds", str(given.seconds), "--threads", "1", "--batch", batch or "0", *more]
    many = ["mpirun", "--allow-run-as-root", "--bind-to", "core", "-n", str(ranks)]
    command = (many if ranks > 1 else ["taskset", "-c", "0"]) + bench
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}).stdout
    return json.loads(output.splitlines()[-1])


failed = False
for workload in given.workloads.split(","):
    kinds = [("apart", ["--apart"]), ("in step", ["--in-step"]), ("together", [])]
    one, many = [], {name: [] for name, _ in kinds}
    before = stolen()
    for number in range(given.rounds):
        one.append(measured(workload, 1)["samples_per_s"])
        for shift in range(len(kinds)):  # each goes first in its turn
            name, more = kinds[(number + shift) % len(kinds)]
            many[name].append(measured(workload, given.ranks, *more)["samples_per_s"])
        print(f"{workload:12} round {number + 1}: one rank {one[-1]:8.2f}  " + "  ".join(f"{name} {many[name][-1]:8.2f}" for name, _ in kinds)
              + f" samples/s  together of apart {many['together'][-1] / many['apart'][-1]:.3f}", flush=True)
    middle = {name: statistics.median(values) for name, values in many.items()}
    of = {name: statistics.median(t / o for t, o in zip(many["together"], many[name])) for name in ("apart", "in step")}
    print(f"{workload:12} median:  one rank {statistics.median(one):8.2f}  " + "  ".join(f"{name} {middle[name]:8.2f}" for name, _ in kinds)
          + f" samples/s  together of apart {of['apart']:.3f}, of in step {of['in step']:.3f}; {stolen() - before:.1f} s stolen by neighbours",
          flush=True)
    failed |= of["apart"] < given.at_least
sys.exit(failed)
