# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adding nodes to FX graphs, with what PyTorch knows of their values."""

import operator

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.proxy_tensor import make_fx

from fusion_compiler.importing import decompositions
from fusion_compiler.torch import layout

aten = torch.ops.aten
fusion = torch.ops.fusion


def arguments(node):
    """{name: value} of an operation's arguments, defaults among them."""
    schema = node.target._schema.arguments
    return {**{one.name: one.default_value for one in schema
               if one.has_default_value()},
            **dict(zip((one.name for one in schema), node.args)),
            **node.kwargs}


class Rewriter:
    """Adds nodes to a graph. `seeds`: {device: the nodes of its seeds}."""

    def __init__(self, graph):
        self.graph, self.seeds = graph, {}
        first = next(n for n in graph.nodes if n.op != "placeholder")
        with graph.inserting_before(first):
            self.begin = graph.placeholder("begin")  # Until `draw`.
        self.mode = next((
            value.fake_mode for node in graph.nodes
            for value in [node.meta.get("val")]
            if isinstance(value, FakeTensor)), None)

    def _add(self, target, args, before, **options):
        with self.graph.inserting_before(before):
            node = self.graph.call_function(target, args, options)
        with self.mode:
            node.meta["val"] = target(*torch.fx.node.map_arg(
                args, lambda one: one.meta["val"]), **options)
        return node

    def add(self, target, args, node, **options):
        """A node before `node`, which it is a part of."""
        new = self._add(target, args, node, **options)
        new.meta = {**node.meta, "val": new.meta["val"]}
        new.meta.pop("tensor_meta", None)
        return new

    def trace(self, function, args, node):
        """The nodes of a function of tensors, before `node`; its result."""
        with self.mode:
            traced = make_fx(function, decomposition_table=(
                decompositions.early()))(*(one.meta["val"] for one in args))
        known = dict(zip(traced.graph.find_nodes(op="placeholder"), args))
        for one in traced.graph.nodes:
            if one.op == "call_function":
                known[one] = self.add(
                    one.target, torch.fx.node.map_arg(one.args, known.get),
                    node, **one.kwargs)
        return known[traced.graph.output_node().args[0]]

    def seed(self, node):
        """A place for a seed that no other node has, on the device of `node`;
        `draw` fills it."""
        value = node.meta["val"]
        value = value[0] if isinstance(value, (tuple, list)) else value
        seeds = self.seeds.setdefault(value.device, [])
        with self.graph.inserting_before(self.begin):
            seeds.append(self.graph.placeholder("seed"))
        with self.mode:
            seeds[-1].meta["val"] = torch.empty((), dtype=torch.int64,
                                                device=value.device)
        return seeds[-1]

    def draw(self):
        """Draws all seeds of each device at once."""
        for device, seeds in self.seeds.items():
            rows = self._add(fusion.seeds.default, (len(seeds), device),
                             self.begin)
            column = self._add(aten.select.int, (rows, 1, 0), self.begin)
            drawn = self._add(aten.unbind.int, (column,), self.begin)
            for number, seed in enumerate(seeds):
                seed.replace_all_uses_with(self._add(
                    operator.getitem, (drawn, number), self.begin))
                self.graph.erase_node(seed)
        self.graph.erase_node(self.begin)

    def kept(self, tensor, seed, probability, node):
        """Bools of a tensor's shape: what dropout keeps of it."""
        ones = self.add(aten.full_like.default, (tensor, 1), node)
        ones = self.add(fusion.dropout.default, (ones, seed, probability),
                        node)
        return self.add(aten.ne.Scalar, (ones, 0), node)

    def result(self, node, new, number):
        """The tensor of `new`, added before `node`, that takes the place of one
        of `node`: laid out in memory as that one was."""
        tensor = self.add(operator.getitem, (new, number), node)
        one = layout.of(node.meta["val"][number])
        if one.plain or one.copied or one.repeated:
            return tensor
        inverse = [one.order.index(dim) for dim in range(len(one.order))]
        tensor = self.add(aten.permute.default, (tensor, one.order), node)
        tensor = self.add(aten.clone.default, (tensor,), node,
                          memory_format=torch.contiguous_format)
        return self.add(aten.permute.default, (tensor, inverse), node)

    def replace_results(self, node, new, known=None):
        """What used the first tensors of `node` uses those of `new`, or of
        `known`, {number: a node}; nothing uses the others."""
        known = known or {}
        for item in list(node.users):
            number = item.args[1]
            if item.users and number not in known:
                known[number] = self.result(node, new, number)
            if item.users:
                item.replace_all_uses_with(known[number])
            self.graph.erase_node(item)
        self.graph.erase_node(node)
