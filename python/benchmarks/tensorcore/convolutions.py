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
