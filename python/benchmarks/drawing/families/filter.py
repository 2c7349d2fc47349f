# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of the filters of convolutions, as importers write them: of images
with two dimensions of space, a convolution by gradients in which channels and
batch have changed their places, and strides and dilations too."""

from ..builder import word
from .windows import channels_first, place


def draw(b):
    layout = b.rng.choice(("nchw", "nhwc", "nhwc"))
    dtype = b.dtype()
    batch, *out = b.shape(3, max(b.elements(dtype) // 16, 1))
    taps, stride = b.log_uniform(1, 7), b.rng.choice((1, 1, 2))
    pad = b.rng.randint(0, taps // 2)
    space = [(n - 1) * stride + taps - 2 * pad for n in out]
    b.require(min(space) > 0)
    channels, filters = (64 * b.log_uniform(1, 8) if b.chance(0.6) else
                         b.log_uniform(1, 512) for _ in range(2))
    x = b.tensor(place(layout, batch, channels, space), dtype)
    terms = batch * out[0] * out[1]
    grad = b.tensor(place(layout, batch, filters, out), dtype,
                    scale=terms ** -0.5)
    b.note(layout, x.type[6:], f"to {filters}, {taps}x{taps} stride {stride} "
           f"padding {pad}")
    order = (1, 0, 2, 3) if layout == "nchw" else (3, 0, 1, 2)
    images = b.transpose(x, order)
    if pad:
        images = b.pad(images, (0, 0, pad, pad), (0, 0, pad, pad))
    sums = b.conv2d_general(images, b.transpose(grad, order), 1, stride,
                            "nchw", False)
    result = b.transpose(b.convert(sums, dtype),
                         (1, 0, 2, 3) if layout == "nchw" else (1, 2, 3, 0))
    call = ("torch.nn.grad.conv2d_weight("
            f"{channels_first(layout, 2, word(x))}, "
            f"{(filters, channels, taps, taps)}, "
            f"{channels_first(layout, 2, word(grad))}, {stride}, {pad})")
    if layout == "nhwc":
        call += ".permute([0, 2, 3, 1])"
    b.flops = 2.0 * filters * channels * taps * taps * terms
    b.flop_type, b.terms, b.unit = dtype, terms, 1.0
    b.give(b.say(result, call))
