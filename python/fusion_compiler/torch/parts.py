# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A part of a graph that is one package: tracing, compiling and running it."""

import functools
import time

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.traceback import preserve_node_meta
from torch.utils import _pytree as pytree

from fusion_compiler import cache, compiler
from fusion_compiler.importing import (decompositions, fx, known_places,
                                       simplify, torch_mlir)
from fusion_compiler.files import Numbered
from fusion_compiler.package import Package
from fusion_compiler.torch import layout, precision
from fusion_compiler.torch.repeats import Repeats


def _fake_mode(values):
    return next((v.fake_mode for v in values if isinstance(v, FakeTensor)),
                None)


def _is_tensor(value):
    return isinstance(value, torch.Tensor)


class _Interpreter(torch.fx.Interpreter):
    """Runs a part on stand-ins, whose strides may not be those of the part:
    what was a view is a reshape. What `sums` has is read, not written. What
    runs along a dimension of a tensor that has none runs along the only one of
    an array of one element. `taken_apart` is as for Traced."""

    def __init__(self, module, sums, taken_apart):
        super().__init__(module)
        self.sums, self.tables, self.node = sums, {}, None
        self.taken_apart = taken_apart
        self.repeats = Repeats()

    def run_node(self, node):
        self.node = node
        try:
            result = super().run_node(node)
        except decompositions.NotDecomposed as error:
            raise torch_mlir.refused(str(error), fx.name_of(node)) from error
        values = node.meta.get("val")
        if _is_along_nothing(node):
            result = pytree.tree_map(
                lambda one, value: one.reshape(value.shape), result, values)
        if node.op == "call_function":
            for one, value in zip(pytree.tree_leaves(result),
                                  pytree.tree_leaves(values)):
                _check_kind(one, value, node)
        return result

    def fetch_args_kwargs_from_env(self, node):
        args, kwargs = super().fetch_args_kwargs_from_env(node)
        if _is_along_nothing(node):
            args = args[0].reshape(1), *args[1:]
        return args, kwargs

    def call_function(self, target, args, kwargs):
        if self.node in self.sums:
            return known_places.add(args, self.sums[self.node],
                                    self.tables[self.node])
        if target is torch.ops.aten.view.default:
            target = torch.ops.aten.reshape.default
        target = self.taken_apart.get(fx.name_of(self.node), target)
        return self.repeats.run(super().call_function, target, args, kwargs)


def _check_kind(result, value, node):
    """Refuses a node whose decomposition gives another kind of tensor."""
    if not _is_tensor(result) or not _is_tensor(value):
        return
    if result.dtype != value.dtype or result.dim() != value.dim() or any(
            isinstance(size, int) and isinstance(other, int) and size != other
            for size, other in zip(result.shape, value.shape)):
        raise torch_mlir.refused(
            f"its decomposition gives {result.dtype} {list(result.shape)} for "
            f"{value.dtype} {list(value.shape)}", fx.name_of(node))


def _is_along_nothing(node):
    """Whether an operation has a dimension as its second argument, and no
    dimension in its first."""
    if (not isinstance(node.target, torch._ops.OpOverload)
            or len(node.args) < 2):
        return False
    second = node.target._schema.arguments[1].name
    first = node.args[0]
    value = isinstance(first, torch.fx.Node) and first.meta.get("val")
    return (second in ("dim", "dims") and _is_tensor(value)
            and value.dim() == 0)


class Traced:
    """A part as a graph on row-major arrays, and how its inputs and outputs
    are laid out in memory.

    `module` is a GraphModule of ATen operations whose inputs are stand-ins
    with their values in `meta["val"]`. `taken_apart` has by their names the
    nodes of the part that are written in terms of others, and how.
    """

    def __init__(self, module, taken_apart=None):
        placeholders = module.graph.find_nodes(op="placeholder")
        self.examples = [node.meta["val"] for node in placeholders]
        outputs = module.graph.output_node().args[0]
        self.results = [node.meta["val"] for node in outputs]
        self.inputs = [layout.of(v) if _is_tensor(v) else None
                       for v in self.examples]
        self.outputs = [layout.of(v) for v in self.results]
        self.graph, self.constants = self._trace(module, taken_apart or {})
        simplify.fold_constants(self.graph)
        with _fake_mode(self.examples + self.results):
            simplify.join_parts(self.graph)
        self._drop_unused()

    def _trace(self, module, taken_apart):
        fx.mark_nodes(module.graph)
        sums = known_places.find(module.graph)
        tables = [one.table for reads in sums.values() for one in reads
                  if one.table is not None]
        interpreter = _Interpreter(module, sums, taken_apart)

        def program(*arrays):
            rest = iter(arrays[len(self.inputs):])
            interpreter.tables = {
                node: [None if one.table is None else next(rest)
                       for one in reads] for node, reads in sums.items()}
            tensors = [
                one.tensor(array, example.shape) if one else array
                for array, one, example in zip(arrays, self.inputs,
                                               self.examples)]
            results = interpreter.run(*tensors)
            # A result that is repeated is written in full.
            return [one.array(result) if not one.repeated
                    else result.permute(one.order)
                    for one, result in zip(self.outputs, results)]

        mode = _fake_mode(self.examples + self.results)
        with mode, preserve_node_meta():
            arrays = [one.array(example) if one else example
                      for one, example in zip(self.inputs, self.examples)]
            arrays += [mode.from_tensor(table, static_shapes=True)
                       .to(self.results[0].device) for table in tables]
            traced = make_fx(program, decomposition_table=decompositions.late(),
                             tracing_mode="real")(*arrays)
        return traced.graph, tables + self._take_constants(traced)

    def _take_constants(self, traced):
        """Tensors that the program holds become inputs behind the others."""
        graph, constants = traced.graph, []
        last = list(graph.find_nodes(op="placeholder"))
        for node in graph.find_nodes(op="get_attr"):
            value = getattr(traced, node.target)
            place = last[-1].next if last else next(iter(graph.nodes))
            with graph.inserting_before(place):
                new = graph.placeholder(f"constant_{len(constants)}")
            new.meta = dict(node.meta)
            new.meta["val"] = _fake_mode(self.examples + self.results
                                         ).from_tensor(value,
                                                       static_shapes=True)
            node.replace_all_uses_with(new)
            graph.erase_node(node)
            constants.append(value.contiguous())
            last.append(new)
        return constants

    def _drop_unused(self):
        """`used`: the numbers of the inputs that the graph reads; the others
        are no inputs of the package."""
        self.graph.eliminate_dead_code()
        self.used = []
        for number, node in enumerate(
                list(self.graph.find_nodes(op="placeholder"))):
            if node.users:
                self.used.append(number)
            else:
                self.graph.erase_node(node)


