# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs around one matrix product: C[m, n] = epilogue(A[m, k] B).

`b` is the layout of B in memory, "kn" or "nk". Everything after the product is
in f32 and rounded once.
"""

import math

from .program import Program

# What the results are rounded to, by the type of the operands.
RESULTS = {"bf16": "bf16", "f16": "f16", "fp8": "bf16", "int8": "i32",
           "tf32": "f32", "f32": "f32"}
OPERANDS = {"fp8": "f8E4M3FN", "int8": "i8", "tf32": "f32"}
# How a program allows f32 operands to be rounded to tf32.
TF32_ATTRIBUTE = " {fusion.tf32}"


def operands(p, m, n, k, dtype, b, a="mk", batch=()):
    """The arguments A and B, scaled so that the product is about 1."""
    element = OPERANDS.get(dtype, dtype)
    size = {"m": m, "n": n, "k": k}
    integers = {"draw": "integers"} if element == "i8" else {}
    # e4m3 has few numbers below 1/64: the scale goes into A and B alike.
    scale_a, scale_b = ((1.0, 1.0) if element in ("i8", "f8E4M3FN")
                        else (1.0, 1 / math.sqrt(k)))
    return (p.argument("a", (*batch, *(size[d] for d in a)), element,
                       scale=scale_a, **integers),
            p.argument("b", (*batch, *(size[d] for d in b)), element,
                       scale=scale_b, **integers))


def product(p, a, b, dtype, b_layout, a_layout="mk", batched=False):
    return p.matmul(a, b, "i32" if dtype == "int8" else "f32",
                    a_layout=a_layout, b_layout=b_layout, batched=batched,
                    attributes=TF32_ATTRIBUTE if dtype == "tf32" else "")


def gemm(m, n, k, dtype="bf16", b="kn", epilogue="none"):
    """Epilogues: none, bias, bias_relu, bias_gelu, bias_gelu_res (adds a
    tensor after the activation), scale (int8 and fp8: one factor for each row
    and column, to bf16)."""
    p = Program("gemm")
    x, w = operands(p, m, n, k, dtype, b)
    result = "bf16" if epilogue == "scale" else RESULTS[dtype]
    values = product(p, x, w, dtype, b)
    if epilogue == "scale":
        # The magnitude of the product of k terms, so that results are near 1.
        unit = 1 / math.sqrt(k) / (74 ** 2 if dtype == "int8" else 1)
        rows = p.argument("rows", (m,), "f32", "positive", math.sqrt(unit))
        columns = p.argument("columns", (n,), "f32", "positive",
                             math.sqrt(unit))
        values = p.convert(values, "f32")
        values = p.mul(values, p.broadcast(rows, (m, n), [1]))
        values = p.mul(values, p.broadcast(columns, (m, n), [0]))
    elif epilogue != "none":
        bias = p.convert(p.argument("bias", (n,), result), "f32")
        values = p.add(values, p.broadcast(bias, (m, n), [0]))
        if "relu" in epilogue:
            values = p.relu(values)
        if "gelu" in epilogue:
            values = p.gelu_tanh(values)
        if epilogue.endswith("_res"):
            rest = p.argument("rest", (m, n), result)
            values = p.add(values, p.convert(rest, "f32"))
    p.give(p.convert(values, result))
    return p


def batched_gemm(batch, m, n, k, dtype="bf16", b="kn"):
    p = Program("batched_gemm")
    x, w = operands(p, m, n, k, dtype, b, batch=(batch,))
    p.give(p.convert(product(p, x, w, dtype, b, batched=True),
                     RESULTS[dtype]))
    return p


def weight_gradient(m, n, k, dtype="bf16"):
    """dW[m, n] = X[k, m]^T dY[k, n]: both operands with k outermost."""
    p = Program("weight_gradient")
    x, y = operands(p, m, n, k, dtype, "kn", a="km")
    p.give(p.convert(product(p, x, y, dtype, "kn", a_layout="km"),
                     RESULTS[dtype]))
    return p


def bias_gradient(m, n, k, dtype="bf16", b="nk"):
    """dZ = (dY W) * (Z > 0) and its column sums, the gradient of the bias."""
    p = Program("bias_gradient")
    x, w = operands(p, m, n, k, dtype, b)
    z = p.argument("z", (m, n), dtype)
    values = product(p, x, w, dtype, b)
    values = p.select_positive(z, values)
    p.give(p.convert(values, dtype), p.reduce(values, [0]))
    return p


def row_amax(m, n, k, dtype="bf16", b="nk"):
    """The product and the largest magnitude of each of its rows."""
    p = Program("row_amax")
    x, w = operands(p, m, n, k, dtype, b)
    values = product(p, x, w, dtype, b)
    largest = p.reduce(p.unary("math.absf", values), [1], "arith.maximumf")
    p.give(p.convert(values, RESULTS[dtype]), largest)
    return p


def row_softmax(m, n, k, dtype="bf16", b="nk"):
    """The softmax of the product's rows."""
    p = Program("row_softmax")
    x, w = operands(p, m, n, k, dtype, b)
    values = product(p, x, w, dtype, b)
    exponentials, _ = exponentials_of_rows(p, values)
    total = p.broadcast(p.reduce(exponentials, [1]), (m, n), [1])
    p.give(p.convert(p.div(exponentials, total), RESULTS[dtype]))
    return p


def log_sum_exp(m, n, k, dtype="bf16", b="nk"):
    """log sum exp of each row of the product; nothing else is stored."""
    p = Program("log_sum_exp")
    x, w = operands(p, m, n, k, dtype, b)
    values = product(p, x, w, dtype, b)
    exponentials, largest = exponentials_of_rows(p, values)
    total = p.unary("math.log", p.reduce(exponentials, [1]))
    p.give(p.add(total, largest))
    return p


def exponentials_of_rows(p, values):
    """exp(x - max x) along rows, and the maxima."""
    largest = p.reduce(values, [1], "arith.maximumf", start="0xFF800000")
    shift = p.broadcast(largest, values.shape, [1])
    return p.unary("math.exp", p.sub(values, shift)), largest


def quantized_rows(m, n, k, dtype="bf16", b="nk"):
    """The product as i8 with one scale for each row: amax / 127."""
    p = Program("quantized_rows")
    x, w = operands(p, m, n, k, dtype, b)
    values = product(p, x, w, dtype, b)
    largest = p.reduce(p.unary("math.absf", values), [1], "arith.maximumf")
    scale = p.div(largest, p.constant(127.0, largest))
    quotient = p.div(values, p.broadcast(scale, (m, n), [1]))
    p.give(p.convert(p.unary("math.roundeven", quotient), "i8"), scale)
    return p
