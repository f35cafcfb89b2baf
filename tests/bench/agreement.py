#!/usr/bin/env python3
"""The numbers of training beside PyTorch's: gradients of the first step and the loss of many, from the same weights and the same batch.

    tests/bench/agreement.py build/bin/loom --peers FOLDER_OF_torch_bench.py --workloads mlp,resnet50:4 --steps 200 --seeds 5
WORKLOAD:N takes a batch of N. Run it by a Python that has torch. `loom bench NAME --record FILE` writes weights, batch, gradients and
losses; PyTorch gets the first two. Dropout is left out on both sides, because two programs cannot draw the same masks.
Gradients: |ours - PyTorch's in f32| / |PyTorch's in f32|, of all parameters as one vector (`all`) and of the worst tensor (`worst`).
In bf16 PyTorch's own (autocast) stands beside it. Tensors whose gradient is zero but for rounding (below 1e-6 of the largest, by the root mean
square) are left out of `worst`.
--branches F multiplies the last scale of every residual branch by F on both sides: the first gradients of a deep network of normalised
branches hang on the last bits of f32 (PyTorch's own in f32 are as far from those in f64), of one whose branches add less they do not.
--draws N takes the weights of N beginnings, all but the first as PyTorch draws them: of one, a handful of units decides whose sign the
rounding turns. In f32 their median counts, in bf16 root mean squares. --exact prints how far PyTorch's f32 gradients are from its own in
f64, too.
Loss: `apart` is the largest |ours - PyTorch's| of one step from the same weights, divided by the spread (largest less smallest) of
PyTorch's own losses in that step over the seeds that draw its weights, in the same precision; `within` the share of steps in which ours
is apart by no more than that spread.
Exit code 1 where f32 gradients differ by more than --tolerance, bf16 ones by more than --bf16-ratio times PyTorch's own difference, or a
loss by more than the spread."""
import argparse
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile

import torch
import torch.nn.functional as F

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("loom")
parser.add_argument("--peers", required=True)
parser.add_argument("--workloads", default="mlp,mnist-cnn,resnet20,resnet50,lstm,gpt-mini")
parser.add_argument("--precision", default="f32,bf16")
parser.add_argument("--steps", type=int, default=200)
parser.add_argument("--seeds", type=int, default=5)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--tolerance", type=float, default=1e-5)
parser.add_argument("--bf16-ratio", type=float, default=1.25)
parser.add_argument("--draws", type=int, default=1)
parser.add_argument("--branches", type=float, default=1.0)
parser.add_argument("--exact", action="store_true", help="compare with PyTorch's gradients in f64, too")
parser.add_argument("--window", type=int, default=10)
parser.add_argument("--losses", metavar="FILE", help="write every loss of every run, as JSON")
given = parser.parse_args()
sys.path.insert(0, given.peers)
import torch_bench  # noqa: E402

torch.set_num_threads(given.threads)


def read(path):
    """The tensors of a .safetensors in f32, and its metadata."""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = bytearray(file.read())
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, at in header.items():
        begin, end = at["data_offsets"]
        tensors[name] = torch.frombuffer(data, dtype=torch.float32, count=(end - begin) // 4, offset=begin).reshape(at["shape"]).clone()
    return tensors, metadata


def write(path, tensors):
    header, at = {}, 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [at, at + 4 * tensor.numel()]}
        at += 4 * tensor.numel()
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(tensor.contiguous().numpy().tobytes())


def recorded(workload, batch, precision, steps, folder, draw):
    """What loom records from its own weights (draw 0), or from such as PyTorch draws."""
    def record(steps, *more):
        path = os.path.join(folder, f"{workload}-{precision}.safetensors")
        subprocess.run([given.loom, "bench", workload, "--precision", precision, "--threads", str(given.threads), "--batch", batch or "0",
                        "--record", path, "--steps", str(steps), *more], check=True)
        return read(path)

    if given.branches == 1 and draw == 0:
        return record(steps)
    tensors, metadata = record(1)
    model = model_of(workload, 200 + draw)
    if draw == 0:
        give(model, tensors, metadata["parameters"].split(" "))
    ends = [id((block.b3 if hasattr(block, "b3") else block.b2).weight) for block in model.modules() if hasattr(block, "sc")]
    if given.branches != 1 and not ends:
        sys.exit(f"{workload} has no residual branches that end in a normalisation")
    weights = {"weight:" + name: parameter.data[rows] * (given.branches if id(parameter) in ends else 1)
               for parameter, rows, name in pairs(model, metadata["parameters"].split(" "))}
    path = os.path.join(folder, "weights.safetensors")
    write(path, weights)
    return record(steps, "--weights", path)


