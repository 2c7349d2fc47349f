# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What pools and convolutions share: layouts, windows, sizes."""


class Window:
    """Sizes of a window over `space`, per dimension; padding is the same on
    both sides."""

    def __init__(self, b, space, most, dilated, pads=None):
        self.sizes, self.strides, self.dilations, self.padding = [], [], [], []
        for extent in space:
            size = b.log_uniform(1, min(extent, most))
            dilation = 1
            if dilated and b.chance(0.25) and 2 * (size - 1) + 1 <= extent:
                dilation = 2
            # What no window touches would not have to be read.
            stride = b.rng.randint(1, size) if dilation == 1 else 1
            pad = b.rng.randint(0, size // 2) if b.chance(0.6) else 0
            self.sizes.append(size)
            self.strides.append(stride)
            self.dilations.append(dilation)
            self.padding.append(pad)
        self.out = [(n + 2 * p - d * (k - 1) - 1) // s + 1
                    for n, k, s, d, p in zip(space, self.sizes, self.strides,
                                             self.dilations, self.padding)]
        b.require(min(self.out) > 0)

    def attributes(self):
        """As fusion.conv and fusion.pool have them."""
        both = [p for pad in self.padding for p in (pad, pad)]
        return [array("strides", self.strides), array("padding", both),
                array("dilations", self.dilations)]

    def words(self):
        def show(numbers):
            return "x".join(map(str, numbers))
        text = show(self.sizes)
        for name, numbers, usual in (("stride", self.strides, 1),
                                     ("dilation", self.dilations, 1),
                                     ("padding", self.padding, 0)):
            if set(numbers) != {usual}:
                text += f" {name} {show(numbers)}"
        return text


def array(name, numbers):
    return f"{name} = array<i64: {', '.join(map(str, numbers))}>"


def place(layout, batch, channels, space):
    """A shape of the layout."""
    return ([batch, channels, *space] if layout == "nchw" else
            [batch, *space, channels])


def channels_first(layout, rank, name):
    """PyTorch's view of a tensor with `rank` dimensions of space."""
    if layout == "nchw":
        return name
    return f"{name}.permute({[0, rank + 1, *range(1, rank + 1)]})"


def channels_last(layout, rank, text):
    """The way back."""
    if layout == "nchw":
        return text
    return f"{text}.permute({[0, *range(2, rank + 2), 1]})"
