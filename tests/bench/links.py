#!/usr/bin/env python3
"""What `loom plan` says of ranks over a network, beside ranks over that network: each in a network namespace of its own on one machine,
its link shaped both ways by tc's token bucket, and what it computes replaced by a wait of the length that was measured for one rank alone.

    links.py BUILD [--projects ...] [--rates 50 400] [--only 4:torus ...] [--rounds 3] [--out results/links.csv]
Needs root, iproute2 and Open MPI. BUILD: where bin/loom and bin/links_bench are. Namespaces, bridge and addresses (glr*, 10.86.0.0/24) are
its own, and taken away in the end. The plan is given the rate of the shaper, and the delay that the ranks measured, for nothing shapes that."""
import argparse
import csv
import datetime
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
MOST = 4
WAYS = {"ring": [2, 3, 4], "torus": [4], "hierarchical": [3, 4]}  # the last: groups of two, 2 x 2 of four
CSV_HEAD = ["date", "commit", "processor", "ranks", "topology", "link_mbit_s", "network", "what", "predicted_ms", "measured_ms", "ratio",
            "ratio_by_measured_link"]

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("build")
parser.add_argument("--projects", nargs="*", default=["samples/digits/digits.loom:512", "samples/autoencoder/autoencoder.loom:2048"],
                    help="PROJECT:SAMPLES of a rank")
parser.add_argument("--rates", nargs="*", type=int, default=[50, 400], help="Mbit/s")
parser.add_argument("--only", nargs="*", help="RANKS:TOPOLOGY")
parser.add_argument("--rounds", type=int, default=3, help="each row is the median of so many starts")
parser.add_argument("--seconds", type=float, default=2, help="of measuring, for exchange and step each")
parser.add_argument("--out")
given = parser.parse_args()


def run(*command, check=True, **more):
    return subprocess.run(command, check=check, text=True, stdout=subprocess.PIPE, **more).stdout


