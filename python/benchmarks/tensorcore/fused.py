# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of several products, or with arithmetic before a product."""

import math

from .products import operands, product
from .program import Program


def dual_swiglu(m, n, k, dtype="bf16", b="kn"):
    """silu(X W1) * (X W2)."""
    p = Program("dual_swiglu")
    x, w1 = operands(p, m, n, k, dtype, b)
    w2 = p.argument("w2", w1.shape, dtype, scale=1 / math.sqrt(k))
    gate = product(p, x, w1, dtype, b)
    up = product(p, x, w2, dtype, b)
    p.give(p.convert(p.mul(p.silu(gate), up), dtype))
    return p


def residual_layer_norm(m, n, k, dtype="bf16", b="kn"):
    """layer_norm(A W + R) with an affine map."""
    p = Program("residual_layer_norm")
    x, w = operands(p, m, n, k, dtype, b)
    rest = p.argument("rest", (m, n), dtype)
    scale = p.convert(p.argument("scale", (n,), dtype), "f32")
    shift = p.convert(p.argument("shift", (n,), dtype), "f32")
    values = p.add(product(p, x, w, dtype, b), p.convert(rest, "f32"))
    mean = _mean(p, values)
    centred = p.sub(values, p.broadcast(mean, (m, n), [1]))
    inverse = _inverse_root(p, _mean(p, p.mul(centred, centred)), 1e-5)
    normal = p.mul(centred, p.broadcast(inverse, (m, n), [1]))
    normal = p.mul(normal, p.broadcast(scale, (m, n), [0]))
    normal = p.add(normal, p.broadcast(shift, (m, n), [0]))
    p.give(p.convert(normal, dtype))
    return p


def rms_norm_gemm(m, n, k, dtype="bf16", b="kn"):
    """rms_norm(X) * g, rounded to the type of X, times W."""
    p = Program("rms_norm_gemm")
    x, w = operands(p, m, n, k, dtype, b)
    gain = p.convert(p.argument("gain", (k,), dtype), "f32")
    wide = p.convert(x, "f32")
    inverse = _inverse_root(p, _mean(p, p.mul(wide, wide)), 1e-6)
    normal = p.mul(wide, p.broadcast(inverse, (m, k), [1]))
    normal = p.mul(normal, p.broadcast(gain, (m, k), [0]))
    p.give(p.convert(product(p, p.convert(normal, dtype), w, dtype, b), dtype))
    return p


def dequant_int8(m, n, k, dtype="bf16", b="kn"):
    """(X W) * s with integers of 8 bits as weights, one factor a column."""
    p = Program("dequant_int8")
    x = p.argument("x", (m, k), dtype)
    sizes = {"k": k, "n": n}
    w = p.argument("w", [sizes[d] for d in b], "i8", "integers")
    # 74 is the standard deviation of the integers.
    scale = p.argument("scale", (n,), dtype, "positive",
                       1 / 74 / math.sqrt(k))
    values = product(p, x, p.convert(w, dtype), dtype, b)
    scale = p.convert(scale, "f32")
    p.give(p.convert(p.mul(values, p.broadcast(scale, (m, n), [0])), dtype))
    return p


def dequant_int4(m, n, k, dtype="bf16", b="nk", group=128):
    """X W with integers of 4 bits as weights, two a byte along the fastest
    dimension, and one factor for each `group` of them along k."""
    p = Program("dequant_int4")
    x = p.argument("x", (m, k), dtype)
    sizes = {"k": k, "n": n}
    shape = [sizes[d] for d in b]
    axis = b.index("k")
    w = p.argument("w", (shape[0], shape[1] // 2), "i8", "bits")
    # 4.6 is the standard deviation of the integers.
    scale = p.argument("scale", [s // group if i == axis else s
                                 for i, s in enumerate(shape)], dtype,
                       "positive", 1 / 4.6 / math.sqrt(k))
    wide = p.dequantize(w, "int4", scale, shape, dtype, axis=axis, group=group)
    p.give(p.convert(product(p, x, wide, dtype, b), dtype))
    return p


def rope_projection(m, n, k, head=128, dtype="bf16", b="nk", pairs="halves",
                    outer="rows"):
    """X W in heads of so many columns, each turned by the angles of its row:
    pairs are a column of each half of a head, or adjacent columns. Stored by
    rows, or by heads."""
    p = Program("rope_projection")
    x, w = operands(p, m, n, k, dtype, b)
    cos = p.argument("cos", (m, head // 2), "f32", scale=0.7)
    sin = p.argument("sin", (m, head // 2), "f32", scale=0.7)
    values = p.expand(product(p, x, w, dtype, b), [[0], [1, 2]],
                      (m, n // head, head))
    values = p.convert(p.rope(values, cos, sin, 0, pairs == "adjacent"), dtype)
    p.give(values if outer == "rows" else p.transpose(values, (1, 0, 2)))
    return p


def _mean(p, x):
    """Of each row."""
    total = p.reduce(x, [1])
    return p.div(total, p.constant(float(x.shape[1]), total))


def _inverse_root(p, x, epsilon):
    return p.unary("math.rsqrt", p.add(x, p.constant(epsilon, x)))
