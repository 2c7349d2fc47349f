# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of products of rows in groups, each with a matrix of its own.

The m rows are sorted by group; where groups begin is an argument, so that it is
known at run time only.
"""

import math

from .products import RESULTS
from .program import Program


def _operands(p, groups, m, n, k, dtype, b, weights):
    sizes = {"n": n, "k": k}
    x = p.argument("x", (m, k), dtype)
    ws = [p.argument(f"w{i}", (groups, *(sizes[d] for d in b)), dtype,
                     scale=1 / math.sqrt(k)) for i in range(weights)]
    return x, ws, p.argument("offsets", (groups + 1,), "i32", "offsets", m)


def grouped_gemm(groups, m, n, k, dtype="bf16", b="kn", epilogue="none"):
    """Y[t] = X[t] W[group of t]; with bias_silu silu(Y[t] + bias[group of t])."""
    p = Program("grouped_gemm")
    x, (w,), offsets = _operands(p, groups, m, n, k, dtype, b, 1)
    bias = (p.argument("bias", (groups, n), dtype)
            if epilogue == "bias_silu" else None)
    values = p.grouped_matmul(x, w, offsets, b, bias)
    if bias is not None:
        values = p.silu(values)
    p.give(p.convert(values, RESULTS[dtype]))
    return p


def grouped_swiglu(groups, m, n, k, dtype="bf16", b="kn"):
    """silu(X[t] W1[group of t]) * (X[t] W2[group of t])."""
    p = Program("grouped_swiglu")
    x, (w1, w2), offsets = _operands(p, groups, m, n, k, dtype, b, 2)
    gate = p.grouped_matmul(x, w1, offsets, b)
    up = p.grouped_matmul(x, w2, offsets, b)
    p.give(p.convert(p.mul(p.silu(gate), up), dtype))
    return p
