# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums into places that the program alone tells.

`index_put` adds values to the places that indices name, and so does the
gradient of an embedding. Where these depend on no argument, as in the gradients
of enlarged or padded images and of embeddings of positions, each place knows the
values that it gets: it reads them.
"""

import dataclasses
import typing

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily

from fusion_compiler.importing import fx

aten = torch.ops.aten

_PUTS = (aten.index_put.default, aten._unsafe_index_put.default)

# Elements of indices that are computed while a graph is imported.
_MOST_ELEMENTS = 1 << 20
# Values that one place may get; with more, its sum is better written.
_MOST_VALUES = 64


@dataclasses.dataclass(frozen=True)
class Reads:
    """Along a dimension, each of `places` gets `each` values: place i those
    that `table[i]` has, of which -1 is none; without a table, i * each up to
    (i + 1) * each."""
    dim: int
    places: int
    each: int
    table: typing.Optional[torch.Tensor] = None

    def sum(self, values, table):
        """What the places get; `table` is this one's on the values' device."""
        rest = [1] * (values.dim() - 1 - self.dim)
        shape = [*values.shape]
        shape[self.dim:self.dim + 1] = [self.places, self.each]
        if table is not None:
            table = table.reshape(-1, *rest)
            values = values.index_select(self.dim,
                                         table.clamp(min=0).flatten())
            values = torch.where(table >= 0, values, 0)
        return values.reshape(shape).sum(self.dim + 1)


def _reads(dim, index, places):
    """The Reads of values whose places along a dimension are the numbers in
    `index`; None where a place gets too many or is none."""
    index = torch.where(index < 0, index + places, index)
    if not 0 <= int(index.min()) <= int(index.max()) < places:
        return None
    counts = torch.bincount(index, minlength=places)
    each = int(counts.max())
    order = index.argsort(stable=True)
    if bool((counts == each).all()) and bool(
            (order == torch.arange(len(order))).all()):
        return Reads(dim, places, each)
    if each > _MOST_VALUES:
        return None
    table = torch.full((places, each), -1)
    starts = counts.cumsum(0) - counts
    row = index[order]
    table[row, torch.arange(len(order)) - starts[row]] = order
    return Reads(dim, places, each, table)


def _value(node, values):
    """The tensor of a node that depends on no argument, on the CPU; None for
    others. `values` remembers."""
    if node not in values:
        values[node] = _compute(node, values)
    return values[node]


def _compute(node, values):
    if not fx.is_function(node):
        return None
    result = node.meta["val"]
    if (not isinstance(result, torch.Tensor)
            or not isinstance(result.numel(), int)
            or result.numel() > _MOST_ELEMENTS
            or any(_value(one, values) is None
                   for one in node.all_input_nodes)):
        return None
    args, kwargs = torch.fx.node.map_arg((node.args, dict(node.kwargs)),
                                         values.__getitem__)
    if "device" in kwargs:
        kwargs = {**kwargs, "device": torch.device("cpu")}
    return node.target(*args, **kwargs).cpu()


def _separate(node, values):
    """[Reads] of an index_put each of whose indices has a dimension of the
    values for itself; None for others."""
    base, indices, source = node.args[:3]
    shape, given = (one.meta["val"].shape for one in (base, source))
    dims = [d for d, one in enumerate(indices) if one is not None]
    known = [_value(indices[d], values) for d in dims]
    if (dims != list(range(dims[0], dims[-1] + 1)) or len(given) != len(shape)
            or any(one is None or one.dtype == torch.bool for one in known)
            or any(shape[d] != given[d] for d in range(len(shape))
                   if d not in dims)):
        return None
    result = []
    for d, one in zip(dims, known):
        alone = [1] * len(dims)
        alone[d - dims[0]] = one.numel()
        own = [1] * (len(dims) - one.dim()) + [*one.shape]
        if (own != alone or given[d] != one.numel() or not one.numel()
                or not isinstance(shape[d], int)):
            return None
        reads = _reads(d, one.flatten(), shape[d])
        if reads is None:
            return None
        result.append(reads)
    return result


def _looked_up(node, values):
    """[Reads] of the gradient of an embedding; None where its indices are not
    known or not all rows count, each once."""
    _, indices, rows, padding, by_count = node.args
    known = _value(indices, values)
    if (known is None or by_count or not known.numel()
            or not isinstance(rows, int) or bool((known == padding).any())):
        return None
    reads = _reads(0, known.flatten(), rows)
    return reads and [reads]


def is_of_data(node, values):
    """Whether a node adds values into places that are not known. `values`, {} at
    first, remembers what was found out about the nodes of its graph."""
    if node.target is aten.embedding_dense_backward.default:
        return not _looked_up(node, values)
    return (node.target in _PUTS and node.args[3:] == (True,)
            and not _separate(node, values))


def find(graph):
    """{node: [Reads]} of the sums of a graph of ATen operations that can be
    read, one dimension after the other."""
    values, found = {}, {}
    with unset_fake_temporarily():
        for target in _PUTS:
            for node in graph.find_nodes(op="call_function", target=target):
                accumulates = node.args[3:] == (True,)
                reads = _separate(node, values) if accumulates else None
                if reads:
                    found[node] = reads
        for node in graph.find_nodes(
                op="call_function",
                target=aten.embedding_dense_backward.default):
            reads = _looked_up(node, values)
            if reads:
                found[node] = reads
    return found


def add(args, reads, tables):
    """What a node of `find` gives for its arguments; `tables` are those of the
    reads."""
    if isinstance(args[1], (list, tuple)):
        base, _, values = args[:3]
    else:
        base, values = 0, args[0].reshape(-1, args[0].shape[-1])
    total = values
    if values.is_floating_point():
        total = values.to(torch.promote_types(values.dtype, torch.float32))
    for one, table in zip(reads, tables):
        total = one.sum(total, table)
    return (base + total).to(values.dtype)
