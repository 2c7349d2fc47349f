# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A part of a graph that is one package: tracing, compiling and running it."""

import time

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.traceback import preserve_node_meta

from fusion_compiler import cache, compiler, tensors
from fusion_compiler.errors import FusionError
from fusion_compiler.importing import decompositions, fx
from fusion_compiler.package import Package
from fusion_compiler.torch import layout


def _fake_mode(values):
    return next((v.fake_mode for v in values if isinstance(v, FakeTensor)),
                None)


def _is_tensor(value):
    return isinstance(value, torch.Tensor)


class Traced:
    """A part as a graph on row-major arrays, and how its inputs and outputs
    are laid out in memory.

    `module` is a GraphModule of ATen operations whose inputs are stand-ins
    with their values in `meta["val"]`.
    """

    def __init__(self, module):
        placeholders = module.graph.find_nodes(op="placeholder")
        self.examples = [node.meta["val"] for node in placeholders]
        outputs = module.graph.output_node().args[0]
        self.results = [node.meta["val"] for node in outputs]
        self.inputs = [layout.of(v) if _is_tensor(v) else None
                       for v in self.examples]
        self.outputs = [layout.of(v) for v in self.results]
        self.graph, self.constants = self._trace(module)
        self._drop_unused()

    def _trace(self, module):
        fx.mark_nodes(module.graph)
        interpreter = torch.fx.Interpreter(module)

        def program(*arrays):
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
        arrays = self.examples
        with mode, preserve_node_meta():
            arrays = [one.array(example) if one else example
                      for one, example in zip(self.inputs, self.examples)]
            traced = make_fx(program, decomposition_table=decompositions.late(),
                             tracing_mode="real")(*arrays)
        return traced.graph, self._take_constants(traced)

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
                                         ).from_tensor(value)
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


class Part(torch.nn.Module):
    """A compiled part: called with PyTorch's tensors and sizes, it gives the
    list of its results, on the current stream.

    `packages` remembers packages by their programs while a graph is split
    more than once.
    """

    def __init__(self, module, device, options, packages):
        super().__init__()
        start = time.perf_counter()
        traced = Traced(module)
        self.layouts, self.used = traced.inputs, traced.used
        self.num_inputs = len(traced.inputs)
        self.outputs, self.results = traced.outputs, traced.results
        self.constants = [constant.to(device) for constant in traced.constants]
        self.program = fx.to_torch_dialect(traced.graph)
        if self.program not in packages:
            packages[self.program] = _compile(self.program, device, options)
        self.package, self.cached = packages[self.program]
        self.entry = next(iter(self.package.on(_device_name(device))
                               .entries.values()))
        self.seconds = time.perf_counter() - start

    def forward(self, *inputs):
        arrays = []
        for number in self.used:
            if number >= self.num_inputs:
                arrays.append(self.constants[number - self.num_inputs])
                continue
            value, one = inputs[number], self.layouts[number]
            if one is not None and not one.plain:
                value = one.array(value)
            if one is not None and not value.is_contiguous():
                value = value.contiguous()
            arrays.append(value)
        results = _run(self.entry, arrays)
        return [one.tensor(result, result.shape) if not one.plain else result
                for one, result in zip(self.outputs, results)]


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


def _compile(program, device, options):
    """(package, whether it was kept from before)"""
    target = _target(device, options)
    name = cache.key("torch", program, target, options.fast_numerics)
    data = cache.find(name)
    if data is not None:
        return Package(data, _device_name(device)), True
    linalg = fx.to_linalg(program)
    if __import__("os").environ.get("DUMP"): open(__import__("os").environ["DUMP"]+f"/{name[:8]}.mlir","w").write(linalg)
    package = compiler.compile(linalg, target=target,
                               device=_device_name(device),
                               file_name="graph",
                               fast_numerics=options.fast_numerics)
    cache.keep(name, package.data)
    return package, False


def _run(entry, arrays):
    if all(not _is_tensor(a) or a.device.type == "cpu" for a in arrays):
        return _run_on_emulator(entry, arrays)
    results = entry(*arrays)
    return results if isinstance(results, tuple) else (results,)


def _run_on_emulator(entry, arrays):
    hosts = []
    for value in arrays:
        if _is_tensor(value):
            value = value.detach()
            if value.dtype == torch.bfloat16:
                value = value.view(torch.int16).numpy().view("uint16")
            else:
                value = value.numpy()
        hosts.append(value)
    results = entry(*hosts)
    results = results if isinstance(results, tuple) else (results,)
    return [torch.from_numpy(result).to(tensors.torch_dtype(spec.dtype))
            for result, spec in zip(results, entry.outputs)]