class Links:
    """Namespaces glr1 .. glr4 on one bridge; mpirun's daemons are started in them by `ip netns exec`."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="gradloom-links-")
        try:
            self.up()
        except BaseException:
            self.__exit__()
            raise
        return self

    def up(self):
        run("ip", "link", "add", "glrbr", "type", "bridge")
        run("ip", "link", "set", "glrbr", "up")
        for i in range(1, MOST + 1):
            name = f"glr{i}"
            run("ip", "netns", "add", name)
            run("ip", "link", "add", f"glrv{i}", "type", "veth", "peer", "name", "eth0", "netns", name)
            run("ip", "link", "set", f"glrv{i}", "master", "glrbr", "up")
            run("ip", "-n", name, "addr", "add", f"10.86.0.{i}/24", "dev", "eth0")
            run("ip", "-n", name, "link", "set", "eth0", "up")
            run("ip", "-n", name, "link", "set", "lo", "up")
        # A host of its own name each, so that no two ranks share memory.
        self.agent = os.path.join(self.folder, "agent")
        with open(self.agent, "w", encoding="ascii") as file:
            file.write('#!/bin/sh\nn=glr${1##*.}; shift\nexec ip netns exec $n unshare --uts sh -c "hostname $n; $*"\n')
        os.chmod(self.agent, 0o755)

    def shape(self, mbit):
        # What passes at once: a third of a millisecond, little beside a message, and enough that two cores can cut a stream into it.
        piece = max(3000, 40 * mbit)
        limits = ("root", "tbf", "rate", f"{mbit}mbit", "burst", str(piece + 1000), "limit", "8mb")
        for i in range(1, MOST + 1):
            run("tc", "qdisc", "replace", "dev", f"glrv{i}", *limits)
            run("tc", "-n", f"glr{i}", "qdisc", "replace", "dev", "eth0", *limits)
            run("ip", "-n", f"glr{i}", "link", "set", "eth0", "gso_max_size", str(piece))

    def mpirun(self, ranks, *program):
        hosts = os.path.join(self.folder, "hosts")
        with open(hosts, "w", encoding="ascii") as file:
            file.writelines(f"10.86.0.{i} slots=1\n" for i in range(1, ranks + 1))
        net = "10.86.0.0/24"
        command = ["mpirun", "--allow-run-as-root", "--hostfile", hosts, "--bind-to", "none", "--mca", "plm_rsh_agent", self.agent,
                   "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", net, "--mca", "oob_tcp_if_include", net, "-n", str(ranks),
                   *program]
        inner = "hostname glr1; exec " + " ".join(f"'{word}'" for word in command)
        try:
            return run("ip", "netns", "exec", "glr1", "unshare", "--uts", "sh", "-c", inner, timeout=60, stderr=subprocess.PIPE,
                       env={**os.environ, "OMP_NUM_THREADS": "1"})
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as failed:
            sys.exit(f"{failed}\n{failed.stderr}")

    def __exit__(self, *_):
        for i in range(1, MOST + 1):
            for number in run("ip", "netns", "pids", f"glr{i}", check=False, stderr=subprocess.DEVNULL).split():
                subprocess.run(["kill", "-KILL", number], check=False)
            subprocess.run(["ip", "link", "del", f"glrv{i}"], check=False, stderr=subprocess.DEVNULL)
            subprocess.run(["ip", "netns", "del", f"glr{i}"], check=False, stderr=subprocess.DEVNULL)
        subprocess.run(["ip", "link", "del", "glrbr"], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.folder, ignore_errors=True)


def alone_on(bench, project, to, *settings):
    run("nice", "-n", "-15", bench, "computing", project, "2", "3", to, *settings)
    with open(to, encoding="ascii") as file:
        return json.load(file)


def planned(project, settings, ranks, delay, mbit, computing):
    """Seconds of the exchange by itself, and of a step."""
    told = json.loads(run(os.path.join(given.build, "bin/loom"), "plan", project, "--ranks", str(ranks), "--per-host", "1", "--between",
                          f"{delay * 1e6:.3f}", f"{mbit:.3f}", "--computing", f"{computing * 1e3:.3f}", "--json", "--set", *settings))
    return {"exchange": told["rank_step"]["exchange"], "step": told["rank_step"]["seconds"]}


def processor():
    with open("/proc/cpuinfo", encoding="ascii") as file:
        name = next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    return f"{name} ({os.cpu_count()} virtual cores)"


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was made is taken away
    bench = os.path.join(os.path.abspath(given.build), "bin/links_bench")
    head = [datetime.date.today().isoformat(), run("git", "-C", ROOT, "rev-parse", "--short=8", "HEAD").strip(), processor()]
    rows = []
    with Links() as links:
        for project, samples in (each.split(":") for each in given.projects):
            project, samples = os.path.join(ROOT, project), int(samples)
            network = os.path.splitext(os.path.basename(project))[0]
            base = ["threads=1", "precision=f32"]
            noted = os.path.join(links.folder, network + ".json")
            alone = alone_on(bench, project, noted, f"batch={2 * samples}", *base)
            computing = alone["pass"] + alone["update"]
            print(f"{network}: {len(alone['ready'])} buckets, computing {computing * 1e3:.1f} ms", flush=True)
            for mbit in given.rates:
                links.shape(mbit)
                for way, ranks in ((way, ranks) for way, all_ranks in WAYS.items() for ranks in all_ranks):
                    if given.only and f"{ranks}:{way}" not in given.only:
                        continue
                    settings = base + [f"batch={ranks * samples}", f"reduction={way}"] + (["hierarchical_group=2"] if way == "hierarchical" else [])
                    found = []
                    for _ in range(given.rounds):
                        out = links.mpirun(ranks, bench, "ranks", project, noted, str(given.seconds), *settings)
                        found.append(json.loads(out.splitlines()[-1]))
                    middle = {key: statistics.median(each[key] for each in found) for key in ("delay", "bandwidth", "exchange", "step")}
                    named = planned(project, settings, ranks, middle["delay"], mbit, computing)
                    measured = planned(project, settings, ranks, middle["delay"], middle["bandwidth"] * 8e-6, computing)
                    for what in ("exchange", "step"):
                        ratio = named[what] / middle[what]
                        rows.append(head + [ranks, way, mbit, network, what, f"{named[what] * 1e3:.2f}", f"{middle[what] * 1e3:.2f}",
                                            f"{ratio:.3f}", f"{measured[what] / middle[what]:.3f}"])
                        spread = " ".join(f"{each[what] * 1e3:.1f}" for each in found)
                        print(f"  {mbit:4} Mbit/s {ranks} {way:13} {what:9} predicted {named[what] * 1e3:8.2f} measured {middle[what] * 1e3:8.2f} ms "
                              f"({spread}) ratio {ratio:.3f}; by the measured link ({middle['delay'] * 1e6:.0f} us, "
                              f"{middle['bandwidth'] * 8e-6:.1f} Mbit/s) {measured[what] / middle[what]:.3f}", flush=True)
    if given.out:
        with open(given.out, "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([CSV_HEAD] + rows)
    off = [row for row in rows if abs(float(row[10]) - 1) > 0.15]
    print(f"{len(rows) - len(off)} of {len(rows)} within 15 %")
    return 1 if off else 0


if __name__ == "__main__":
    sys.exit(main())
