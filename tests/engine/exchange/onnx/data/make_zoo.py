"""Models of torch in ONNX, by both of its exporters, with what onnxruntime computes: make_zoo.py FOLDER [NAME ...]
Needs torch, onnx, onnxscript and onnxruntime (pip). The tests read them where GRADLOOM_ONNX_MODELS names the folder."""
import math
import pathlib
import sys

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from storing import store


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
        self.downsample = None
        if stride != 1 or inputs != 4 * width:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = F.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet50(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        inputs, layers = 64, []
        for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
            blocks = []
            for i in range(count):
                blocks.append(Bottleneck(inputs, width, stride if i == 0 else 1))
                inputs = 4 * width
            layers.append(nn.Sequential(*blocks))
        self.layers = nn.Sequential(*layers)
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(2048, 1000)

    def forward(self, x):
        x = self.maxpool(F.relu(self.bn1(self.conv1(x))))
        return self.fc(torch.flatten(self.avgpool(self.layers(x)), 1))


class Inverted(nn.Module):
    def __init__(self, inputs, outputs, expand, stride, kernel=3, squeeze=False, swish=False):
        super().__init__()
        act = nn.Hardswish if swish else nn.ReLU6
        width = inputs * expand
        self.short = stride == 1 and inputs == outputs
        self.squeeze = squeeze
        self.a = nn.Sequential(nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width), act(),
                               nn.Conv2d(width, width, kernel, stride, kernel // 2, groups=width, bias=False), nn.BatchNorm2d(width), act())
        if squeeze:
            self.se = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(width, width // 4, 1), nn.ReLU(), nn.Conv2d(width // 4, width, 1), nn.Hardsigmoid())
        self.b = nn.Sequential(nn.Conv2d(width, outputs, 1, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.a(x)
        if self.squeeze:
            y = y * self.se(y)
        y = self.b(y)
        return x + y if self.short else y


class MobileNet(nn.Module):
    """The blocks of MobileNetV2 (ReLU6) and V3 (hard swish, squeeze and excitation)."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU6())
        self.body = nn.Sequential(Inverted(16, 24, 4, 2), Inverted(24, 24, 4, 1), Inverted(24, 40, 4, 2, 5, True, True), Inverted(40, 40, 4, 1, 5, True, True))
        self.head = nn.Sequential(nn.Conv2d(40, 160, 1, bias=False), nn.BatchNorm2d(160), nn.Hardswish())
        self.drop, self.fc = nn.Dropout(0.2), nn.Linear(160, 100)

    def forward(self, x):
        x = self.head(self.body(self.stem(x)))
        return self.fc(self.drop(x.mean([2, 3])))


class EncoderTransformer(nn.Module):
    """torch's own encoder: nn.TransformerEncoderLayer, packed projections, a class read from the first step."""

    def __init__(self, activation="gelu"):
        super().__init__()
        self.embed, self.position = nn.Embedding(100, 32), nn.Parameter(torch.randn(1, 12, 32) * 0.1)
        layer = nn.TransformerEncoderLayer(32, 4, 64, activation=activation, batch_first=True, norm_first=True)
        self.encoder, self.norm, self.fc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.LayerNorm(32), nn.Linear(32, 7)

    def forward(self, x):
        return self.fc(self.norm(self.encoder(self.embed(x) + self.position))[:, 0])


class Gpt(nn.Module):
    """A causal decoder written by hand as nanoGPT: one projection for q, k, v; view and transpose; a mask from a buffer."""

    def __init__(self, flash):
        super().__init__()
        self.flash = flash
        self.wte, self.wpe = nn.Embedding(65, 48), nn.Embedding(16, 48)
        self.ln1, self.attn, self.proj = nn.LayerNorm(48), nn.Linear(48, 144), nn.Linear(48, 48)
        self.ln2, self.up, self.down = nn.LayerNorm(48), nn.Linear(48, 192), nn.Linear(192, 48)
        self.head = nn.Linear(48, 65, bias=False)
        self.register_buffer("mask", torch.tril(torch.ones(16, 16)).view(1, 1, 16, 16))

    def forward(self, idx):
        b, t = idx.shape
        x = self.wte(idx) + self.wpe(torch.arange(t))
        q, k, v = self.attn(self.ln1(x)).split(48, dim=2)
        q, k, v = (s.view(b, t, 6, 8).transpose(1, 2) for s in (q, k, v))
        if self.flash:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            a = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(8))
            y = F.softmax(a.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf")), dim=-1) @ v
        x = x + self.proj(y.transpose(1, 2).contiguous().view(b, t, 48))
        return self.head(x + self.down(F.gelu(self.up(self.ln2(x)), approximate="tanh")))


class Vit(nn.Module):
    """Patches by a convolution, a class token, separate projections."""

    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 32, 8, 8)
        self.cls, self.position = nn.Parameter(torch.randn(1, 1, 32)), nn.Parameter(torch.randn(1, 17, 32))
        self.norm1, self.attention, self.norm2 = nn.LayerNorm(32), nn.MultiheadAttention(32, 4, batch_first=True), nn.LayerNorm(32)
        self.mlp, self.head = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32)), nn.Linear(32, 10)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], 1) + self.position
        y = self.norm1(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return self.head((x + self.mlp(self.norm2(x)))[:, 0])


class Rnn(nn.Module):
    def __init__(self, kind, both=False, last="output", layers=1):
        super().__init__()
        self.rnn, self.last = getattr(nn, kind)(6, 10, layers, batch_first=True, bidirectional=both), last
        self.fc = nn.Linear(20 if both else 10, 3)

    def forward(self, x):
        output, state = self.rnn(x)
        if self.last == "state":
            state = state[0] if isinstance(state, tuple) else state
            return self.fc(state[-1])
        return self.fc(output[:, -1] if self.last == "output" else output)


class TimeMajor(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.fc = nn.LSTM(6, 10), nn.Linear(10, 3)

    def forward(self, x):
        return self.fc(self.rnn(x)[0])


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.up, self.c = nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1), nn.ConvTranspose2d(16, 8, 2, 2), nn.Conv2d(16, 2, 1)

    def forward(self, x):
        x = F.leaky_relu(self.a(x), 0.2)
        y = self.up(F.elu(self.b(F.avg_pool2d(x, 2))))
        return torch.sigmoid(self.c(torch.cat([x, y], 1)))


class Norms(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.group, self.instance, self.prelu = nn.Conv2d(3, 8, 3), nn.GroupNorm(4, 8), nn.InstanceNorm2d(8, affine=True), nn.PReLU(8)

    def forward(self, x):
        return self.prelu(self.instance(F.silu(self.group(self.conv(x)))))


class Arithmetic(nn.Module):
    """Means, extremes, roots; softplus, mish; numbers on either side; nearest upsampling; padding by reflection."""

    def __init__(self):
        super().__init__()
        self.scale, self.conv = nn.Parameter(torch.rand(1, 4, 1, 1) + 0.5), nn.Conv2d(4, 4, 3)

    def forward(self, x):
        y = F.mish(x) - 2 * F.softplus(x) * self.scale
        y = (y - y.mean(dim=(2, 3), keepdim=True)) / (y.abs().amax(dim=1, keepdim=True) + 1)
        y = self.conv(F.pad(y, (1, 2, 0, 1))) / torch.sqrt(1 + x[:, :, :1, :1] ** 2)
        return F.interpolate(1 - y, scale_factor=2, mode="nearest")


MODELS = {
    "lenet": (LeNet, lambda: torch.randn(2, 1, 28, 28)),
    "resnet50": (ResNet50, lambda: torch.randn(2, 3, 64, 64)),
    "mobilenet": (MobileNet, lambda: torch.randn(2, 3, 64, 64)),
    "transformer_gelu": (EncoderTransformer, lambda: torch.randint(0, 100, (2, 12))),
    "transformer_relu": (lambda: EncoderTransformer("relu"), lambda: torch.randint(0, 100, (2, 12))),
    "gpt": (lambda: Gpt(False), lambda: torch.randint(0, 65, (2, 16))),
    "gpt_flash": (lambda: Gpt(True), lambda: torch.randint(0, 65, (2, 16))),
    "vit": (Vit, lambda: torch.randn(2, 3, 32, 32)),
    "lstm": (lambda: Rnn("LSTM"), lambda: torch.randn(3, 9, 6)),
    "lstm_sequence_two_layers_both": (lambda: Rnn("LSTM", True, "sequence", 2), lambda: torch.randn(3, 9, 6)),
    "lstm_state": (lambda: Rnn("LSTM", False, "state"), lambda: torch.randn(3, 9, 6)),
    "gru": (lambda: Rnn("GRU", True), lambda: torch.randn(3, 9, 6)),
    "lstm_time_major": (TimeMajor, lambda: torch.randn(9, 3, 6)),
    "unet": (UNet, lambda: torch.randn(2, 1, 16, 16)),
    "norms": (Norms, lambda: torch.randn(2, 3, 10, 10)),
    "arithmetic": (Arithmetic, lambda: torch.randn(2, 4, 8, 6)),
}


def settle(model):
    """Statistics and weights that are not those of a fresh network, so that every one of them matters."""
    generator = torch.Generator().manual_seed(3)
    for module in model.modules():
        if isinstance(module, (nn.BatchNorm2d, nn.BatchNorm1d)):
            module.running_mean.uniform_(-0.3, 0.3, generator=generator)
            module.running_var.uniform_(0.5, 1.5, generator=generator)
        if isinstance(module, (nn.BatchNorm2d, nn.BatchNorm1d, nn.LayerNorm, nn.GroupNorm, nn.InstanceNorm2d)) and module.weight is not None:
            module.weight.data.uniform_(0.6, 1.2, generator=generator)
            module.bias.data.uniform_(-0.2, 0.2, generator=generator)
    return model.eval()


def main():
    folder, names = pathlib.Path(sys.argv[1]), sys.argv[2:] or list(MODELS)
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        make, data = MODELS[name]
        for exporter, opset, fixed in (("legacy", 14, False), ("legacy", 17, True), ("dynamo", 18, False), ("dynamo", 20, True)):
            torch.manual_seed(1)
            model, x = settle(make()), data()
            path = folder / f"{name}_{exporter}_{opset}_{'fixed' if fixed else 'free'}.onnx"
            axis = 1 if name == "lstm_time_major" else 0
            try:
                if exporter == "legacy":
                    torch.onnx.export(model, (x,), path, input_names=["x"], output_names=["y"], opset_version=opset, dynamo=False,
                                      dynamic_axes=None if fixed else {"x": {axis: "batch"}, "y": {axis: "batch"}})
                else:
                    torch.onnx.export(model, (x,), path, input_names=["x"], output_names=["y"], opset_version=opset, dynamo=True, verbose=False,
                                      external_data=False, dynamic_shapes=None if fixed else ({axis: torch.export.Dim("batch", min=2, max=64)},))
                if fixed and axis == 1:
                    path.unlink()  # nothing in such a file says that its second axis is the batch
                    continue
                store(path, {"x": x.numpy()}, ("x",) if axis else (), ("y",) if axis else ())
            except Exception as fault:  # an exporter's own limits are not ours
                print(f"{path.name}: not exported: {type(fault).__name__} {str(fault)[:200]}")
                path.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
