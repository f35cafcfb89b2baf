#!/usr/bin/env python3
"""The memory of a step beside PyTorch's: what a process that runs eight steps holds at its peak, less what it holds before it has anything to do.

    tests/bench/memory.py build/bin/loom --python PYTHON_WITH_TORCH --peers FOLDER_OF_torch_bench.py --workloads mlp,resnet50:8
WORKLOAD:N takes a batch of N. PyTorch runs eagerly with tcmalloc (with --malloc glibc without). Two figures of each side, in MiB:
`resident` is the peak of everything the process holds (getrusage), less that of `import torch` or `loom --version`; code that is
read from libraries when it first runs counts. `own` is the largest that was seen of its anonymous memory alone (RssAnon, looked at every
2 ms), less the same of the idle process: no code, so the fairer of the two, but a peak shorter than a look can be missed.
With half: loom again with a `--memory-budget` (of what lives during a step alone) that leaves half of PyTorch's `own` in all, where
activations are computed again; where it can keep no such budget, the least that it can, marked *.
Exit code 1 where ours is above PyTorch's, or above --half of it with that budget (0: not asked)."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

TCMALLOC = "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4"
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("loom")
parser.add_argument("--python", default=sys.executable)
parser.add_argument("--peers", required=True)
parser.add_argument("--workloads", default="mlp,mnist-cnn,resnet20,resnet50,lstm,gpt-mini")
parser.add_argument("--precision", default="f32,bf16")
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--malloc", choices=["tcmalloc", "glibc"], default="tcmalloc")
parser.add_argument("--half", type=float, default=0.5)
given = parser.parse_args()
if given.malloc == "tcmalloc" and not os.path.exists(TCMALLOC):
    sys.exit("tcmalloc is not installed: apt-get install libtcmalloc-minimal4, or take --malloc glibc")
MEBIBYTE = 1 << 20

# torch_bench.py knows no other batch: its first sample rows are taken, and as many labels (a transformer's are by token).
TORCH = """
import sys
sys.path.insert(0, {peers!r})
import torch, torch_bench
torch.set_num_threads({threads})
make, batch = torch_bench.WORKLOADS[{workload!r}], {batch}
def cut():
    model, x, y = make()
    return (model, x[:batch], y[:len(y) // len(x) * batch]) if batch else (model, x, y)
torch_bench.WORKLOADS[{workload!r}] = cut
print(torch_bench.measure({workload!r}, "cpu", "eager", {precision!r}, 0))
"""


def anonymous(process):
    """KiB of memory that is no file's."""
    try:
        with open(f"/proc/{process}/status", encoding="ascii") as file:
            found = re.search(r"RssAnon:\s*(\d+)", file.read())
    except OSError:
        return 0
    return int(found[1]) if found else 0


def held(command, environment=None):
    """(resident, own) at their peaks in MiB, exit status, and what it wrote. This script is small, so its own memory, which a child begins
    with, is never the larger."""
    with tempfile.TemporaryFile("w+") as text:
        process = subprocess.Popen(command, stdout=text, stderr=text, env={**os.environ, **(environment or {})})
        own = 0
        while True:
            own = max(own, anonymous(process.pid))
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
            if ended:
                break
            time.sleep(0.002)
        text.seek(0)
        return (usage.ru_maxrss / 1024, own / 1024), os.waitstatus_to_exitcode(status), text.read()


def measured(command, idle, environment=None):
    peak, status, text = held(command, environment)
    if status:
        sys.exit(f"{' '.join(command)[:200]}: {text[-800:]}")
    return [most - rest for most, rest in zip(peak, idle)], text


def ours(workload, precision, batch, *more):
    return [given.loom, "bench", workload, "--precision", precision, "--threads", str(given.threads), "--batch", batch or "0", "--seconds", "0", *more]


def on_half(workload, precision, batch, budget, idle):
    """Figures within `budget` MiB, or with the least that is possible."""
    budget, mark = max(budget, 0.001), ""
    command = lambda: ours(workload, precision, batch, "--memory-budget", f"{budget:.3f}")
    peak, status, text = held(command())
    least = re.search(r"set it to ([\d.]+) or more", text)
    if status and least:
        budget, mark = float(least[1]), "*"
        peak, status, text = held(command())
    if status:
        sys.exit(f"{' '.join(command())}: {text[-800:]}")
    return [most - rest for most, rest in zip(peak, idle)], budget, mark


preload = {"LD_PRELOAD": TCMALLOC} if given.malloc == "tcmalloc" else {}
idle = held([given.loom, "--version"])[0]
idle_torch = held([given.python, "-c", "import torch"], preload)[0]
print(f"idle, MiB: loom {idle[0]:.0f} resident, {idle[1]:.0f} own; import torch {idle_torch[0]:.0f} resident, {idle_torch[1]:.0f} own", flush=True)
print(f"{'workload':14} {'':4} {'loom':>13} {'PyTorch':>13} {'ratio':>11}   {'half: budget':>12} {'loom':>13} {'ratio':>11}   (resident own)")
failed = False
for one in given.workloads.split(","):
    workload, _, batch = one.partition(":")
    for precision in given.precision.split(","):
        mine, text = measured(ours(workload, precision, batch), idle, {"GRADLOOM_PROFILE": "1"})
        told = json.loads(next(line for line in text.splitlines() if line.startswith("{") and "arena_bytes" in line))
        script = TORCH.format(peers=given.peers, threads=given.threads, workload=workload, batch=batch or 0, precision=precision)
        theirs = measured([given.python, "-c", script], idle_torch, preload)[0]
        step = (told["arena_bytes"] - told["lasting_bytes"]) / MEBIBYTE
        half, budget, mark = on_half(workload, precision, batch, given.half * theirs[1] - (mine[1] - step) - 1, idle)
        ratio, of_half = [m / t for m, t in zip(mine, theirs)], [m / t for m, t in zip(half, theirs)]
        wrong = max(ratio) > 1 or given.half > 0 and max(of_half) > given.half
        failed |= wrong
        print(f"{one:14} {precision:4} {mine[0]:6.0f} {mine[1]:6.0f} {theirs[0]:6.0f} {theirs[1]:6.0f} {ratio[0]:5.2f} {ratio[1]:5.2f}   "
              f"{budget:11.1f}{mark or ' '} {half[0]:6.0f} {half[1]:6.0f} {of_half[0]:5.2f} {of_half[1]:5.2f}" + ("  MISSED" if wrong else ""), flush=True)
sys.exit(failed)
