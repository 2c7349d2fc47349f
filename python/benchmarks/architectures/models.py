# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Five whole networks, each a module, how to draw its inputs, and a loss.

`MODELS` has {name: Model}, with "small" sizes, which the emulator can run, and
the published ones, "real". Batches are for one GPU of 80 GB, in training too.
"""

import dataclasses
import math

import torch
import torch.nn.functional as F
from torch import nn

from architectures import layers


class Step(nn.Module):
    """A network and its loss: what a training step differentiates. The last
    input is what the network should give."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *inputs):
        *inputs, target = inputs
        return self.model.loss(self.model(*inputs), target)


@dataclasses.dataclass(frozen=True)
class Model(layers.Architecture):
    """`build` makes a module with `loss(results, target)`, which is a number,
    and `target(**sizes)`, which draws the latter."""

    def make_step(self, size="small", **changes):
        """(a module that gives the loss, its inputs)"""
        sizes = {**self.sizes[size], **changes}
        return (Step(self.build(**sizes)),
                (*self.draw(**sizes), self.build.target(**sizes)))


MODELS = {}


def _model(small, real):
    """Registers a class by its `name`."""
    def add(build):
        MODELS[build.name] = Model(build, build.draw,
                                   {"small": small, "real": real})
        return build
    return add


class Classifier(nn.Module):
    """What gives a score for each of some classes of an image."""
    draw = staticmethod(layers.image)

    @staticmethod
    def loss(scores, target):
        return F.cross_entropy(scores, target)

    @staticmethod
    def target(batch, classes, **_):
        return torch.randint(0, classes, (batch,))


class LanguageModel(nn.Module):
    """What gives a score for each word that may come next."""
    draw = staticmethod(layers.words)

    @staticmethod
    def loss(scores, target):
        return F.cross_entropy(scores.flatten(0, 1), target.flatten())

    @staticmethod
    def target(**sizes):
        return layers.words(**sizes)[0]


# --- Images ------------------------------------------------------------------

@_model(dict(batch=2, channels=3, height=32, classes=5, width=4,
             depths=(1, 2)),
        dict(batch=128, channels=3, height=224, classes=1000, width=64,
             depths=(3, 4, 6, 3)))
class ResNet(Classifier):
    """ResNet-50 (He et al. 2016); the middle convolution of a block has its
    stride."""
    name = "resnet50"

    def __init__(self, channels, width, depths, classes, **_):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(channels, width, 7, 2, 3, bias=False),
            nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
        blocks, enter = [], width
        for stage, depth in enumerate(depths):
            inner = width << stage
            for place in range(depth):
                stride = 2 if stage and not place else 1
                blocks.append(layers.Bottleneck(enter, inner, 4 * inner,
                                                stride))
                enter = 4 * inner
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(enter, classes)

    def forward(self, x):
        x = self.blocks(self.stem(x))
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


@_model(dict(batch=2, channels=3, height=16, patch=4, width=32, heads=2,
             depth=2, classes=5),
        dict(batch=64, channels=3, height=224, patch=16, width=1024, heads=16,
             depth=24, classes=1000))