def model_of(workload, seed):
    torch.manual_seed(seed)
    model = torch_bench.WORKLOADS[workload]()[0]
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        if isinstance(module, torch.nn.LSTM):  # loom has one bias, which is the sum of PyTorch's two
            for name, parameter in module.named_parameters():
                if name.startswith("bias_hh"):
                    parameter.data.zero_()
                    parameter.requires_grad_(False)
    return model


def pairs(model, order):
    """(PyTorch's parameter, rows of it or None, loom's name): both list their layers in the order in which they compute, but PyTorch's
    transformer block has its normalisations first and one matrix for queries, keys and values."""
    left, found = list(order), []
    theirs = [p for p in model.parameters() if p.requires_grad]
    if hasattr(model, "b") and hasattr(model, "o"):  # Gpt
        theirs = [model.e.weight, model.p.weight]
        for block in model.b:
            rows = block.qkv.out_features // 3
            theirs += [block.n1.weight, block.n1.bias]
            for part in range(3):
                theirs += [(p, slice(part * rows, (part + 1) * rows)) for p in (block.qkv.weight, block.qkv.bias)]
            theirs += [block.p.weight, block.p.bias, block.n2.weight, block.n2.bias, block.u.weight, block.u.bias, block.d.weight, block.d.bias]
        theirs += [model.n.weight, model.n.bias, model.o.weight, model.o.bias]
    if len(left) != len(theirs):
        sys.exit(f"loom has {len(left)} parameters, PyTorch {len(theirs)}")
    for name, one in zip(left, theirs):
        parameter, rows = one if isinstance(one, tuple) else (one, slice(None))
        found.append((parameter, rows, name))
    return found


def give(model, tensors, order):
    for parameter, rows, name in pairs(model, order):
        source = tensors["weight:" + name]
        if parameter.data[rows].shape != source.shape:
            sys.exit(f"{name} is {tuple(source.shape)}, PyTorch's {tuple(parameter.data[rows].shape)}")
        parameter.data[rows] = source



def train(workload, model, x, y, precision, steps):
    """Losses of `steps` steps, and the first one's gradients as a function of the order of names."""
    learned = [p for p in model.parameters() if p.requires_grad]
    optimizer = (torch.optim.AdamW(learned, 3e-4) if workload == "gpt-mini"
                 else torch.optim.SGD(learned, 0.01, momentum=0.9, weight_decay=5e-4))
    losses, first = [], None
    for step in range(steps):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            loss = F.cross_entropy(model(x), y)
        loss.backward()
        if step == 0:
            first = lambda order, kept={id(p): p.grad.clone() for p in learned}: {
                name: kept[id(parameter)][rows] for parameter, rows, name in pairs(model, order)}
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses), first


def difference(ours, theirs):
    """Of all together, and of the worst tensor with its name."""
    square = lambda t: float(t.double().square().sum())
    largest = max((square(t) / t.numel()) ** 0.5 for t in theirs.values())
    everything = (sum(square(ours[n] - theirs[n]) for n in theirs) / sum(square(t) for t in theirs.values())) ** 0.5
    each = {n: (square(ours[n] - t) / square(t)) ** 0.5 for n, t in theirs.items() if (square(t) / t.numel()) ** 0.5 > 1e-6 * largest}
    worst = max(each, key=each.get)
    return everything, each[worst], worst


def text(found):
    return f"all {found[0]:.1e}  worst {found[1]:.1e} ({found[2]})"


def spread_of(runs, window):
    """Of each step: largest less smallest loss over the seeds (rows of `runs`), averaged over the `window` steps about it."""
    each = runs.max(0).values - runs.min(0).values
    before = window // 2
    return torch.stack([each[max(0, i - before):i - before + window].mean() for i in range(len(each))]).clamp_min(1e-12)


def apart_by(losses, others, spread):
    return (losses - others).abs() / spread


def within(apart):
    return float((apart <= 1).float().mean())


def largest(apart):
    return f"{float(apart.max()):.3f} (step {int(apart.argmax()) + 1})"


