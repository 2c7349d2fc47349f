# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The layers that blocks.py and models.py are made of, and what registers an
architecture."""

import dataclasses
import typing

import torch
import torch.nn.functional as F
from torch import nn


@dataclasses.dataclass(frozen=True)
class Architecture:
    """`build(**sizes)` makes the module, `draw(**sizes)` the inputs of its
    forward pass; `sizes` has those of "small" and "real"."""
    build: typing.Callable
    draw: typing.Callable
    sizes: dict

    def make(self, size="small", **changes):
        """(the module, its inputs) with random weights and values."""
        sizes = {**self.sizes[size], **changes}
        return self.build(**sizes), self.draw(**sizes)


def tokens(batch, length, width, **_):
    return (torch.randn(batch, length, width),)


def image(batch, channels, height, **_):
    return (torch.randn(batch, channels, height, height),)


def words(batch, length, words, **_):
    return (torch.randint(0, words, (batch, length)),)


# --- Convolutions ------------------------------------------------------------

def _normed(enter, leave, size, stride=1):
    """A convolution and the norm behind it."""
    return (nn.Conv2d(enter, leave, size, stride, size // 2, bias=False),
            nn.BatchNorm2d(leave))


class Bottleneck(nn.Module):
    """He et al. 2016, `enter` channels by `inner` to `leave`; `stride` is that
    of the middle convolution."""

    def __init__(self, enter, inner, leave, stride=1):
        super().__init__()
        self.body = nn.Sequential(
            *_normed(enter, inner, 1), nn.ReLU(),
            *_normed(inner, inner, 3, stride), nn.ReLU(),
            *_normed(inner, leave, 1))
        self.skip = nn.Identity()
        if enter != leave or stride != 1:
            self.skip = nn.Sequential(*_normed(enter, leave, 1, stride))

    def forward(self, x):
        return F.relu(self.body(x) + self.skip(x))


class TimedResidual(nn.Module):
    """A residual block of an image at a time of diffusion (Ho et al. 2020):
    (batch, enter, height, width) and (batch, time)."""

    def __init__(self, enter, leave, time, groups):
        super().__init__()
        self.first = nn.Sequential(nn.GroupNorm(groups, enter), nn.SiLU(),
                                   nn.Conv2d(enter, leave, 3, padding=1))
        self.time = nn.Linear(time, leave)
        self.second = nn.Sequential(nn.GroupNorm(groups, leave), nn.SiLU(),
                                    nn.Conv2d(leave, leave, 3, padding=1))
        self.skip = (nn.Identity() if enter == leave
                     else nn.Conv2d(enter, leave, 1))

    def forward(self, x, time):
        y = self.first(x) + self.time(F.silu(time))[:, :, None, None]
        return self.second(y) + self.skip(x)


# --- Attention ---------------------------------------------------------------

def split_heads(x, heads):
    """(batch, heads, length, width of a head) of (batch, length, width)."""
    batch, length, width = x.shape
    return x.view(batch, length, heads, width // heads).transpose(1, 2)


def join_heads(x):
    """What `split_heads` took apart."""
    return x.transpose(1, 2).flatten(2)


class Attention(nn.Module):
    """Self-attention of (batch, length, width)."""

    def __init__(self, width, heads, causal=False, bias=True):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.inputs = nn.Linear(width, 3 * width, bias=bias)
        self.outputs = nn.Linear(width, width, bias=bias)

    def forward(self, x):
        batch, length, width = x.shape
        query, key, value = self.inputs(x).view(
            batch, length, 3, self.heads, width // self.heads).permute(
                2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(query, key, value,
                                           is_causal=self.causal)
        return self.outputs(join_heads(y))


class CrossAttention(nn.Module):
    """Attention of (batch, length, width) to (batch, words, context)."""

    def __init__(self, width, heads, context):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(context, width, bias=False)
        self.value = nn.Linear(context, width, bias=False)
        self.outputs = nn.Linear(width, width)

    def forward(self, x, text):
        y = F.scaled_dot_product_attention(
            split_heads(self.query(x), self.heads),
            split_heads(self.key(text), self.heads),
            split_heads(self.value(text), self.heads))
        return self.outputs(join_heads(y))


class Transformer(nn.Module):
    """Vaswani et al. 2017, with the norms before (`first`) or behind;
    `approximate` is that of GELU."""

    def __init__(self, width, heads, causal=False, first=True,
                 approximate="none", **_):
        super().__init__()
        self.attention = Attention(width, heads, causal)
        self.hidden = nn.Linear(width, 4 * width)
        self.outputs = nn.Linear(4 * width, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.first, self.approximate = first, approximate

    def feed(self, x):
        return self.outputs(F.gelu(self.hidden(x),
                                   approximate=self.approximate))

    def forward(self, x):
        if self.first:
            x = x + self.attention(self.norms[0](x))
            return x + self.feed(self.norms[1](x))
        x = self.norms[0](x + self.attention(x))
        return self.norms[1](x + self.feed(x))


class CrossTransformer(nn.Module):
    """Rombach et al. 2022: self-attention, attention to a text, and a gated
    feed-forward network."""

    def __init__(self, width, heads, context):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.own = Attention(width, heads, bias=False)
        self.cross = CrossAttention(width, heads, context)
        self.hidden = nn.Linear(width, 8 * width)
        self.outputs = nn.Linear(4 * width, width)

    def forward(self, x, text):
        x = x + self.own(self.norms[0](x))
        x = x + self.cross(self.norms[1](x), text)
        hidden, gate = self.hidden(self.norms[2](x)).chunk(2, -1)
        return x + self.outputs(hidden * F.gelu(gate))


# --- Llama -------------------------------------------------------------------

def rotation(places, width, theta):
    """(cos, sin) of `rotate`, each (places, width), for an increasing list of
    places (Su et al. 2021)."""
    steps = theta ** (-torch.arange(0, width, 2) / width)
    angles = torch.cat([places[:, None] * steps] * 2, -1)
    return angles.cos(), angles.sin()


def rotate(x, cos, sin):
    """Rotary embedding of (batch, heads, length, width)."""
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat([-second, first], -1) * sin


class Llama(nn.Module):
    """A layer of Touvron et al. 2023, with heads that share keys: `groups` of
    these."""

    def __init__(self, width, heads, groups, hidden, **_):
        super().__init__()
        self.heads, self.groups = heads, groups
        shared = width // heads * groups
        self.norms = nn.ModuleList(nn.RMSNorm(width) for _ in range(2))
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, shared, bias=False)
        self.value = nn.Linear(width, shared, bias=False)
        self.outputs = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def project(self, x, cos, sin):
        """Queries, keys and values of (batch, length, width)."""
        x = self.norms[0](x)
        return (rotate(split_heads(self.query(x), self.heads), cos, sin),
                rotate(split_heads(self.key(x), self.groups), cos, sin),
                split_heads(self.value(x), self.groups))

    def finish(self, x, attended):
        """The rest of the layer, behind attention."""
        x = x + self.outputs(join_heads(attended))
        y = self.norms[1](x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))

    def forward(self, x, cos, sin):
        """Of a whole text, without a cache."""
        query, key, value = self.project(x, cos, sin)
        return self.finish(x, F.scaled_dot_product_attention(
            query, key, value, is_causal=True, enable_gqa=True))