class ViT(Classifier):
    """ViT-L/16 (Dosovitskiy et al. 2021)."""
    name = "vit_l"

    def __init__(self, channels, height, patch, width, heads, depth, classes,
                 **_):
        super().__init__()
        self.patches = nn.Conv2d(channels, width, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(
            0.02 * torch.randn(1, (height // patch) ** 2 + 1, width))
        self.layers = nn.Sequential(
            *(layers.Transformer(width, heads) for _ in range(depth)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        token = self.token.expand(x.shape[0], -1, -1)
        x = self.layers(torch.cat([token, x], 1) + self.places)
        return self.head(self.norm(x)[:, 0])


# --- Texts -------------------------------------------------------------------

@_model(dict(batch=2, length=16, words=50, width=32, heads=2, depth=2),
        dict(batch=8, length=1024, words=50257, width=1024, heads=16,
             depth=24))
class GPT(LanguageModel):
    """GPT-2 medium (Radford et al. 2019), without dropout; the words'
    embeddings are the head's weights."""
    name = "gpt2_medium"

    def __init__(self, length, words, width, heads, depth, **_):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(length, width)
        self.layers = nn.Sequential(
            *(layers.Transformer(width, heads, causal=True,
                                 approximate="tanh") for _ in range(depth)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        nn.init.normal_(self.words.weight, std=0.02)
        self.head.weight = self.words.weight

    def forward(self, words):
        places = torch.arange(words.shape[1], device=words.device)
        x = self.words(words) + self.places(places)
        return self.head(self.norm(self.layers(x)))


@_model(dict(batch=2, length=8, words=50, width=32, heads=4, groups=2,
             hidden=48, depth=2),
        dict(batch=2, length=2048, words=128256, width=4096, heads=32,
             groups=8, hidden=14336, depth=4))
class Llama(LanguageModel):
    """Four of the 32 layers of Llama 3 8B (Grattafiori et al. 2024), with its
    embeddings and head."""
    name = "llama3"

    def __init__(self, length, words, width, heads, depth, **sizes):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.layers = nn.ModuleList(
            layers.Llama(width, heads, **sizes) for _ in range(depth))
        self.norm = nn.RMSNorm(width)
        self.head = nn.Linear(width, words, bias=False)
        cos, sin = layers.rotation(torch.arange(length), width // heads,
                                   500000.0)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, words):
        x = self.words(words)
        for layer in self.layers:
            x = layer(x, self.cos, self.sin)
        return self.head(self.norm(x))


# --- Diffusion ---------------------------------------------------------------

class ImageTransformer(nn.Module):
    """Rombach et al. 2022: a transformer's layer between convolutions, on
    (batch, channels, height, width)."""

    def __init__(self, channels, heads, context, groups):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels)
        self.enter = nn.Conv2d(channels, channels, 1)
        self.body = layers.CrossTransformer(channels, heads, context)
        self.leave = nn.Conv2d(channels, channels, 1)

    def forward(self, image, text):
        x = self.enter(self.norm(image)).flatten(2).transpose(1, 2)
        x = self.body(x, text).transpose(1, 2).view(image.shape)
        return image + self.leave(x)


class Stage(nn.Module):
    """A residual block and, with `heads`, attention to the text behind it."""

    def __init__(self, enter, leave, time, groups, heads, context):
        super().__init__()
        self.residual = layers.TimedResidual(enter, leave, time, groups)
        self.attention = (ImageTransformer(leave, heads, context, groups)
                          if heads else None)

    def forward(self, x, time, text):
        x = self.residual(x, time)
        return x if self.attention is None else self.attention(x, text)


def time_embedding(times, width):
    """Cosines and sines of (batch,) times, as (batch, width)."""
    steps = torch.exp(torch.arange(0, width, 2, device=times.device)
                      * (-math.log(10000.0) / width))
    angles = times[:, None].float() * steps
    return torch.cat([angles.cos(), angles.sin()], -1)


@_model(dict(batch=1, channels=4, height=8, width=8, growth=(1, 2), attended=1,
             residuals=1, heads=2, groups=4, context=6, words=5),
        dict(batch=4, channels=4, height=64, width=320, growth=(1, 2, 4, 4),
             attended=3, residuals=2, heads=8, groups=32, context=768,
             words=77))
class UNet(nn.Module):
    """The UNet of Stable Diffusion 1.5 (Rombach et al. 2022) on latents of 64
    x 64 for images of 512 x 512. The first `attended` of its levels attend
    to the text."""
    name = "sd_unet"

    def __init__(self, channels, width, growth, attended, residuals, heads,
                 groups, context, **_):
        super().__init__()
        self.width = width
        time = 4 * width
        self.time = nn.Sequential(nn.Linear(width, time), nn.SiLU(),
                                  nn.Linear(time, time))
        self.enter = nn.Conv2d(channels, width, 3, padding=1)

        def stage(enter, leave, level):
            return Stage(enter, leave, time, groups,
                         heads if level < attended else 0, context)

        self.down, self.up = nn.ModuleList(), nn.ModuleList()
        self.shrink, self.grow = nn.ModuleList(), nn.ModuleList()
        # The channels of what is kept for the way up.
        kept, x = [width], width
        for level, factor in enumerate(growth):
            stages = nn.ModuleList()
            for _ in range(residuals):
                stages.append(stage(x, width * factor, level))
                x = width * factor
                kept.append(x)
            self.down.append(stages)
            if level + 1 < len(growth):
                self.shrink.append(nn.Conv2d(x, x, 3, 2, 1))
                kept.append(x)
        self.middle = nn.ModuleList([stage(x, x, 0),
                                     stage(x, x, len(growth))])
        for level, factor in reversed(list(enumerate(growth))):
            stages = nn.ModuleList()
            for _ in range(residuals + 1):
                stages.append(stage(x + kept.pop(), width * factor, level))
                x = width * factor
            self.up.append(stages)
            if level:
                self.grow.append(nn.Conv2d(x, x, 3, padding=1))
        self.leave = nn.Sequential(
            nn.GroupNorm(groups, x), nn.SiLU(),
            nn.Conv2d(x, channels, 3, padding=1))

    def forward(self, x, times, text):
        time = self.time(time_embedding(times, self.width).to(x.dtype))
        x = self.enter(x)
        kept = [x]
        for level, stages in enumerate(self.down):
            for stage in stages:
                x = stage(x, time, text)
                kept.append(x)
            if level < len(self.shrink):
                x = self.shrink[level](x)
                kept.append(x)
        for stage in self.middle:
            x = stage(x, time, text)
        for level, stages in enumerate(self.up):
            for stage in stages:
                x = stage(torch.cat([x, kept.pop()], 1), time, text)
            if level < len(self.grow):
                x = self.grow[level](F.interpolate(x, scale_factor=2.0))
        return self.leave(x)

    @staticmethod
    def draw(batch, channels, height, context, words, **_):
        return (*layers.image(batch, channels, height),
                torch.randint(0, 1000, (batch,)),
                torch.randn(batch, words, context))

    @staticmethod
    def loss(noise, target):
        return F.mse_loss(noise, target)

    @staticmethod
    def target(**sizes):
        return layers.image(**sizes)[0]
