#!/usr/bin/env python3
"""Until the histograms of every column stand: columns_bench beside pyarrow.csv.read_csv plus numpy.histogram.

columns.py COLUMNS_BENCH [--python PYTHON] [--rows 1000000] [--columns 50] [--rounds 5] [--file FILE]

PYTHON has pyarrow and numpy. Both use two threads: pyarrow's pool is set to two, and two threads share the columns of
numpy.histogram. The file is made once (numbers of eight digits, fixed seed) and read once before, so it lies in the
cache. Both take turns; prints the median and the range of each as CSV.
"""
import argparse, json, os, statistics, subprocess, sys, tempfile

PEER = """
import sys, time
from concurrent.futures import ThreadPoolExecutor
import numpy, pyarrow, pyarrow.csv
pyarrow.set_cpu_count(2)
begin = time.perf_counter()
table = pyarrow.csv.read_csv(sys.argv[1])
with ThreadPoolExecutor(2) as pool:
    counts = list(pool.map(lambda c: numpy.histogram(c.to_numpy(), 64)[0].sum(), table.columns))
print(time.perf_counter() - begin, sum(counts))
"""


def write_table(path, python, rows, columns):
    code = (
        "import numpy, pyarrow, pyarrow.csv, sys\n"
        "r = numpy.random.default_rng(1)\n"
        f"t = pyarrow.table({{'c%02d' % i: numpy.round(r.random({rows}) * 99 + 0.5, 6) for i in range({columns})}})\n"
        "pyarrow.csv.write_csv(t, sys.argv[1])\n"
    )
    subprocess.run([python, "-c", code, path], check=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bench")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--file")
    args = parser.parse_args()
    path = args.file or os.path.join(tempfile.gettempdir(), "columns_bench.csv")
    if not os.path.exists(path):
        write_table(path, args.python, args.rows, args.columns)
    whole, first, peer = [], [], []
    for turn in range(args.rounds + 1):
        ours = json.loads(subprocess.run([args.bench, path, "2"], check=True, capture_output=True).stdout)
        seconds, counted = subprocess.run(
            [args.python, "-c", PEER, path], check=True, capture_output=True, text=True
        ).stdout.split()
        if int(counted) != ours["counted"]:
            sys.exit(f"ours counted {ours['counted']} values, numpy {counted}")
        if turn:  # the first turn brings the file into the cache
            whole.append(ours["whole"])
            first.append(ours["first_rows"])
            peer.append(float(seconds))
    print("what,median_s,least_s,most_s")
    for name, values in ("first rows", first), ("all histograms", whole), ("pyarrow and numpy", peer):
        print(f"{name},{statistics.median(values):.3f},{min(values):.3f},{max(values):.3f}")
    print(f"ratio,{statistics.median(whole) / statistics.median(peer):.2f},,")


if __name__ == "__main__":
    main()
