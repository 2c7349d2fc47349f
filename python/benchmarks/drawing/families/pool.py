# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Maxima and means of sliding windows."""

from . import common
from .windows import Window, channels_first, channels_last, place
from ..builder import word


def draw(b):
    kind = b.rng.choice(("max", "avg"))
    layout = b.rng.choice(("nchw", "nhwc"))
    rank = b.rng.choice((1, 2, 2, 3))
    dtype = b.dtype()
    batch, channels, *space = b.shape(rank + 2, b.elements(dtype))
    window = Window(b, space, (32, 8, 4)[rank - 1], dilated=kind == "max")
    b.require(max(window.sizes) > 1)
    x = b.tensor(place(layout, batch, channels, space), dtype)
    b.note(kind, layout, x.type[6:], window.words())
    y = x
    if b.chance(0.25):
        y = common.activation(b, y)
    attributes = window.attributes()
    call = (f"{channels_first(layout, rank, word(y))}, {window.sizes}, "
            f"{window.strides}, {window.padding}")
    if kind == "max":
        call = f"F.max_pool{rank}d({call}, {window.dilations})"
    else:
        counted = b.chance(0.5)
        if counted:
            attributes.insert(0, "count_include_pad")
        call = f"F.avg_pool{rank}d({call}, count_include_pad={counted})"
    shape = place(layout, batch, channels, window.out)
    out = f"tensor<{'x'.join(map(str, (*shape, dtype)))}>"
    y = b.both(f"fusion.pool {kind} {layout} {y.name} window {window.sizes} "
               f"{{{', '.join(attributes)}}} : ({y.type}) -> {out}", shape,
               dtype, channels_last(layout, rank, call), b.span(y))
    b.give(common.after(b, y, 0.25))
