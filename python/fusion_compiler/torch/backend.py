# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The backend of torch.compile: AOTAutograd around packages."""

import dataclasses
import functools
import logging
import typing

import torch
from functorch.compile import (make_boxed_func,
                               min_cut_rematerialization_partition)
from torch._dynamo.backends.common import aot_autograd

from fusion_compiler.errors import FusionError
from fusion_compiler.importing import decompositions, fx, torch_mlir
from fusion_compiler.torch import partition, reports
from fusion_compiler.torch.parts import Part

LOG = logging.getLogger("fusion.torch")


@dataclasses.dataclass(frozen=True)
class Options:
    """`torch.compile(model, backend="fusion", options={...})`.

    `target`: the chip to compile for, by default that of the tensors' device.
    `fast_numerics`: roundings that the program declares may be left out.
    """
    target: typing.Optional[str] = None
    fast_numerics: bool = False

    @classmethod
    def of(cls, options):
        known = {field.name for field in dataclasses.fields(cls)}
        for name in options or {}:
            if name not in known:
                raise FusionError.of(
                    "FUS-1309", f"the backend has no option {name!r}",
                    f"use {', '.join(sorted(known))}")
        return cls(**(options or {}))


def backend(module, inputs, *, options=None, mode=None):
    """Compiles a graph of Dynamo, forward and backward, to packages.

    What torch-mlir or the compiler cannot take is left to PyTorch, with the
    reason in `fusion.torch.report()`. Nothing depends on `mode`.
    """
    torch_mlir.folder()
    options = Options.of(options)

    def compiler(kind):
        return functools.partial(compile_graph, kind=kind, options=options)

    compiled = aot_autograd(
        fw_compiler=compiler("forward"), bw_compiler=compiler("backward"),
        inference_compiler=compiler("inference"),
        partition_fn=min_cut_rematerialization_partition,
        decompositions=decompositions.early())
    return compiled(module, inputs)


def _device(module):
    """Where a graph runs: where its tensors are, those of no dimension, which
    may be numbers, aside."""
    devices = [value.device for node in module.graph.nodes
               for value in partition.values_of(node)
               if isinstance(value, torch.Tensor)]
    return next((d for d in devices if d.type == "cuda"),
                devices[0] if devices else torch.device("cpu"))


def compile_graph(module, inputs, kind="inference", options=Options()):
    """A callable for a graph of AOTAutograd, and a GraphReport of it."""
    device = _device(module)
    refusals = partition.Refusals(device)
    packages = {}
    while True:
        fused, names = partition.split(module, refusals)
        parts = _compile_parts(fused, names, device, options, refusals,
                               packages)
        if parts is not None:
            break
    sizes = {name: len([node for node in getattr(fused, name).graph.nodes
                        if node.op == "call_function"]) for name in names}
    for name, part in parts.items():
        setattr(fused, name, part)
    fused.recompile()
    _add_report(module, kind, parts, sizes, refusals)
    return make_boxed_func(fused.forward)


def _compile_parts(fused, names, device, options, refusals, packages):
    """{name: Part}; None where a part was refused something and the graph has
    to be split again."""
    parts, refused = {}, False

    def compile_part(module):
        return Part(module, device, options, packages, refusals.taken_apart)

    for name in names:
        module = getattr(fused, name)
        try:
            parts[name] = compile_part(module)
        except Exception as error:  # A part must not end the user's program.
            refused = True
            _refuse(module, error, compile_part, refusals)
    return None if refused else parts


def _refuse(module, error, compile_part, refusals):
    """Takes the node apart that a part was refused for, or leaves it to
    PyTorch; every node of the part where it cannot be told."""
    nodes = {fx.name_of(node): node for node in module.graph.nodes
             if node.op == "call_function"}
    culprit = fx.failing_node(error, nodes)
    if culprit is None:
        culprit, error = _search(module, error, compile_part, refusals)
    if refusals.is_refused(culprit):  # And yet it was in a part.
        culprit = None
    LOG.info("%s: %s", culprit or "a part", error)
    if culprit and refusals.take_apart(culprit, nodes[culprit].target):
        return
    reason = (getattr(error, "cause", "") or str(error)).strip()
    for node in [culprit] if culprit else nodes:
        refusals.refuse(node, reason.split("\n")[0][:300])


def _search(module, error, compile_part, refusals):
    """(the node that makes a part fail that did not without it, the error that
    it fails with): where the error does not tell. (None, the error) where that
    would take too long."""
    if torch_mlir.is_time_limit(error) or not refusals.searches:
        return None, error
    refusals.searches -= 1
    nodes = [node for node in module.graph.nodes if node.op == "call_function"]
    good, bad = 0, len(nodes)
    while bad - good > 1:
        middle = (good + bad) // 2
        try:
            compile_part(partition.beginning(module, middle))
            good = middle
        except Exception as earlier:
            bad, error = middle, earlier
    return fx.name_of(nodes[bad - 1]), error


def _add_report(module, kind, parts, sizes, refusals):
    fallbacks = [reports.Fallback(str(node.target), reason,
                                  reports.line_of(node))
                 for node, reason in refusals.of(module.graph)]
    graph = reports.GraphReport(kind, tuple(
        reports.CompiledPart(sizes[name], part.entry.kernels_after,
                             part.cached, part.seconds, part.package)
        for name, part in parts.items()), tuple(fallbacks))
    for one in fallbacks:
        LOG.info("left to PyTorch: %s: %s %s", one.operator, one.reason,
                 one.line)
    reports.add(graph)
