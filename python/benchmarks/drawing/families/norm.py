# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Normalisations over any dimensions, with weights, residuals, statistics."""

import math

from ..builder import word
from . import common

EPS = 1e-5


def draw(b):
    kind = b.rng.choice(sorted(KINDS))
    dtype = b.dtype()
    least = {"batch": 2, "group": 3, "instance": 3, "middle": 2}.get(kind, 1)
    shape = b.drawn_shape(dtype, (least, 5))
    b.note(kind)
    x = b.tensor(shape, dtype)
    b.note(x.type[6:])
    results = []
    if b.chance(0.3):
        x = b.join("add", x, b.tensor(shape, dtype))
        b.note("residual")
        if b.chance(0.6):
            results.append(x)
    y, *statistics = KINDS[kind](b, x)
    if b.chance(0.3):
        y = common.activation(b, y)
    b.give(y, *results, *statistics)


def _weights(b, shape, dtype):
    """scale and bias, or either, or none: (values, their MLIR, PyTorch's)."""
    values, text, names = [], "", []
    for name in ("scale", "bias"):
        if b.chance(0.7):
            value = b.tensor(shape, dtype)
            values.append(value)
            text += f" {name}({value.name})"
            b.note(name)
            names.append(word(value))
        else:
            names.append("None")
    return values, text, names


def _op(b, name, x, values, attributes, expression):
    operands = ", ".join(v.type for v in (x, *values))
    return b.both(f"fusion.{name} {x.name}{attributes} eps({EPS:e}) : "
                  f"({operands}) -> {x.type}", x.shape, x.dtype, expression,
                  100)


def _account(b, x, dims):
    b.terms = math.prod(x.shape[i] for i in dims)
    b.require(b.terms > 1)
    b.seen_twice(x, dims)


def _layer(b, x):
    axis = b.rng.randrange(len(x.shape))
    shape = x.shape[axis:]
    _account(b, x, range(axis, len(x.shape)))
    values, text, (scale, bias) = _weights(b, shape, x.dtype)
    b.note(f"from {axis}")
    return [_op(b, "layer_norm", x, values, f"{text} axis({axis})",
                f"F.layer_norm({word(x)}, {list(shape)}, {scale}, {bias}, "
                f"{EPS})")]


def _rms(b, x):
    axis = b.rng.randrange(len(x.shape))
    shape = x.shape[axis:]
    _account(b, x, range(axis, len(x.shape)))
    values, text, (scale, bias) = _weights(b, shape, x.dtype)
    b.note(f"from {axis}")
    more = "" if bias == "None" else f" + {bias}"
    return [_op(b, "rms_norm", x, values, f"{text} axis({axis})",
                f"F.rms_norm({word(x)}, {list(shape)}, {scale}, {EPS}){more}")]


def _middle(b, x):
    """RMS over one dimension that need not be the last, spelled out."""
    axis = b.rng.randrange(len(x.shape))
    _account(b, x, [axis])
    b.note(f"over {axis}")
    wide = b.cast(x, "f32")
    square = b.join("mul", wide, wide)
    total = b.total(square, [axis])
    mean = b.shifted(b.scaled(total, 1 / b.terms), EPS)
    root = b.both(f"math.rsqrt {mean.name} : {mean.type}", mean.shape, "f32",
                  f"torch.rsqrt({word(mean)})", 1)
    y = b.join("mul", wide, b.spread(root, x.shape, [axis]))
    if b.chance(0.7):
        b.note("scale")
        weight = common.along(b, x, x.shape, axis, x.dtype)
        y = b.join("mul", y, b.cast(weight, "f32"))
    return [b.cast(y, x.dtype)]


def _batch(b, x):
    axis = b.rng.randrange(len(x.shape))
    channels = x.shape[axis]
    dims = [i for i in range(len(x.shape)) if i != axis]
    _account(b, x, dims)
    values, text, (scale, bias) = _weights(b, (channels,), x.dtype)
    b.note(f"channels {axis}")
    operands = ", ".join(v.type for v in (x, *values))
    statistic = f"tensor<{channels}xf32>"
    group = b.many(
        f"fusion.batch_norm_training {x.name}{text} channel_axis({axis}) "
        f"eps({EPS:e}) : ({operands}) -> ({x.type}, {statistic}, {statistic})",
        3)
    flat = (f"{word(x)}.movedim({axis}, 1)" if len(x.shape) > 1 else word(x))
    y = b.part(group, 0, x.shape, x.dtype,
               f"F.batch_norm({flat}, None, None, {scale}, {bias}, True, 0.0, "
               f"{EPS}).movedim(1, {axis})", 100)
    if not b.chance(0.4):
        return [y]
    b.note("statistics")
    mean = b.part(group, 1, (channels,), "f32",
                  f"{word(x)}.mean({tuple(dims)}, dtype=f32)")
    variance = b.part(group, 2, (channels,), "f32",
                      f"torch.var({word(x)}.to(f32), {tuple(dims)}, "
                      "correction=0)")
    return [y, mean, variance]


def _instance(b, x):
    _account(b, x, range(2, len(x.shape)))
    values, text, (scale, bias) = _weights(b, (x.shape[1],), x.dtype)
    return [_op(b, "instance_norm", x, values, text,
                f"F.instance_norm({word(x)}, None, None, {scale}, {bias}, "
                f"True, 0.0, {EPS})")]


def _group(b, x):
    channels = x.shape[1]
    groups = b.rng.choice([g for g in range(1, min(channels, 64) + 1)
                           if channels % g == 0])
    b.note(f"{groups} groups")
    inner = channels // groups * math.prod(x.shape[2:])
    b.terms = inner
    b.require(inner > 1)
    size = math.prod(x.shape)
    width = 4 if x.dtype == "f32" else 2
    b.again.append((size * width, inner * width))
    values, text, (scale, bias) = _weights(b, (channels,), x.dtype)
    return [_op(b, "group_norm", x, values, f"{text} groups({groups})",
                f"F.group_norm({word(x)}, {groups}, {scale}, {bias}, {EPS})")]


KINDS = {"layer": _layer, "rms": _rms, "middle": _middle, "batch": _batch,
         "instance": _instance, "group": _group}
