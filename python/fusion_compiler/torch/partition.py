# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which parts of a graph are compiled, and which are left to PyTorch.

Nothing is looked up in a list of operators: a part is everything that is not
refused, and what torch-mlir or the compiler refuses in it is refused by its
node's name, with the reason, and the parts are formed again.
"""

import itertools
import operator

import torch
from torch.fx._lazy_graph_module import _LazyGraphModule
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions

from fusion_compiler import tensors
from fusion_compiler.importing import (data_places, decompositions, fx,
                                       known_places)
from fusion_compiler.torch import layout

aten = torch.ops.aten

# The same memory, looked at in another way.
VIEWS = frozenset(
    getattr(packet, overload) for packet, overload in (
        (aten.view, "default"), (aten.permute, "default"),
        (aten.transpose, "int"), (aten.t, "default"),
        (aten.unsqueeze, "default"), (aten.squeeze, "dim"),
        (aten.squeeze, "dims"), (aten.squeeze, "default"),
        (aten.expand, "default"), (aten.slice, "Tensor"),
        (aten.select, "int"), (aten.alias, "default"),
        (aten.detach, "default"), (aten.as_strided, "default"),
        (aten.diagonal, "default"), (aten.unfold, "default")))

# Memory that nobody has written to: a part may not return it.
_EMPTY = frozenset((aten.empty.memory_format, aten.empty_strided.default,
                    aten.empty_like.default, aten.new_empty.default))

# Where packages run, "cpu" being the emulator.
_DEVICES = ("cpu", "cuda")

# To find one operation of some hundreds takes as many cuts.
_CUTS_BY_SUCCESS = 8

# How many operations of a graph are looked for by importing parts of a part.
_SEARCHES = 8

# The reasons of what is no operation of the program's: what is computed on the
# host, and no tensor, and the seeds of random numbers.
SIZE = "computes a size"
SEEDS = "draws seeds from PyTorch's generator"

# Whose functions a part may call.
_NAMESPACES = ("aten", "prims", "fusion")


def values_of(node):
    value = node.meta.get("val")
    return value if isinstance(value, (tuple, list)) else (value,)


def _description(node):
    """What an operation computes, but for the values of its operands."""
    def describe(operand):
        return [(value.dtype, value.shape, value.stride())
                if isinstance(value, torch.Tensor) else value
                for value in values_of(operand)]
    return str(torch.fx.node.map_arg((node.args, dict(node.kwargs)), describe))


class Refusals:
    """{name of a node: why it is left to PyTorch}, and the general reasons.

    `taken_apart`: {name of a node that torch-mlir or the compiler refused:
    PyTorch's decomposition of it}, which is tried before it is left.
    """

    def __init__(self, device):
        self.device, self.by_name, self.taken_apart = device, {}, {}
        self.searches, self._hopeless = 0, set()
        self._known = None, {}
        # Names of the operations that begin a part of their own.
        self.cuts = set()

    def take_apart(self, name, target):
        """Whether an operation has a decomposition that was not yet tried."""
        function = decompositions.of_pytorch(target)
        if name in self.taken_apart:  # To no avail, so nor are others.
            self._hopeless.add(target)
        if function is None or target in self._hopeless:
            return False
        self.taken_apart[name] = function
        return True

    def refuse(self, name, reason):
        self.by_name[name] = reason

    def refuse_alike(self, name, graph, reason):
        """Refuses an operation of `graph`, and those that are the same on
        operands of the same types and sizes, as in the layers of a network:
        were each found by itself, all others would be compiled as often."""
        nodes = {fx.name_of(node): node for node in graph.nodes}
        wanted = _description(nodes[name])
        for other, node in nodes.items():
            if node.target == nodes[name].target and (
                    _description(node) == wanted):
                self.refuse(other, reason)

    def cut(self, part, graph, successes):
        """Makes two parts of one of `graph`, where other parts went well so
        many times; False if it is not to be cut."""
        place = {fx.name_of(node): number
                 for number, node in enumerate(graph.nodes)}
        nodes = sorted((node for node in part.graph.nodes
                        if node.op == "call_function"),
                       key=lambda node: place[fx.name_of(node)])
        # What refuses everything is not searched for.
        if (len(self.cuts) >= _CUTS_BY_SUCCESS * (successes + 1)
                or len([node for node in nodes if computes(node)]) < 2):
            return False
        crossing = _bytes_crossing(nodes)
        middle = range(max(1, len(nodes) // 3),
                       max(2, -(-len(nodes) * 2 // 3)))
        best = min(middle, key=crossing.__getitem__)
        self.cuts.add(fx.name_of(nodes[best]))
        return True

    def is_refused(self, name):
        return name in self.by_name

    def may_search(self):
        """Whether one more operation that no error names may be looked for:
        each takes several compilations."""
        self.searches += 1
        return self.searches <= _SEARCHES

    def _known_in(self, graph):
        """What known_places.py found out about nodes of a graph: of the last
        one asked about, since these are tensors."""
        if self._known[0] is not graph:
            self._known = graph, {}
        return self._known[1]

    def of(self, graph):
        """(node, reason) of each operation that PyTorch has to run."""
        for node in graph.nodes:
            reason = computes(node) and self.reason(node)
            if reason and reason not in (SIZE, SEEDS):
                yield node, reason

    def reason(self, node):
        """Why a node cannot be in a part; "" if it can."""
        name = fx.name_of(node)
        if name in self.by_name:
            return self.by_name[name]
        if node.op != "call_function":
            return f"{node.op}"
        if node.target is operator.getitem:
            return self.reason(node.args[0])
        if not any(isinstance(v, torch.Tensor) for v in values_of(node)):
            return SIZE
        if not isinstance(node.target, torch._ops.OpOverload):
            return "no tensor operation"
        if gives_seeds(node):
            return SEEDS
        if node.target.namespace not in _NAMESPACES:
            return f"of {node.target.namespace}"
        if node.target._schema.is_mutable:
            return "writes to an argument"
        if torch.Tag.nondeterministic_seeded in node.target.tags:
            return "draws random numbers from PyTorch's generator"
        if known_places.is_of_data(node, self._known_in(node.graph)):
            reason = data_places.reason_against(
                node, is_made_of_nothing(node.args[0]))
            if reason:
                return reason
        for value in (*values_of(node), *(v for arg in node.all_input_nodes
                                        for v in values_of(arg)),
                      *node.args, *node.kwargs.values()):
            reason = self._reason_of_value(value)
            if reason:
                return reason
        return ""

    def _reason_of_value(self, value):
        if isinstance(value, torch.dtype) and (
                value not in tensors.known_dtypes()):
            return f"a tensor of {value}"
        if not isinstance(value, torch.Tensor):
            return ""
        if value.layout != torch.strided:
            return f"a tensor of layout {value.layout}"
        if value.is_quantized or value.dtype not in tensors.known_dtypes():
            return f"a tensor of {value.dtype}"
        if value.device.type != self.device.type or (
                value.device.type not in _DEVICES):
            # PyTorch's numbers are tensors of no dimension on the CPU.
            return f"a tensor on {value.device}"
        return ""


def gives_seeds(node):
    """Whether a node draws seeds or only looks at them: parts take each for
    itself, so that equal layers are equal programs."""
    while node.target in (aten.select.int, aten.unbind.int):
        node = node.args[0]
    return node.target is torch.ops.fusion.seeds.default


def views_of_arguments(graph):
    """The nodes that look at the memory of an argument in another way."""
    found = {}
    for node in graph.nodes:
        if node.target in VIEWS and (node.args[0].op == "placeholder"
                                     or node.args[0] in found):
            found[node] = None
    return list(found)


def computes(node):
    return (node.op == "call_function" and node.target not in VIEWS
            and node.target is not operator.getitem)


def split(module, refusals):
    """(the module with its parts as submodules `fused_N`, their names).

    Their graphs are what counts: code is made of them when they are called.
    `module` itself stays as it is. Parts that only look at memory in another
    way are left to PyTorch.
    """
    # A copy, whose nodes have the names of the original's.
    module = _LazyGraphModule(module, copy_graph(module.graph))
    parts = [_trim(piece) for nodes in _propose(module, refusals)
             for piece in _pieces(nodes, refusals.cuts)]
    fused = fuse_by_partitions(
        module, [nodes for nodes in parts
                 if any(computes(node) for node in nodes)], prefix="fused_")
    names = [node.target for node in fused.graph.nodes
             if node.op == "call_module"
             and str(node.target).startswith("fused_")]
    for name in names:
        _return_views_outside(fused, name)
    _make_late(fused.graph)
    fused.graph.eliminate_dead_code()
    return fused, names


def _propose(module, refusals):
    """[the nodes of a part, in the graph's order]: the largest parts without
    what is refused.

    Nothing leads from a part out and back in: its nodes are those that as many
    paths out of a part lead to, at most. So all is computed as soon as it can
    be, as a weight's gradient is, whose operands would else be kept for a later
    part; but what is greater than what it is computed from, where it is read.
    """
    nodes = list(module.graph.nodes)
    taken = {node for node in nodes if not refusals.reason(node)}
    # 0 is before and in the first part, 1 after it, and in the second, ....
    level = {}
    for node in nodes:
        level[node] = max((level[one] + (one in taken and node not in taken)
                           for one in node.all_input_nodes), default=0)
    constant = fx.constants(node for node in nodes if node in taken)
    for node in reversed(nodes):
        if node in taken:
            level[node] = _later(node, level, taken, constant)
    parts = {}
    for node in nodes:
        if node in taken:
            parts.setdefault(level[node], []).append(node)
    return [parts[number] for number in sorted(parts)]


def _later(node, level, taken, constant):
    """The level of a node, or of the first that reads it, if then less is kept
    from one to the other."""
    def is_item(one):
        return one.target is operator.getitem
    if is_item(node) or any(one.op == "output" or is_item(one)
                            for one in node.users):
        return level[node]
    read = min((level[one] - (one not in taken) for one in node.users),
               default=level[node])
    # A constant comes along.
    kept = sum(_bytes(one) for one in node.all_input_nodes
               if one not in constant
               and all(level[user] < read for user in one.users))
    return read if kept < _bytes(node) else level[node]


def copy_graph(graph):
    """A copy whose nodes know the names of the original's."""
    copy = torch.fx.Graph()
    mapping = {}
    for node in graph.nodes:
        mapping[node] = copy.node_copy(node, lambda n: mapping[n])
        # Later copies may be renamed; this one name stays.
        mapping[node].meta["fusion_node"] = node.name
    copy._codegen = graph._codegen
    return copy


def _pieces(nodes, cuts):
    """A part's nodes cut before the operations named. Nothing leads from a
    later piece to an earlier one, since they are in the order of the graph."""
    pieces, place = [[]], {}
    for node in nodes:
        if fx.name_of(node) in cuts:
            pieces.append([])
        # What an operation gives goes from part to part item by item.
        place[node] = (place.get(node.args[0], len(pieces) - 1)
                       if node.target is operator.getitem
                       else len(pieces) - 1)
        pieces[place[node]].append(node)
    return [piece for piece in pieces if piece]


def _bytes(node):
    """Of all that a node gives."""
    return sum(layout.known(value.numel()) * value.element_size()
               for value in values_of(node) if isinstance(value, torch.Tensor))


def _bytes_crossing(nodes):
    """For each place before one of the nodes, in order, the bytes of results
    of earlier ones that it or a later one reads."""
    place = {node: number for number, node in enumerate(nodes)}
    changes = [0] * (len(nodes) + 1)
    for number, node in enumerate(nodes):
        last = max((place[user] for user in node.users if user in place),
                   default=number)
        size = _bytes(node)
        changes[number + 1] += size
        changes[last + 1] -= size
    return list(itertools.accumulate(changes))


def _trim(nodes):
    """Views that only lead out of a part are PyTorch's: they cost a part a
    copy. So is what is empty and read outside, and what is made of nothing for
    operations outside: it would be there as long as the part runs."""
    nodes = dict.fromkeys(nodes)
    changed = True
    while changed:
        changed = False
        for node in list(nodes):
            inside = [user in nodes for user in node.users]
            leads_out = node.target in VIEWS | _EMPTY or _is_for_others(node)
            if (leads_out and not any(inside)
                    or node.target in _EMPTY and not all(inside)
                    and not any(one in nodes for one in node.all_input_nodes)):
                nodes.pop(node)
                changed = True
    return nodes


def is_made_of_nothing(node):
    """Whether a tensor is the same at any time, whatever the arguments are:
    made of none, or of sizes of what is empty."""
    return (node.op == "call_function"
            and isinstance(node.target, torch._ops.OpOverload)
            and torch.Tag.nondeterministic_seeded not in node.target.tags
            and all(one.target in _EMPTY and not one.all_input_nodes
                    for one in node.all_input_nodes))


def _is_for_others(node):
    """Whether a tensor is made of nothing, and no result of the graph."""
    return is_made_of_nothing(node) and all(
        user.op != "output" for user in node.users)


def _make_late(graph):
    """What is made of nothing is made just before it is read."""
    for node in reversed(list(graph.nodes)):
        if _is_for_others(node) and node.users:
            next(one for one in graph.nodes if one in node.users).prepend(node)


def _return_views_outside(module, name):
    """A result of a part that is an input of it, a view of one, or a view of
    another result, is taken of that outside."""
    part = getattr(module, name)
    graph, outer = part.graph, module.graph
    call = next(node for node in outer.nodes
                if node.op == "call_module" and node.target == name)
    output = graph.output_node()
    results = output.args[0]
    single = not isinstance(results, (tuple, list))
    results = [results] if single else list(results)
    placeholders = list(graph.find_nodes(op="placeholder"))
    outside = dict(zip(placeholders, call.args))
    if single:
        # From here on a part returns a list.
        with outer.inserting_after(call):
            item = outer.call_function(operator.getitem, (call, 0))
        item.meta = dict(call.meta)
        call.replace_all_uses_with(item, delete_user_cb=lambda u: u is not item)
        item.args = (call, 0)
    items = {}
    for user in list(call.users):
        items.setdefault(user.args[1], []).append(user)

    kept, position = [], {}
    for number, result in enumerate(results):
        if (_chain(result, placeholders, results[:number]) is None
                and result not in position):
            position[result] = len(kept)
            kept.append(result)
    for number, result in enumerate(results):
        for item in items.get(number, ()):
            _take(outer, call, item, result, results[:number], placeholders,
                  outside, position)
    output.args = (tuple(kept),)
    call.meta["val"] = [node.meta["val"] for node in kept]


def _chain(result, placeholders, earlier):
    """[the base, the views from it to a result]; None if it is its own."""
    views = []
    node = result
    while True:
        if node in placeholders:
            return [node, *reversed(views)]
        if views and node in earlier and _chain(
                node, placeholders, earlier[:earlier.index(node)]) is None:
            return [node, *reversed(views)]
        if node.op != "call_function" or node.target not in VIEWS:
            return None
        views.append(node)
        node = node.args[0]


def _take(outer, call, item, result, earlier, placeholders, outside,
          position):
    """Puts what a part's result is in the place of its `item` outside."""
    chain = _chain(result, placeholders, earlier)
    if chain is None:
        item.args = (call, position[result])
        return
    base, *views = chain
    with outer.inserting_before(item):
        if base in outside:
            value = outside[base]
        else:
            value = outer.call_function(operator.getitem,
                                        (call, position[base]))
            value.meta = dict(base.meta)
        known = {base: value}
        for view in views:
            new = outer.node_copy(
                view, lambda n: known.get(n) or outside[n])
            known[view] = value = new
    item.replace_all_uses_with(value)
    outer.erase_node(item)
