# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rewritings of FX graphs before they are imported.

What is the same for every element of a tensor and known is computed here, by
PyTorch: torch-mlir's folding of it is not PyTorch's in every case.

The gradient of a tensor whose parts were used apart, as the queries, keys and
values of one product are, arrives as a sum of tensors that are zero but for one
part. Where the parts make up the whole, it is their concatenation.
"""

import operator

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily

aten = torch.ops.aten

# Operations that are pointwise as well, without PyTorch's mark of it.
_CONVERSIONS = (aten._to_copy.default,
                torch.ops.prims.convert_element_type.default)


def _filled(node):
    """The number that a node fills a tensor with, or None."""
    if node.target in (aten.full.default, aten.full_like.default):
        number = node.args[1]
        return None if isinstance(number, torch.fx.Node) else number
    return 0 if _is_zero(node) else None


def _is_pointwise(node):
    return isinstance(node.target, torch._ops.OpOverload) and (
        torch.Tag.pointwise in node.target.tags
        or node.target in _CONVERSIONS) and set(node.kwargs) <= {
            "dtype", "alpha", "rounding_mode", "value"}


def _is_empty(value):
    return any(isinstance(size, int) and size == 0 for size in value.shape)


def fold_constants(graph):
    """Pointwise operations on tensors that are filled with one number become
    such tensors, and so does what has no elements. Of sizes that PyTorch
    traces as symbols only what has the sizes of an operand."""
    known, before = {}, len(graph.nodes)
    with unset_fake_temporarily():
        for node in list(graph.nodes):
            value = node.meta.get("val")
            if node.op != "call_function" or not isinstance(value,
                                                            torch.Tensor):
                continue
            number = _filled(node)
            if number is not None:
                known[node] = torch.full((), number, dtype=value.dtype)
            elif _is_empty(value):
                _fill(graph, node, 0)
            elif (node.all_input_nodes and _is_pointwise(node)
                  and all(one in known for one in node.all_input_nodes)):
                args, kwargs = torch.fx.map_arg((node.args, node.kwargs),
                                                known.get)
                result = node.target(*args, **kwargs)
                known[_fill(graph, node, result.item())] = result
    if len(graph.nodes) > before:
        graph.eliminate_dead_code()


def _fill(graph, node, number):
    """A tensor of a number in the place of what a node computes, or the node
    where there is nothing to say its sizes with."""
    value = node.meta["val"]
    with graph.inserting_before(node):
        if all(isinstance(size, int) for size in value.shape):
            new = graph.call_function(
                aten.full.default, (list(value.shape), number),
                {"dtype": value.dtype, "device": value.device,
                 "pin_memory": False})
        else:
            like = next((one for one in node.all_input_nodes
                         if one.meta["val"].shape == value.shape), None)
            if like is None:
                return node
            new = graph.call_function(
                aten.full_like.default, (like, number),
                {"dtype": value.dtype, "pin_memory": False})
    new.meta = dict(node.meta)
    node.replace_all_uses_with(new)
    return new


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
        given = [*node.args, *(0, None, None, 1)[len(node.args) - 2:]]
        base, source, dim, begin, end, step = given
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
    before = len(graph.nodes)
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
    if len(graph.nodes) > before:
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
