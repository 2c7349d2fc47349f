# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums into places that data tell.

Where known_places.py does not know them, each place of the result is the sum
over all values, of which a mask takes those whose indices are the place's. The
compiler walks those alone that are left, in their order, so that a sum is the
same in every run. Indices of no place add to none.
"""

import functools
import operator

import torch

from fusion_compiler.importing.corrections import NotDecomposed, wide

aten = torch.ops.aten

# Blocks look at all indices, one for each 8,192 elements of the result. PyTorch
# fills the result, sorts the indices and adds. So many products of indices and
# elements are looked at while its kernels are launched, and so many indices of
# each element while a byte of it is filled: what an H200 should do.
_WHILE_LAUNCHED = 1 << 40
_WHILE_FILLED = 2560


def _may_look(indices, elements, dtype):
    """Whether a sum into so many elements by so many indices, both known, is
    about as soon made of a mask."""
    return (indices - _WHILE_FILLED * dtype.itemsize) * elements <= (
        _WHILE_LAUNCHED)


def _are_known(*sizes):
    return all(isinstance(size, int) for size in sizes)


def reason_against(node, begins_anew):
    """Why a node that adds values where data say is left to PyTorch; "" if it
    is not. `begins_anew`: it adds to what is the same at any time, as zeros."""
    if node.target is aten.embedding_dense_backward.default:
        _, indices, _, _, by_count = node.args
        if by_count:
            return "divides gradients by how often their rows are looked up"
        count = indices.meta["val"].numel()
    else:
        # What is there would be copied as a whole, and not changed where values
        # are added.
        if not begins_anew:
            return "adds to a tensor where data say"
        base, indices = node.args[:2]
        count = _count(base.meta["val"], [one and one.meta["val"]
                                          for one in indices])
        if count is None:
            return "adds to elements that masks or data far apart name"
    result = node.meta["val"]
    if not _are_known(count, result.numel()):
        return "adds values where data of sizes known at run time say"
    if not _may_look(count, result.numel(), result.dtype):
        return "adds more values where data say than blocks can look at"
    return ""


def _count(base, indices):
    """Of how many places numbers tell that run along neighbouring dimensions of
    a tensor of floats; None for other indices."""
    dims = [d for d, one in enumerate(indices) if one is not None]
    named = [indices[d] for d in dims]
    if (dims != list(range(dims[0], dims[-1] + 1))
            or not base.is_floating_point()
            or any(one.dtype in (torch.bool, torch.uint8) for one in named)):
        return None
    return torch.broadcast_shapes(*(one.shape for one in named)).numel()


def _narrow(index, places):
    """Numbers of places in 32 bits, which blocks look at sooner; what is no
    place stays none."""
    if index.dtype != torch.int64 or places >= 1 << 31:
        return index
    return index.clamp(-1, places).to(torch.int32)


def _add(values, indices, places, before=0):
    """What each place gets: `values` (before..., n, rest...) by `indices`, of n
    numbers for each dimension of `places`; (before..., *places, rest...) in
    f32 at least, where `before` counts dimensions."""
    rest = values.dim() - before - 1
    own = []
    for d, (index, size) in enumerate(zip(indices, places)):
        index = _narrow(index, size)
        numbers = torch.arange(size, dtype=index.dtype, device=index.device)
        shape = [1] * len(places)
        shape[d] = size
        own.append(index.reshape(-1, *[1] * len(places)) ==
                   numbers.reshape(shape))
    counts = functools.reduce(operator.and_, own)
    counts = counts.reshape(*counts.shape, *[1] * rest)
    values = wide(values)
    for _ in places:
        values = values.unsqueeze(before + 1)
    return torch.where(counts, values, 0).sum(before)


def embedding_dense_backward(grad, indices, num_weights, padding_idx,
                             scale_grad_by_freq):
    """(num_weights, width)."""
    if scale_grad_by_freq:
        raise NotDecomposed("gradients are divided by counts")
    index = indices.flatten()
    if padding_idx >= 0:
        index = torch.where(index == padding_idx, -1, index)
    values = grad.reshape(index.shape[0], grad.shape[-1])
    return _add(values, [index], [num_weights]).to(grad.dtype)


def index_put(base, indices, values, accumulate=False):
    """The sum of `base` and what its places get; what is not added, or by
    indices of other kinds, stays as it is."""
    count = _count(base, indices) if accumulate else None
    if count is None:
        return NotImplemented
    dims = [d for d, one in enumerate(indices) if one is not None]
    first, past = dims[0], dims[-1] + 1
    before, places, rest = (base.shape[:first], base.shape[first:past],
                            base.shape[past:])
    numbers = torch.broadcast_tensors(*indices[first:past])
    values = values.expand(*before, *numbers[0].shape, *rest)
    values = values.reshape(*before, count, *rest)
    numbers = [torch.where(one < 0, one + size, one).flatten()
               for one, size in zip(numbers, places)]
    total = _add(values, numbers, places, before=first)
    return (wide(base) + total).to(base.dtype)
