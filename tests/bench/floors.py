#!/usr/bin/env python3
"""Where a step's time goes, and which share of it is the floor: all its products and convolutions at the processor's peak, and nothing else.

    tests/bench/floors.py build/bin/loom build/bin/kernel_bench --precision f32,bf16 --seconds 3 --rounds 3
The peak is kernel_bench's, of one thread, times the threads. The step's time is by the clock, without the profile (least of the rounds' medians); the
profile is each stage's least processor time on one thread from a second run. Products and convolutions are counted as if computed directly:
Winograd's, which needs a quarter of the multiplications, may stand above 100 % of the peak."""
import argparse
import json
import os
import re
import subprocess

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("loom")
parser.add_argument("kernel_bench")
parser.add_argument("--workloads", default="mlp,mnist-cnn,resnet20,resnet50,lstm,gpt-mini")
parser.add_argument("--precision", default="f32,bf16")
parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
parser.add_argument("--seconds", type=float, default=3)
parser.add_argument("--rounds", type=int, default=1)
given = parser.parse_args()

head = subprocess.run([given.kernel_bench, "no such row"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[0]
peaks = dict(zip(("f32", "bf16"), (float(number) for number in re.findall(r"\d+\.\d+", head))))


def measured(workload, precision, *more, profile=False):
    command = [given.loom, "bench", workload, "--precision", precision, "--threads", str(given.threads), "--seconds", str(given.seconds), *more]
    environment = {**os.environ, "GRADLOOM_PROFILE": "1"} if profile else os.environ
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment).stdout
    return json.loads(output.splitlines()[-1])


print(f"{head}; {given.threads} threads")
print("| workload | precision | a step, ms | floor, ms | its share | products, convolutions, ms (of the peak) | attention, cells | passes | optimizer | between stages |")
print("|---|---|---|---|---|---|---|---|---|---|")
for precision in given.precision.split(","):
    for workload in given.workloads.split(","):
        step = min(measured(workload, precision)["step_ms"] for _ in range(given.rounds))
        profile = measured(workload, precision, "--plan", profile=True)
        peak = peaks[precision] * given.threads
        took, counted = {}, {}
        for op in profile["ops"].values():
            kind = {"convolution": "product", "recurrence": "attention"}.get(op["kind"], op["kind"])
            took[kind] = took.get(kind, 0) + op["profiled_ms"]
            counted[kind] = counted.get(kind, 0) + op["gigaoperations"]
        floor = sum(counted.values()) / peak * 1e3
        parts = [f"{took.get(kind, 0):.3g}" + (f" ({counted[kind] / peak * 1e5 / took[kind]:.0f} %)" if counted.get(kind, 0) > 0 else "")
                 for kind in ("product", "attention", "memory", "update")]
        print(f"| {workload} | {precision} | {step:.4g} | {floor:.4g} | {floor / step * 100:.0f} % | " + " | ".join(parts)
              + f" | {step - sum(took.values()):.3g} |", flush=True)