def compared(workload, precision, draw, folder, batch):
    """Of one beginning: gradients' distances from PyTorch's in f32, ours and PyTorch's own, and losses."""
    tensors, metadata = recorded(workload, batch, precision, given.steps, folder, draw)
    order = metadata["parameters"].split(" ")
    x, y = tensors["input:x"], tensors["input:y"].flatten().long()
    x = x.long() if workload == "gpt-mini" else x
    ours = {n: tensors["gradient:" + n] for n in order}

    def from_ours(precision, steps):
        model = model_of(workload, 0)
        give(model, tensors, order)
        losses, first = train(workload, model, x, y, precision, steps)
        return losses, first(order)

    losses, theirs = from_ours(precision, given.steps)
    in_f32, exact = (losses, theirs) if precision == "f32" else from_ours("f32", given.steps)
    from_f64 = None
    if precision == "f32" and given.exact:
        model = model_of(workload, 0)
        give(model, tensors, order)
        _, most = train(workload, model.double(), x.double() if x.is_floating_point() else x, y, precision, 1)
        from_f64 = difference(ours, most(order)), difference(theirs, most(order))
    kept = {"ours": tensors["losses"], "theirs": losses, "theirs in f32": in_f32}
    return difference(ours, exact), difference(theirs, exact), from_f64, kept, x, y


def of_draws(found):
    """In f32, of what was found in every draw."""
    return f"median {statistics.median(found):.1e}, {sum(one <= given.tolerance for one in found)} within {given.tolerance:g}"


def root_mean_square(found):
    return (sum(one ** 2 for one in found) / len(found)) ** 0.5


failed, every = False, {}  # every loss, by workload and precision
with tempfile.TemporaryDirectory() as folder:
    for one in given.workloads.split(","):
        workload, _, batch = one.partition(":")
        for precision in sorted(given.precision.split(","), reverse=True):  # f32 first
            draws = given.draws
            rows = [compared(workload, precision, draw, folder, batch) for draw in range(draws)]
            mine, peer, from_f64, kept, x, y = rows[0]
            line = f"{one:12} {precision:4} gradients: {text(mine)}"
            if precision == "f32":
                if given.exact:
                    line += f"; from f64: ours {text(from_f64[0])}, PyTorch's {text(from_f64[1])}"
                all_of = [row[0][0] for row in rows]
                if draws > 1:
                    line += f"; of {draws} draws: {of_draws(all_of)}"
                    if given.exact:
                        line += "; from f64: ours {}, PyTorch's {}".format(*(of_draws([row[2][k][0] for row in rows]) for k in range(2)))
                wrong = statistics.median(all_of) > given.tolerance
            else:
                line += f"; PyTorch's own: {text(peer)}"
                everyone = [root_mean_square([row[k][0] for row in rows]) for k in range(2)]
                if draws > 1:
                    line += f"; of {draws} draws: all {everyone[0]:.1e}, PyTorch's own {everyone[1]:.1e}"
                wrong = everyone[0] > given.bf16_ratio * everyone[1]
            if given.seeds > 1 and given.steps > 1:
                runs = torch.stack([train(workload, model_of(workload, 100 + s), x, y, precision, given.steps)[0] for s in range(given.seeds)])
                spread = spread_of(runs, given.window)
                apart = apart_by(kept["ours"], kept["theirs"], spread)
                line += (f"; loss {float(kept['ours'][0]):.4f} to {float(kept['ours'][-1]):.4f}, PyTorch's {float(kept['theirs'][0]):.4f} to "
                         f"{float(kept['theirs'][-1]):.4f}; apart {largest(apart)} of the spread of {given.seeds} seeds, "
                         f"within it in {within(apart):.1%} of {given.steps} steps")
                left = within(apart) < 1
                if precision == "bf16":  # how far bf16 alone takes a run, ours and theirs
                    means = [[float(apart_by(row[3][whose], row[3]["theirs in f32"], spread).mean()) for row in rows] for whose in ("ours", "theirs")]
                    line += (f"; from PyTorch's f32: ours {largest(apart_by(kept['ours'], kept['theirs in f32'], spread))}, mean {means[0][0]:.3f}; "
                             f"its own bf16 {largest(apart_by(kept['theirs'], kept['theirs in f32'], spread))}, mean {means[1][0]:.3f}")
                    ours, theirs = (sum(each) / draws for each in means)
                    if draws > 1:
                        line += f"; of {draws} draws: mean {ours:.3f}, its own bf16 {theirs:.3f}"
                    left &= ours > given.bf16_ratio * theirs
                wrong |= left
                every[f"{one} {precision}"] = {name: values.tolist() for name, values in {**kept, "seeds": runs}.items()}
            failed |= wrong
            print(line + ("  MISSED" if wrong else ""), flush=True)
if given.losses:
    with open(given.losses, "w", encoding="utf-8") as file:
        json.dump(every, file)
sys.exit(failed)
