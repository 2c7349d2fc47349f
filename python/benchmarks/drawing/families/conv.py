# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions with one to three dimensions of space."""

from . import common
from .windows import Window, channels_first, channels_last, place
from ..builder import word


def draw(b):
    layout = b.rng.choice(("nchw", "nhwc"))
    rank = b.rng.choice((1, 2, 2, 2, 3))
    dtype = b.dtype()
    batch, *space = b.shape(rank + 1, max(b.elements(dtype) // 16, 1))
    groups = b.rng.choice((1, 1, 1, 1, b.log_uniform(2, 64)))
    per_group = b.log_uniform(1, 512 // groups + 1)
    channels = groups * per_group
    filters = groups * b.log_uniform(1, 512 // groups + 1)
    window = Window(b, space, (9, 7, 5)[rank - 1], dilated=True)
    x = b.tensor(place(layout, batch, channels, space), dtype)
    taps = per_group
    for size in window.sizes:
        taps *= size
    w = b.tensor(place(layout, filters, per_group, window.sizes), dtype,
                 scale=taps ** -0.5)
    b.note(layout, x.type[6:], f"to {filters}", window.words(),
           *([f"{groups} groups"] if groups > 1 else []))
    operands, text, bias = [x, w], "", "None"
    if b.chance(0.5):
        vector = b.tensor((filters,), dtype)
        operands.append(vector)
        text, bias = f" bias({vector.name})", word(vector)
    shape = place(layout, batch, filters, window.out)
    out = f"tensor<{'x'.join(map(str, (*shape, dtype)))}>"
    attributes = [*window.attributes(), f"groups = {groups} : i64"]
    call = (f"F.conv{rank}d({channels_first(layout, rank, word(x))}, "
            f"{channels_first(layout, rank, word(w))}, {bias}, "
            f"{window.strides}, {window.padding}, {window.dilations}, "
            f"{groups})")
    y = b.both(f"fusion.conv {layout} {x.name}, {w.name}{text} "
               f"{{{', '.join(attributes)}}} : "
               f"({', '.join(v.type for v in operands)}) -> {out}", shape,
               dtype, channels_last(layout, rank, call))
    b.flops, b.flop_type, b.terms = 2.0 * filters * batch * taps, dtype, taps
    for size in window.out:
        b.flops *= size
    b.unit = 1.0
    b.give(common.after(b, y, 0.5))
