# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors with strides as row-major arrays, which is what kernels take.

A dense tensor is a permutation of a row-major array, and one that was expanded
is such a permutation repeated along dimensions of stride 0. `Layout` says
which; its `array` and `tensor` go from one to the other without a copy, on
tensors and, while a program is traced, on their stand-ins.
"""

import dataclasses

from torch.fx.experimental.symbolic_shapes import (
    guard_or_false, statically_known_true)


def known(size):
    """A number to sort by, for a size that may be symbolic."""
    if isinstance(size, int):
        return size
    hint = getattr(size.node, "hint", None)
    return hint if hint is not None else 1 << 40


@dataclasses.dataclass(frozen=True)
class Layout:
    """`order`: the dimensions from the outermost to the innermost in memory.
    `repeated`: dimensions along which one element is read again. `copied`:
    whether a tensor is first copied, being neither dense nor repeated."""
    order: tuple
    repeated: tuple = ()
    copied: bool = False

    @property
    def plain(self):
        return (not self.repeated and not self.copied
                and self.order == tuple(range(len(self.order))))

    def array(self, tensor):
        """The row-major array behind a tensor of this layout."""
        if self.copied:
            return tensor.contiguous()
        for dim in self.repeated:
            tensor = tensor.narrow(dim, 0, 1)
        if self.order != tuple(range(len(self.order))):
            tensor = tensor.permute(self.order)
        return tensor

    def tensor(self, array, shape):
        """The tensor of this layout and shape on a row-major array."""
        if self.copied:
            return array
        if self.order != tuple(range(len(self.order))):
            inverse = [0] * len(self.order)
            for position, dim in enumerate(self.order):
                inverse[dim] = position
            array = array.permute(inverse)
        return array.expand(shape) if self.repeated else array


def of(tensor):
    """The Layout of a tensor or of a fake one."""
    sizes, strides = tensor.shape, tensor.stride()
    dims = range(len(sizes))
    repeated = tuple(d for d in dims if isinstance(strides[d], int)
                     and strides[d] == 0 and not _is_one(sizes[d]))
    # A dimension of one element may have any stride: it stays beside the
    # dimension that it was written beside.
    place = {d: known(strides[d]) for d in dims}
    for d in reversed(dims):
        if _is_one(sizes[d]) or d in repeated:
            place[d] = place[d + 1] if d + 1 < len(sizes) else 0
    order = tuple(sorted(dims, key=lambda d: -place[d]))
    layout = Layout(order, repeated)
    expected = 1
    for d in reversed(order):
        if _is_one(sizes[d]) or d in repeated:
            continue
        if not _equal(strides[d], expected):
            return Layout(tuple(dims), (), True)
        expected = expected * sizes[d]
    return layout


def _is_one(size):
    return statically_known_true(size == 1)


def _equal(one, other):
    return statically_known_true(one == other) or guard_or_false(one == other)
