# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rewritings of FX graphs that an autograd engine leaves undone.

The gradient of a tensor whose parts were used apart, as the queries, keys and
values of one product are, arrives as a sum of tensors that are zero but for one
part. Where the parts make up the whole, it is their concatenation.
"""

import operator

import torch

aten = torch.ops.aten


def _is_zero(node):
    """Whether a node is a tensor of zeros."""
    if not isinstance(node, torch.fx.Node):
        return False
    if node.target in (aten.full.default, aten.full_like.default):
        return node.args[1] == 0
    return node.target in (aten.zeros.default, aten.zeros_like.default,
                           aten.new_zeros.default)


def _part(node):
    """(dimension, begin, end, source, whether it lacks the dimension) of what
    is zero but for a slice; None for anything else."""
    if node.target is aten.select_scatter.default:
        base, source, dim, index = node.args
        step = 1
        begin, end = index, index + 1 if isinstance(index, int) else None
    elif node.target is aten.slice_scatter.default:
        base, source, dim, begin, end, step = (
            *node.args, *(0, None, None, 1)[len(node.args) - 2:])
        begin = begin or 0
    else:
        return None
    shape = node.meta["val"].shape
    dim %= len(shape)
    size = shape[dim]
    if not _is_zero(base) or step != 1 or not isinstance(size, int):
        return None
    end = size if end is None else end
    if not isinstance(begin, int) or not isinstance(end, int):
        return None
    begin, end = (value + size if value < 0 else min(value, size)
                  for value in (begin, end))
    return dim, begin, end, source, node.target is aten.select_scatter.default


def _addends(node):
    """What a tree of additions without scale adds up."""
    result = []
    for value in node.args:
        if not isinstance(value, torch.fx.Node):
            return None
        inner = None
        if (value.target is aten.add.Tensor and len(value.users) == 1
                and not value.kwargs):
            inner = _addends(value)
        result += inner or [value]
    return result


def join_parts(graph):
    """Sums of parts that make up a whole become concatenations."""
    for node in reversed(list(graph.nodes)):
        if node.target is not aten.add.Tensor or node.kwargs:
            continue
        parts = [_part(one) for one in _addends(node) or ()]
        if not parts or None in parts or len({part[0] for part in parts}) > 1:
            continue
        parts.sort(key=operator.itemgetter(1))
        dim, size = parts[0][0], node.meta["val"].shape[parts[0][0]]
        ends = [0] + [part[2] for part in parts]
        if [part[1] for part in parts] != ends[:-1] or ends[-1] != size:
            continue
        _concatenate(graph, node, dim, parts)
    graph.eliminate_dead_code()


def _concatenate(graph, node, dim, parts):
    sources = []
    with graph.inserting_before(node):
        for _, _, _, source, lacks_dim in parts:
            if lacks_dim:
                part = graph.call_function(aten.unsqueeze.default,
                                           (source, dim))
                part.meta = {**source.meta,
                             "val": source.meta["val"].unsqueeze(dim)}
                part.meta.pop("tensor_meta", None)
                source = part
            sources.append(source)
        joined = graph.call_function(aten.cat.default, (sources, dim))
    joined.meta = dict(node.meta)
    node.replace_all_uses_with(joined)