@functools.lru_cache(maxsize=None)
def _reports(path):
    """The files of pages that begin with `path`, for all graphs together."""
    return Numbered(path)


class Imported:
    """A part as MLIR, or as the package that was kept of it before.

    `taken_apart` is as for Traced. `data` is that package's bytes or None, and then `linalg` is the text.
    Raises FUS-1307 for what torch-mlir does not take.
    """

    def __init__(self, module, device, options, taken_apart=None):
        start = time.perf_counter()
        self.device, self.options = device, options
        self.target = _target(device, options)
        self.traced = Traced(module, taken_apart)
        program = fx.to_torch_dialect(self.traced.graph)
        rounded = precision.rounded(module.graph, device)
        self.key = cache.key("torch", program, self.target,
                             options.fast_numerics, rounded)
        # A page is of a compilation.
        self.data = None if options.report else cache.find(self.key)
        self.reports, self.report = _reports(options.report), None
        self.linalg = None if self.data else fx.to_linalg(program, rounded)
        self.seconds = time.perf_counter() - start
        self.begun = None

    def begin(self, pool):
        """Has a thread of `pool` do what `compile` gives."""
        if self.begun is None:
            self.begun = pool.submit(self._compile)

    def compile(self):
        """The Package."""
        return self.begun.result() if self.begun else self._compile()

    def _compile(self):
        device = _device_name(self.device)
        if self.data is not None:
            return Package(self.data, device)
        start = time.perf_counter()
        self.report = self.reports.take()
        package = compiler.compile(self.linalg, target=self.target,
                                   device=device, file_name="graph",
                                   fast_numerics=self.options.fast_numerics,
                                   report=self.report)
        cache.keep(self.key, package.data)
        self.seconds += time.perf_counter() - start
        return package


# A launch goes in sections that spare as many bytes each. A section costs the
# host a few microseconds, in which a GPU moves about as much.
LEAST_GAIN = 8 << 20


class Part(torch.nn.Module):
    """A compiled part: called with PyTorch's tensors and sizes, it gives the
    list of its results, on the current stream."""

    def __init__(self, imported):
        super().__init__()
        self.package = imported.compile()
        start = time.perf_counter()
        traced = imported.traced
        self.layouts, self.used = traced.inputs, traced.used
        self.num_inputs = len(traced.inputs)
        self.constants = [constant.to(imported.device)
                          for constant in traced.constants]
        self.cached = imported.data is not None
        self.report = imported.report
        self.entry = next(iter(self.package.on(_device_name(imported.device))
                               .entries.values()))
        self.orders = ([_order(traced.inputs[number])
                        if number < self.num_inputs else None
                        for number in self.used],
                       [_order(one) for one in traced.outputs])
        self.launch = self.entry.launcher(*self.orders)
        self.seconds = imported.seconds + time.perf_counter() - start

    def values(self, inputs):
        """What the package takes."""
        values = []
        for number in self.used:
            if number >= self.num_inputs:
                values.append(self.constants[number - self.num_inputs])
                continue
            value, one = inputs[number], self.layouts[number]
            if one is not None and (one.repeated or one.copied):
                value = one.array(value)
            values.append(value)
        return values

    def forward(self, *inputs):
        return self.launch(self.values(inputs))

    def boxed(self, released):
        """The part as a BoxedPart; `released` says of each input whether
        nothing but this call needs it."""
        return BoxedPart(self.values, self.entry.launcher(
            *self.orders, released=[self._is_let_go(number, released)
                                    for number in self.used],
            least_gain=LEAST_GAIN))

    def _is_let_go(self, number, released):
        if number >= self.num_inputs:
            return False
        one = self.layouts[number]
        return released[number] or one is not None and one.copied


class BoxedPart(torch.nn.Module):
    """A part that is called with a list, empties it, and lets go of arguments
    as soon as no kernel needs them any more."""

    def __init__(self, values, launch):
        super().__init__()
        self.values, self.launch = values, launch

    def forward(self, inputs):
        values = self.values(inputs)
        inputs.clear()
        return self.launch(values)


def _order(one):
    """What a launcher permutes itself; the rest is done before."""
    if one is None or one.repeated or one.copied or one.plain:
        return None
    return one.order


def _device_name(device):
    if device.type == "cuda":
        index = device.index if device.index is not None else 0
        return f"cuda:{index}"
    return "emulator"


def _target(device, options):
    if options.target:
        return options.target
    if device.type == "cuda":
        from fusion_compiler.devices import Device
        return Device.open(_device_name(device)).target()
    return "sm_90a"
