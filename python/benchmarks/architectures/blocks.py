# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Twelve blocks of networks, each a module and how to draw its inputs.

`BLOCKS` has {name: Architecture}, with "small" sizes, which the emulator can
run, and "real" ones.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

from architectures import layers

BLOCKS = {}


def _block(small, real):
    """Registers a class by its `name`, with its `draw`."""
    def add(build):
        BLOCKS[build.name] = layers.Architecture(
            build, build.draw, {"small": small, "real": real})
        return build
    return add


# --- Dense -------------------------------------------------------------------

@_block(dict(batch=6, width=16, hidden=40, classes=5),
        dict(batch=4096, width=1024, hidden=4096, classes=1000))
class MLP(nn.Module):
    name = "mlp"

    def __init__(self, width, hidden, classes, **_):
        super().__init__()
        self.first = nn.Linear(width, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.second = nn.Linear(hidden, hidden)
        self.last = nn.Linear(hidden, classes)

    def forward(self, x):
        x = F.relu(self.norm(self.first(x)))
        return self.last(F.relu(self.second(x)))

    @staticmethod
    def draw(batch, width, **_):
        return (torch.randn(batch, width),)


@_block(dict(batch=5, fields=4, width=8, dense=6, rows=20),
        dict(batch=8192, fields=26, width=128, dense=13, rows=100000))
class DLRM(nn.Module):
    """Naumov et al. 2019: embeddings of categories, and the products of every
    pair of them."""
    name = "dlrm"

    def __init__(self, fields, width, dense, rows, **_):
        super().__init__()
        self.tables = nn.ModuleList(
            nn.Embedding(rows, width) for _ in range(fields))
        self.bottom = nn.Sequential(nn.Linear(dense, 2 * width), nn.ReLU(),
                                    nn.Linear(2 * width, width), nn.ReLU())
        pairs = (fields + 1) * fields // 2
        self.top = nn.Sequential(nn.Linear(width + pairs, 2 * width),
                                 nn.ReLU(), nn.Linear(2 * width, 1))
        self.register_buffer("upper", torch.tril_indices(
            fields + 1, fields + 1, -1), persistent=False)

    def forward(self, dense, categories):
        bottom = self.bottom(dense)
        features = [bottom] + [table(categories[:, i])
                               for i, table in enumerate(self.tables)]
        features = torch.stack(features, 1)
        products = torch.bmm(features, features.transpose(1, 2))
        pairs = products[:, self.upper[0], self.upper[1]]
        return torch.sigmoid(self.top(torch.cat([bottom, pairs], 1)))

    @staticmethod
    def draw(batch, fields, dense, rows, **_):
        return (torch.randn(batch, dense),
                torch.randint(0, rows, (batch, fields)))


# --- Convolutions ------------------------------------------------------------

@_block(dict(batch=2, channels=8, height=8),
        dict(batch=64, channels=256, height=56))
class ResNetBlock(layers.Bottleneck):
    name = "resnet"

    def __init__(self, channels, **_):
        super().__init__(channels, channels // 4, channels)

    draw = staticmethod(layers.image)


@_block(dict(batch=1, channels=8, height=8, time=12),
        dict(batch=8, channels=320, height=64, time=1280))
class UNetBlock(layers.TimedResidual):
    name = "unet"

    def __init__(self, channels, time, **_):
        super().__init__(channels, channels, time, groups=4)

    @staticmethod
    def draw(batch, channels, height, time, **_):
        return (*layers.image(batch, channels, height),
                torch.randn(batch, time))


# --- Attention ---------------------------------------------------------------

@_block(dict(batch=2, length=17, width=32, heads=2),
        dict(batch=32, length=197, width=1024, heads=16))
class ViTBlock(layers.Transformer):
    name = "vit"
    draw = staticmethod(layers.tokens)


@_block(dict(batch=2, length=16, width=32, heads=2, causal=True),
        dict(batch=8, length=1024, width=1024, heads=16, causal=True))
class GPTBlock(layers.Transformer):
    name = "gpt"
    draw = staticmethod(layers.tokens)


@_block(dict(batch=2, length=16, width=32, heads=2, words=50),
        dict(batch=32, length=512, width=768, heads=12, words=30522))
class BERTLayer(layers.Transformer):
    name = "bert"

    def __init__(self, width, heads, words, length, **_):
        super().__init__(width, heads, first=False)
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(length, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, words):
        places = torch.arange(words.shape[1], device=words.device)
        return super().forward(
            self.norm(self.words(words) + self.places(places)))

    draw = staticmethod(layers.words)


@_block(dict(batch=1, length=4, past=12, width=32, heads=4, groups=2,
             hidden=48),
        dict(batch=2, length=1024, past=1024, width=4096, heads=32, groups=8,
             hidden=14336))
class LlamaBlock(layers.Llama):
    """With a cache of keys and values."""
    name = "llama"

    def forward(self, x, cos, sin, keys, values):
        query, key, value = self.project(x, cos, sin)
        keys, values = torch.cat([keys, key], 2), torch.cat([values, value], 2)
        # Queries follow the keys of the cache.
        seen = torch.ones(x.shape[1], keys.shape[2], dtype=torch.bool,
                          device=x.device).tril(keys.shape[2] - x.shape[1])
        attended = F.scaled_dot_product_attention(
            query, keys, values, attn_mask=seen, enable_gqa=True)
        return self.finish(x, attended), keys, values

    @staticmethod
    def draw(batch, length, past, width, heads, groups, **_):
        each = width // heads
        places = torch.arange(past, past + length)
        cache = [torch.randn(batch, groups, past, each) for _ in range(2)]
        return (torch.randn(batch, length, width),
                *layers.rotation(places, each, 10000.0), *cache)


@_block(dict(batch=1, channels=16, height=4, heads=2, context=6, words=5),
        dict(batch=8, channels=640, height=32, heads=10, context=768,
             words=77))
class DiffusionAttention(nn.Module):
    """A transformer block on images."""
    name = "diffusion"

    def __init__(self, channels, heads, context, **_):
        super().__init__()
        self.norm = nn.GroupNorm(4, channels)
        self.body = layers.CrossTransformer(channels, heads, context)

    def forward(self, image, text):
        x = self.norm(image).flatten(2).transpose(1, 2)
        x = self.body(x, text)
        return image + x.transpose(1, 2).view(image.shape)

    @staticmethod
    def draw(batch, channels, height, context, words, **_):
        return (*layers.image(batch, channels, height),
                torch.randn(batch, words, context))


# --- Recurrences -------------------------------------------------------------

@_block(dict(batch=3, width=8, hidden=12),
        dict(batch=512, width=1024, hidden=1024))
class LSTMCell(nn.Module):
    name = "lstm"

    def __init__(self, width, hidden, **_):
        super().__init__()
        self.inputs = nn.Linear(width, 4 * hidden)
        self.states = nn.Linear(hidden, 4 * hidden)

    def forward(self, x, hidden, cell):
        gates = self.inputs(x) + self.states(hidden)
        enter, forget, new, out = gates.chunk(4, 1)
        cell = (torch.sigmoid(forget) * cell
                + torch.sigmoid(enter) * torch.tanh(new))
        return torch.sigmoid(out) * torch.tanh(cell), cell

    @staticmethod
    def draw(batch, width, hidden, **_):
        return (torch.randn(batch, width), torch.randn(batch, hidden),
                torch.randn(batch, hidden))


@_block(dict(batch=1, length=8, width=8, state=4, chunk=4),
        dict(batch=4, length=2048, width=1024, state=16, chunk=64))
class MambaBlock(nn.Module):
    """A selective state space (Gu and Dao 2023) in chunks: within a chunk by
    products of pairs of positions, from chunk to chunk by a sum."""
    name = "mamba"

    def __init__(self, width, state, chunk, **_):
        super().__init__()
        self.chunk, self.state = chunk, state
        self.inputs = nn.Linear(width, 2 * width, bias=False)
        self.conv = nn.Conv1d(width, width, 4, groups=width, padding=3)
        self.project = nn.Linear(width, 2 * state + 1, bias=False)
        self.decay = nn.Parameter(torch.zeros(1))
        self.skip = nn.Parameter(torch.ones(width))
        self.outputs = nn.Linear(width, width, bias=False)

    def scan(self, x, step, enter, leave):
        """h_t = exp(step_t a) h_(t-1) + step_t enter_t x_t; y = leave h."""
        batch, length, width = x.shape
        chunks = (batch, length // self.chunk, self.chunk)
        x = (x * step).view(*chunks, width)
        enter, leave = (one.view(*chunks, self.state)
                        for one in (enter, leave))
        logs = (-step * F.softplus(self.decay)).view(*chunks)
        sums = logs.cumsum(-1)
        past = sums[..., :, None] - sums[..., None, :]
        seen = torch.ones(self.chunk, self.chunk, dtype=torch.bool,
                          device=x.device).tril()
        pairs = (leave @ enter.transpose(-2, -1)) * past.masked_fill(
            ~seen, -math.inf).exp()
        own = pairs @ x
        # What each chunk leaves to those behind it.
        rest = (sums[..., -1:] - sums).exp()[..., None]
        left = (enter * rest).transpose(-2, -1) @ x
        whole = sums[..., -1].cumsum(-1)
        between = whole[:, :, None] - whole[:, None, :] - (
            sums[..., -1])[:, :, None]
        earlier = torch.ones(chunks[1], chunks[1], dtype=torch.bool,
                             device=x.device).tril(-1)
        weights = between.masked_fill(~earlier, -math.inf).exp()
        states = torch.einsum("bij,bjsw->bisw", weights, left)
        return (own + (leave * sums.exp()[..., None]) @ states).view(
            batch, length, width)

    def forward(self, x):
        length = x.shape[1]
        y, gate = self.inputs(x).chunk(2, -1)
        y = F.silu(self.conv(y.transpose(1, 2))[..., :length].transpose(1, 2))
        step, enter, leave = self.project(y).split(
            [1, self.state, self.state], -1)
        scanned = self.scan(y, F.softplus(step), enter, leave)
        return self.outputs((scanned + self.skip * y) * F.silu(gate))

    draw = staticmethod(layers.tokens)


@_block(dict(batch=1, length=8, width=16, hidden=24, experts=3),
        dict(batch=4, length=1024, width=1024, hidden=4096, experts=8))
class MoELayer(nn.Module):
    """A mixture of experts that every token sees, weighed by a softmax of its
    two best scores (Shazeer et al. 2017)."""
    name = "moe"

    def __init__(self, width, hidden, experts, **_):
        super().__init__()
        scale = 1 / math.sqrt(width)
        self.router = nn.Linear(width, experts, bias=False)
        self.up = nn.Parameter(torch.randn(experts, width, hidden) * scale)
        self.down = nn.Parameter(torch.randn(experts, hidden, width) * scale)

    def forward(self, x):
        scores = self.router(x)
        greatest = scores.amax(-1, keepdim=True)
        others = scores.masked_fill(scores == greatest, -math.inf)
        kept = scores.masked_fill(scores < others.amax(-1, keepdim=True),
                                  -math.inf)
        weights = kept.softmax(-1)
        hidden = F.silu(torch.einsum("blw,ewh->eblh", x, self.up))
        outputs = torch.einsum("eblh,ehw->eblw", hidden, self.down)
        return torch.einsum("eblw,ble->blw", outputs, weights)

    draw = staticmethod(layers.tokens)
