# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which parts of a graph are compiled, and which are left to PyTorch.

Nothing is looked up in a list of operators: a part is everything that is not
refused, and what torch-mlir or the compiler refuses in it is refused by its
node's name, with the reason, and the parts are formed again.
"""

import operator

import torch
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from fusion_compiler import tensors
from fusion_compiler.importing import decompositions, fx

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

# The reason of what is computed on the host, and no tensor.
SIZE = "computes a size"

# Where packages run, "cpu" being the emulator.
_DEVICES = ("cpu", "cuda")

# Functions that a part's subgraph may call beside ATen's.
_NAMESPACES = ("aten", "prims")


def values_of(node):
    value = node.meta.get("val")
    return value if isinstance(value, (tuple, list)) else (value,)


class Refusals:
    """{name of a node: why it is left to PyTorch}, and the general reasons.

    `taken_apart`: {name of a node that torch-mlir or the compiler refused:
    PyTorch's decomposition of it}, which is tried before it is left.
    `searches`: how many times more a node may be searched for in a part, each
    of which compiles the part some ten times.
    """

    def __init__(self, device):
        self.device, self.by_name, self.taken_apart = device, {}, {}
        self.searches, self._hopeless = 6, set()

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

    def is_refused(self, name):
        return name in self.by_name

    def of(self, graph):
        """(node, reason) of each operation that PyTorch has to run."""
        for node in graph.nodes:
            reason = computes(node) and self.reason(node)
            if reason and reason != SIZE:
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
        if not isinstance(node.target, torch._ops.OpOverload):
            return "no tensor operation"
        if node.target.namespace not in _NAMESPACES:
            return f"of {node.target.namespace}"
        if node.target._schema.is_mutable:
            return "writes to an argument"
        if (torch.Tag.nondeterministic_seeded in node.target.tags
                and node.target not in decompositions.late()):
            return "draws random numbers from PyTorch's generator"
        for value in (*values_of(node), *(v for arg in node.all_input_nodes
                                        for v in values_of(arg)),
                      *node.args, *node.kwargs.values()):
            reason = self._reason_of_value(value)
            if reason:
                return reason
        if not any(isinstance(v, torch.Tensor) for v in values_of(node)):
            return SIZE
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


class _Support(OperatorSupportBase):

    def __init__(self, refusals):
        self.refusals = refusals

    def is_node_supported(self, submodules, node):
        return not self.refusals.reason(node)


def computes(node):
    return (node.op == "call_function" and node.target not in VIEWS
            and node.target is not operator.getitem)


def split(module, refusals):
    """(the module with its parts as submodules `fused_N`, their names).

    `module` itself stays as it is. Parts that only look at memory in another
    way are left to PyTorch.
    """
    # A copy, whose nodes have the names of the original's.
    module = torch.fx.GraphModule(module, copy_graph(module.graph))
    partitioner = CapabilityBasedPartitioner(
        module, _Support(refusals), allows_single_node_partition=True)
    partitions = [one for one in partitioner.propose_partitions()
                  if any(computes(node) for node in one.nodes)]
    for one in partitions:
        _trim(one)
    fused = partitioner.fuse_partitions(partitions, prefix="fused_")
    names = [node.target for node in fused.graph.nodes
             if node.op == "call_module"
             and str(node.target).startswith("fused_")]
    for name in names:
        _return_views_outside(fused, name)
    fused.graph.eliminate_dead_code()
    fused.recompile()
    return fused, names


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


def beginning(module, count):
    """The part of the first `count` nodes of a part, as a GraphModule that
    returns what nothing in it reads."""
    graph, mapping = torch.fx.Graph(), {}
    nodes = [node for node in module.graph.nodes if node.op != "output"]
    inputs = [node for node in nodes if node.op == "placeholder"]
    for node in nodes[:len(inputs) + count]:
        mapping[node] = graph.node_copy(node, mapping.get)
    results = [node for node in mapping.values()
               if not node.users and node.op == "call_function"
               and node.target not in VIEWS
               and isinstance(node.meta.get("val"), torch.Tensor)]
    graph.output(tuple(results))
    return torch.fx.GraphModule(module, graph)


def _trim(partition):
    """Views that only lead out of a partition are PyTorch's: they cost a
    part a copy."""
    nodes = set(partition.nodes)
    changed = True
    while changed:
        changed = False
        for node in list(nodes):
            if node.target in VIEWS and not any(
                    user in nodes for user in node.users):
                nodes.discard(node)
                partition.nodes.pop(node)
                changed = True


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
    part.recompile()


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
