# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that are alike, as those of the layers of a network, traced once."""

import dataclasses
import functools
import weakref

import torch
from torch.fx.experimental.proxy_tensor import (extract_val, get_proxy_mode,
                                                get_proxy_slot, snapshot_fake,
                                                track_tensor)
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree


def _name(node, graph):
    """What `make_fx` calls a node like it; None where FX chooses."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return None
    return graph._target_to_str(node.target.overloadpacket.__name__)


def _is_view(overload):
    return any(one.alias_info is not None
               for one in overload._schema.returns)


def _node_of(tensor, tracer):
    """What gives a tensor in the graph that is traced; None where nothing does,
    or where its values are known."""
    slot = get_proxy_slot(tensor, tracer, None)
    return (None if slot is None or slot.constant is not None
            else slot.proxy.node)


def _description(leaf):
    """What an operation may depend on in an argument that is no tensor, or in
    a tensor but for its values; None where a size is a symbol."""
    if not isinstance(leaf, torch.Tensor):
        symbols = (torch.SymInt, torch.SymFloat, torch.SymBool)
        # 0.0 and -0.0, 1 and True are equal.
        return None if isinstance(leaf, symbols) else (type(leaf), repr(leaf))
    if leaf._has_symbolic_sizes_strides:
        return None
    return (leaf.dtype, leaf.device, leaf.layout, leaf.requires_grad,
            tuple(leaf.shape), leaf.stride(), leaf.storage_offset())


@dataclasses.dataclass
class _Trace:
    """What an operation added to a graph. `results` has for each tensor that
    it gave its stand-in and its node, which may be an input's."""
    inputs: list
    nodes: list
    results: list
    spec: pytree.TreeSpec

    def repeat(self, tracer, inputs, own_values):
        """The same of other inputs, which are nodes."""
        known = dict(zip(self.inputs, inputs))
        for node in self.nodes:
            args, kwargs = map_arg((node.args, node.kwargs),
                                   lambda n: known.get(n, n))
            copy = tracer.create_node(node.op, node.target, args, kwargs,
                                      _name(node, tracer.graph))
            # The rest is of where in the program the operation is.
            copy.meta.update({key: node.meta[key] for key in (
                "val", "tensor_meta") if key in node.meta})
            if own_values and "val" in node.meta:
                copy.meta["val"] = extract_val(node.meta["val"])
            known[node] = copy
        return pytree.tree_unflatten(
            [self._result(one, known, tracer) for one in self.results],
            self.spec)

    @staticmethod
    def _result(one, known, tracer):
        if not isinstance(one, tuple):
            return one
        value, node = snapshot_fake(one[0]), known[one[1]]
        track_tensor(value, tracer.proxy(node), constant=None, tracer=tracer)
        return value


class Repeats:
    """Runs operations under `make_fx`. One that is like an earlier one of that
    trace, of tensors of the same sizes and layouts, adds copies of that one's
    nodes. With `own_values` each has a stand-in of its own, by which to tell
    nodes apart when the graph is traced again."""

    def __init__(self, own_values=False):
        self.own_values = own_values
        # {tracer: {what an operation depends on: its _Trace}}
        self.traces = weakref.WeakKeyDictionary()

    def decompositions(self, table):
        """`table`, of decompositions, each of which is run so. Views are not:
        what they give has the memory of what they are given. Stand-ins of what
        is alike have one memory, which tells a graph that is split into
        forward and backward pass more than is so."""
        def run(overload, function, *args, **kwargs):
            if get_proxy_mode() is None:
                return function(*args, **kwargs)
            return self.run(lambda _, args, kwargs: function(*args, **kwargs),
                            overload, args, kwargs)

        return {overload: function if _is_view(overload)
                else functools.partial(run, overload, function)
                for overload, function in table.items()}

    def run(self, call, target, args, kwargs):
        """`call(target, args, kwargs)`."""
        tracer = get_proxy_mode().tracer
        known = self.traces.setdefault(tracer, {})
        leaves, spec = pytree.tree_flatten((args, kwargs))
        inputs = [_node_of(one, tracer) for one in leaves
                  if isinstance(one, torch.Tensor)]
        descriptions = [_description(one) for one in leaves]
        if None in inputs or None in descriptions:
            return call(target, args, kwargs)
        # Of one tensor twice other things may be made than of two.
        key = (target, str(spec), tuple(descriptions),
               tuple(inputs.index(node) for node in inputs))
        if key in known:
            return known[key].repeat(tracer, inputs, self.own_values)
        last = next(iter(reversed(tracer.graph.nodes)), None)
        result = call(target, args, kwargs)
        trace = self._trace(tracer, inputs, last, result)
        if trace is not None:
            known[key] = trace
        return result

    @staticmethod
    def _trace(tracer, inputs, last, result):
        """The _Trace of what was added behind the node `last`, None of a graph
        that was empty; None where results are no part of it."""
        nodes = []
        for node in reversed(tracer.graph.nodes):
            if node is last:
                break
            nodes.append(node)
        leaves, spec = pytree.tree_flatten(result)
        results = []
        for one in leaves:
            if isinstance(one, torch.Tensor):
                node = _node_of(one, tracer)
                if (one._has_symbolic_sizes_strides
                        or node not in (*nodes, *inputs)):
                    return None
                one = (snapshot_fake(one), node)
            elif isinstance(one, (torch.SymInt, torch.SymFloat)):
                return None
            results.append(one)
        return _Trace(inputs, nodes[::-1], results, spec)
