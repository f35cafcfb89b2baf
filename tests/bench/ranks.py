#!/usr/bin/env python3
"""Ranks that train together against ranks that compute at the same time and exchange nothing (their ceiling), and against one rank
on one core; in turn, round after round, and compared within a round only.

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
    one, apart, together = [], [], []
    before = stolen()
    for number in range(given.rounds):
        one.append(measured(workload, 1)["samples_per_s"])
        # Each goes first as often as the other.
        order = [(apart, ["--apart"]), (together, [])]
        for results, more in order if number % 2 == 0 else reversed(order):
            results.append(measured(workload, given.ranks, *more)["samples_per_s"])
        print(f"{workload:14} round {number + 1}: one rank {one[-1]:9.2f}  apart {apart[-1]:9.2f}  together {together[-1]:9.2f} samples/s"
              f"  of the ceiling {together[-1] / apart[-1]:.3f}", flush=True)
    ratio = statistics.median(t / a for t, a in zip(together, apart))
    print(f"{workload:14} median:  one rank {statistics.median(one):9.2f}  apart {statistics.median(apart):9.2f}  together "
          f"{statistics.median(together):9.2f} samples/s  of the ceiling {ratio:.3f}, of one rank "
          f"{statistics.median(t / o for t, o in zip(together, one)):.3f} x; {stolen() - before:.1f} s stolen by neighbours",
          flush=True)
    failed |= ratio < given.at_least
sys.exit(failed)
