# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory of what nothing reads any more: written over, or let go of early.

AOTAutograd writes `index_put_` and the like as functions of whole tensors, each
of which copies a tensor to change a part of it: the gradient of an embedding
would be copied with all of its rows.
"""

import operator

import torch

from fusion_compiler.torch import partition

aten = torch.ops.aten


def _in_place(target):
    """The operation that does the same to its first argument, or None."""
    if (not isinstance(target, torch._ops.OpOverload)
            or target.namespace != "aten" or target._schema.is_mutable):
        return None
    name = target._schema.name.split("::")[-1]
    other = getattr(getattr(aten, f"{name}_", None), target._overloadname, None)
    if other is None:
        return None
    own, others = target._schema.arguments, other._schema.arguments
    same = [one.name for one in own] == [one.name for one in others]
    return other if same and others[0].is_write else None


def _is_new(node, parts):
    """Whether a tensor is in memory that no other node has: a result of one of
    the modules `parts`, or made of nothing."""
    if node.target is operator.getitem:
        call, number = node.args
        return call.op == "call_module" and call.target in parts and [
            one.args[1] for one in call.users].count(number) == 1
    return partition.is_made_of_nothing(node)


def _is_alike(one, other):
    """Whether two tensors lie in memory alike, each element by itself."""
    return (one.dtype == other.dtype and one.shape == other.shape
            and one.stride() == other.stride() and 0 not in one.stride())


def _operands(node):
    """The nodes among a node's arguments, as often as they are there."""
    found = []
    torch.fx.node.map_arg((node.args, dict(node.kwargs)), found.append)
    return found


def write_over(graph, parts):
    """Lets operations of a graph, in which `parts` are the names of compiled
    modules, write over a first argument that is theirs alone."""
    for node in graph.nodes:
        other = node.op == "call_function" and _in_place(node.target)
        base = node.args[0] if other and node.args else None
        if (isinstance(base, torch.fx.Node) and list(base.users) == [node]
                and _operands(node).count(base) == 1
                and _is_new(base, parts)
                and _is_alike(node.meta["val"], base.meta["val"])):
            node.target = other


def _box(*values):
    return list(values)


def _is_last(value, user, place, kind):
    """Whether `user` may let go of a value: nothing reads it later, and it is
    no parameter or argument of the caller's, which stay anyway."""
    if not isinstance(value, torch.fx.Node) or any(
            place[one] > place[user] for one in value.users):
        return False
    return value.op != "placeholder" or (
        kind == "backward" and not value.name.startswith("primals_"))


def let_go(module, parts, kind):
    """Has a graph hand the arguments of its parts, {name: Part}, over in lists,
    which alone hold them then: a call lets go of each after its last kernel,
    not of all at the end.

    That something is let go of frees it only if nobody else holds it, as hooks,
    views and a graph that is kept for another backward pass do.
    """
    graph = module.graph
    place = {node: number for number, node in enumerate(graph.nodes)}
    released = {node: [_is_last(one, node, place, kind) for one in node.args]
                for node in place
                if node.op == "call_module" and node.target in parts}
    for node, own in released.items():
        setattr(module, node.target, parts[node.target].boxed(own))
        with graph.inserting_before(node):
            box = graph.call_function(_box, node.args)
        node.args = (box,)
