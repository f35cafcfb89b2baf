#!/usr/bin/env python3
"""What decoding an image costs beside torchvision with the same work: a file is read and becomes C x H x W of bytes, on one thread; microseconds
of processor time a file, the least of several passes over the same files, both in turn.

    cmake --build build --target decode_bench
    tests/bench/decode.py build/bin/decode_bench --mnist FOLDER --cifar FOLDER
Run it by a Python that has torch, torchvision, numpy and Pillow. The files: digits of MNIST as PNG (28 x 28, grey), CIFAR-10 as JPEG and as PNG
(32 x 32), and mosaics of CIFAR's pictures as photographs come (224 x 224 and 500 x 375; JPEG of quality 90, and PNG), which Pillow writes.
Exit code 1 where ours takes longer than torchvision's times --at-most."""
import argparse
import glob
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time

import numpy
import torch
import torchvision
from PIL import Image

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("bench")
parser.add_argument("--mnist", required=True)
parser.add_argument("--cifar", required=True)
parser.add_argument("--seconds", type=float, default=1)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--at-most", type=float, default=1)
given = parser.parse_args()
torch.set_num_threads(1)


def files_in(folder):
    """(what, paths), made where they are not."""
    with tarfile.open(os.path.join(given.mnist, "mnist-test-png.tar.gz")) as archive:
        archive.extractall(os.path.join(folder, "mnist"), filter="data")
    with tarfile.open(os.path.join(given.cifar, "cifar10-train-jpeg.tar.gz")) as archive:
        archive.extractall(os.path.join(folder, "cifar"), filter="data")
    digits = sorted(glob.glob(os.path.join(folder, "mnist", "**", "*.png"), recursive=True))[:2000]
    pictures = sorted(glob.glob(os.path.join(folder, "cifar", "**", "*.jpg"), recursive=True))[::25]
    yield "MNIST, PNG", digits
    yield "CIFAR-10, JPEG", pictures
    arrays = [numpy.asarray(Image.open(path)) for path in pictures]

    def written(kind, count, make, **options):
        paths = []
        for number in range(count):
            paths.append(os.path.join(folder, f"{number}-{kind.replace(' ', '')}"))
            make(number).save(paths[-1], **options)
        return paths

    def mosaic(width, height):
        def make(number):
            each = 64  # pixels of a picture, enlarged: the detail of a photograph, not of noise
            rows = []
            for y in range(0, height + each, each):
                rows.append(numpy.concatenate([numpy.asarray(Image.fromarray(arrays[(number * 131 + y + x) % len(arrays)]).resize((each, each), Image.BICUBIC))
                                               for x in range(0, width + each, each)], 1))
            return Image.fromarray(numpy.concatenate(rows)[:height, :width])
        return make

    yield "CIFAR-10, PNG", written("32.png", 2000, lambda number: Image.fromarray(arrays[number]))
    for width, height in ((224, 224), (500, 375)):
        yield f"{width} x {height}, JPEG", written(f"{width}.jpg", 60, mosaic(width, height), quality=90)
        yield f"{width} x {height}, PNG", written(f"{width}.png", 60, mosaic(width, height))


def theirs(paths):
    def once():
        for path in paths:
            torchvision.io.decode_image(torchvision.io.read_file(path))
    once()
    least, end = 1e9, time.process_time() + given.seconds
    while least == 1e9 or time.process_time() < end:
        begin = time.process_time()
        once()
        least = min(least, time.process_time() - begin)
    return least / len(paths) * 1e6


def ours(paths, folder):
    with open(os.path.join(folder, "list"), "w", encoding="utf-8") as file:
        file.write("\n".join(paths) + "\n")
    return json.loads(subprocess.run([given.bench, file.name, str(given.seconds)], check=True, stdout=subprocess.PIPE, text=True).stdout)["microseconds"]


failed = False
print(f"torchvision {torchvision.__version__}; microseconds a file on one thread, the least of {given.rounds} rounds")
with tempfile.TemporaryDirectory() as folder:
    for what, paths in files_in(folder):
        rounds = [(ours(paths, folder), theirs(paths)) for _ in range(given.rounds)]
        mine, peer = min(r[0] for r in rounds), min(r[1] for r in rounds)
        failed |= mine > given.at_most * peer
        print(f"{what:18} loom {mine:8.1f}   torchvision {peer:8.1f}   theirs / ours {peer / mine:5.2f}", flush=True)
sys.exit(failed)
