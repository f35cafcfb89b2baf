#!/usr/bin/env python3
"""Steps on a machine that others use, beside what their share of the processor says, ours and PyTorch's.

    tests/bench/busy.py build/bin/loom --python PYTHON_WITH_TORCH --peers FOLDER_OF_torch_bench.py --workloads mlp,lstm --threads 1,2
Loads, of nice 0, each process a session of its own, as another terminal's is: `1 busy` and `2 busy` processes that only count, and `build`:
as many compilers as there are cores, one file after the other. For each: the mean step over all steps (none is left out) to the one of a quiet
machine just before (`slower`); what a fair share says (`fair`); and the cores that the process's threads had, and how many of them stood
runnable without one (`had`, `waited`; schedstat). A fair share of C cores beside B busy ones: where Linux shares the processor out among
sessions first (sched_autogroup, as Debian does) C / (1 + B) cores for all threads together, else C T / (T + B) for T of them. A step that is
slower than fair waits for a thread that has no core, or spins: under `had` threads that spin count as well.
Exit code 1 where ours is slower than fair by more than --slack."""
import argparse
import glob
import json
import os
import subprocess
import sys
import tempfile
import time
import typing

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("loom")
parser.add_argument("--python", default=sys.executable)
parser.add_argument("--peers", required=True)
parser.add_argument("--workloads", default="mlp,resnet20,lstm")
parser.add_argument("--precision", default="f32")
parser.add_argument("--threads", default="1,2")
parser.add_argument("--seconds", type=float, default=3, help="of each; a step is known to 1 / (its number of steps)")
parser.add_argument("--loads", default="1 busy,2 busy,build")
parser.add_argument("--slack", type=float, default=0.15)
parser.add_argument("--compiler", default="c++")
given = parser.parse_args()
CORES = len(os.sched_getaffinity(0))
try:
    with open("/proc/sys/kernel/sched_autogroup_enabled", encoding="ascii") as file:
        SESSIONS = file.read().strip() == "1"
except OSError:
    SESSIONS = False
TCMALLOC = "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4"
SOURCE = "#include <algorithm>\n#include <functional>\n#include <map>\n#include <regex>\n#include <string>\n" + "".join(
    f"int f{i}(std::map<std::string, int> m) {{ std::regex r(\"a{i}\"); for (auto& [k, v] : m) if (std::regex_match(k, r)) v += {i}; return m.size(); }}\n"
    for i in range(40))


class Load:
    def __init__(self, kind, folder):
        self.processes = []
        if kind == "build":
            source = os.path.join(folder, "one.cpp")
            with open(source, "w", encoding="utf-8") as file:
                file.write(SOURCE)
            self.count = CORES
            command = ["sh", "-c", f"while :; do {given.compiler} -std=c++17 -O2 -c '{source}' -o /dev/null; done"]
        else:
            self.count = int(kind.split()[0]) if kind else 0
            command = [sys.executable, "-c", "while True: pass"]
        for _ in range(self.count):
            # Ends with this process, however that ends.
            self.processes.append(subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command], start_new_session=True))

    def __enter__(self):
        time.sleep(0.2)
        return self

    def __exit__(self, *_):
        for process in self.processes:
            os.killpg(process.pid, 9)
            process.wait()


def schedules(process):
    """Seconds that the threads of a process ran, and stood runnable without a core."""
    ran = stood = 0
    for path in glob.glob(f"/proc/{process}/task/*/schedstat"):
        try:
            with open(path, encoding="ascii") as file:
                numbers = file.read().split()
        except OSError:
            continue
        ran, stood = ran + int(numbers[0]), stood + int(numbers[1])
    return ran * 1e-9, stood * 1e-9


def share(threads, busy):
    """Of the cores, for all threads together, beside so many busy processes."""
    return CORES / (1 + busy) if SESSIONS else CORES * threads / (threads + busy)


class Measured(typing.NamedTuple):
    """While it measures, which is the end of its life: the mean step in seconds, the cores had, the threads that waited for one."""
    step: float
    had: float
    waited: float


def measured(command, environment):
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment})
    seen = []
    while process.poll() is None:
        seen.append((time.monotonic(), *schedules(process.pid)))
        time.sleep(0.02)
    line = json.loads(process.stdout.read().splitlines()[-1])
    seen = [one for one in seen if one[1] > 0]
    last = seen[-2]
    first = next(one for one in seen if one[0] >= last[0] - given.seconds * 0.9)
    span = last[0] - first[0]
    return Measured(given.seconds / line["steps"], (last[1] - first[1]) / span, (last[2] - first[2]) / span)


def commands(workload, threads):
    common = ["--precision", given.precision, "--seconds", str(given.seconds), "--threads", str(threads)]
    yield "loom", [given.loom, "bench", workload, *common], {}
    yield ("PyTorch", [given.python, os.path.join(given.peers, "torch_bench.py"), "--only", workload, *common],
           {"LD_PRELOAD": TCMALLOC} if os.path.exists(TCMALLOC) else {})


failed = False
print(f"{CORES} cores{', shared out among sessions' if SESSIONS else ''}; {given.precision}")
with tempfile.TemporaryDirectory() as folder:
    for workload in given.workloads.split(","):
        for threads in map(int, given.threads.split(",")):
            for who, command, environment in commands(workload, threads):
                quiet = measured(command, environment)
                line = f"{workload:10} {threads} thr. {who:8} {quiet.step * 1e3:8.2f} ms"
                for kind in given.loads.split(","):
                    with Load(kind, folder) as load:
                        busy = measured(command, environment)
                    fair = min(threads, CORES) / min(threads, share(threads, load.count))
                    slower = busy.step / quiet.step
                    wrong = who == "loom" and slower > fair * (1 + given.slack)
                    failed |= wrong
                    line += f" | {kind}: {slower:5.2f}{'!' if wrong else ' '} (fair {fair:.2f}; had {busy.had:.2f}, waited {busy.waited:.2f})"
                print(line, flush=True)
sys.exit(failed)
