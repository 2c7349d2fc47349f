# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scaled dot-product attention: masks, biases, causal, grouped queries."""

from ..builder import byte_count, word


def draw(b):
    dtype = b.dtype()
    d = b.size(b.log_uniform(1, 256))
    share = b.rng.choice((1, 1, 2, 4, 8))
    batch, groups, rows = b.shape(3, max(b.elements(dtype, 4) // d, 1))
    length = rows if b.chance(0.6) else b.size(
        b.log_uniform(1, max(2 * rows, 1)))
    heads = groups * share
    q = b.tensor((batch, heads, rows, d), dtype)
    k = b.tensor((batch, groups, length, d), dtype)
    v = b.tensor((batch, groups, length, d), dtype)
    b.note(q.type[6:], f"keys {length}", f"groups {groups}")
    operands, text, more = [q, k, v], f"{q.name}, {k.name}, {v.name}", ""
    way = b.rng.choice(("none", "causal", "mask", "bias"))
    if way != "none":
        b.note(way)
    if way == "causal":
        b.require(rows <= length)
        text += " causal(top_left)"
        more = ", is_causal=True"
    elif way in ("mask", "bias"):
        shape = [n if b.chance(0.6) else 1 for n in (batch, heads)]
        shape += [rows, length]
        extra = (b.tensor(shape, "i1", "mask") if way == "mask" else
                 b.tensor(shape, dtype))
        b.require(byte_count(shape, extra.dtype) <= b.limits.max_bytes)
        # A query that may attend to nothing has no result.
        b.require(way == "bias" or length > 64)
        operands.append(extra)
        text += f" {way}({extra.name})"
        more = f", attn_mask={word(extra)}"
    if share > 1:
        more += ", enable_gqa=True"
    y = b.both(f"fusion.attention {text} : "
               f"({', '.join(o.type for o in operands)}) -> {q.type}", q.shape,
               dtype, "F.scaled_dot_product_attention("
               f"{word(q)}, {word(k)}, {word(v)}{more})")
    b.flops = 4.0 * batch * heads * rows * length * d
    if way == "causal":
        b.flops *= 1 - (rows - 1) / (2 * length)
        if rows != length:
            b.flops = 2.0 * batch * heads * rows * (rows + 1) * d
    b.flop_type, b.terms = dtype, length
    b.give(y)
