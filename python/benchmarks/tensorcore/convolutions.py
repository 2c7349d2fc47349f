# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions of NHWC images, padded so that stride 1 keeps their size."""

import math

from .program import Program


def conv(batch, size, channels, filters, window, stride=1, dtype="f16",
         weights="fhwc", epilogue="bn_relu"):
    """Epilogues: none; bn_relu (batch normalisation with given statistics);
    bn_add_relu (adds a tensor before the relu); bias_silu."""
    p = Program("conv")
    x = p.argument("x", (batch, size, size, channels), dtype)
    sizes = {"f": filters, "h": window, "w": window, "c": channels}
    terms = window * window * channels
    w = p.argument("w", [sizes[d] for d in weights], dtype,
                   scale=1 / math.sqrt(terms))
    values = p.conv2d(_padded(p, x, window), w, stride, weights)
    p.give(p.convert(_epilogue(p, values, epilogue, dtype), dtype))
    return p


def depthwise(batch, size, channels, window, stride=1, dtype="f16",
              epilogue="bn_relu"):
    p = Program("depthwise")
    x = p.argument("x", (batch, size, size, channels), dtype)
    w = p.argument("w", (window, window, channels), dtype, scale=1 / window)
    values = p.conv2d(_padded(p, x, window), w, stride, "hwc")
    p.give(p.convert(_epilogue(p, values, epilogue, dtype), dtype))
    return p


def conv_general(batch, size, channels, filters, window, stride=1, dilation=1,
                 groups=1, dtype="f16", layout="nhwc"):
    """Of any layout, dilation and number of groups, with bias and relu.
    Groups are a dimension of image and weights of their own."""
    p = Program("conv_general")
    around = (window - 1) // 2 * dilation
    grouped = groups > 1
    inner = ([groups] if grouped else []) + [channels // groups]
    shape = ([batch, size, size, *inner] if layout == "nhwc"
             else [batch, *inner, size, size])
    x = p.argument("x", shape, dtype)
    taps = [window, window]
    each = ([*taps, channels // groups] if layout == "nhwc"
            else [channels // groups, *taps])
    w = p.argument("w", [*inner[:-1], filters // groups, *each], dtype,
                   scale=1 / math.sqrt(window ** 2 * channels // groups))
    bias = p.argument("bias", [*inner[:-1], filters // groups], dtype)
    edge = [around if d in "hw" else 0 for d in _image_dims(layout, grouped)]
    values = p.conv2d_general(p.pad(x, edge, edge), w, stride, dilation,
                              layout, grouped)
    dims = _image_dims(layout, grouped)
    wide = p.broadcast(p.convert(bias, "f32"), values.shape,
                       [i for i, d in enumerate(dims) if d in "nhw"])
    p.give(p.convert(p.relu(p.add(values, wide)), dtype))
    return p


def _image_dims(layout, grouped):
    return layout.replace("c", "gc") if grouped else layout


def _padded(p, x, window):
    around = (window - 1) // 2
    return p.pad(x, (0, around, around, 0), (0, around, around, 0))


def _epilogue(p, values, kind, dtype):
    shape, channels = values.shape, values.shape[-1:]

    def spread(x):
        return p.broadcast(x, shape, [0, 1, 2])

    if kind.startswith("bn"):
        mean = p.argument("mean", channels, "f32")
        variance = p.argument("variance", channels, "f32", "positive")
        gamma = p.argument("gamma", channels, "f32")
        beta = p.argument("beta", channels, "f32")
        guarded = p.add(variance, p.constant(1e-5, variance))
        scale = p.mul(p.unary("math.rsqrt", guarded), gamma)
        shift = p.sub(beta, p.mul(mean, scale))
        values = p.add(p.mul(values, spread(scale)), spread(shift))
        if "add" in kind:
            rest = p.argument("rest", shape, dtype)
            values = p.add(values, p.convert(rest, "f32"))
        values = p.relu(values)
    elif kind == "bias_silu":
        bias = p.convert(p.argument("bias", channels, dtype), "f32")
        values = p.silu(p.add(values, spread(bias)))
    return values
