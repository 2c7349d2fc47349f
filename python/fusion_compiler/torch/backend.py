# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The backend of torch.compile: AOTAutograd around packages."""

import dataclasses
import functools
import logging
import typing

import torch
from functorch.compile import min_cut_rematerialization_partition
from torch._dynamo.backends.common import aot_autograd

from fusion_compiler.errors import FusionError
from fusion_compiler.importing import decompositions, fx, torch_mlir
from fusion_compiler.torch import (culprits, cuda_graphs, forms, partition,
                                   reports)
from fusion_compiler.torch.parts import Part

LOG = logging.getLogger("fusion.torch")


# Whether CUDA graphs are made in each mode of torch.compile, as by PyTorch's own
# backend. There is nothing to choose by measuring.
_MODES = {"default": False, "reduce-overhead": True, "max-autotune": True,
          "max-autotune-no-cudagraphs": False}


@dataclasses.dataclass(frozen=True)
class Options:
    """`torch.compile(model, backend="fusion", options={...})`.

    `target`: the chip to compile for, by default that of the tensors' device.
    `fast_numerics`: roundings that the program declares may be left out.
    `cuda_graphs`: calls are recorded and replayed as CUDA graphs.
    """
    target: typing.Optional[str] = None
    fast_numerics: bool = False
    cuda_graphs: bool = False

    @classmethod
    def of(cls, options, mode=None):
        known = {field.name for field in dataclasses.fields(cls)}
        for name in options or {}:
            if name not in known:
                raise FusionError.of(
                    "FUS-1309", f"the backend has no option {name!r}",
                    f"use {', '.join(sorted(known))}")
        if mode is not None and mode not in _MODES:
            raise FusionError.of("FUS-1309", f"the backend has no mode {mode!r}",
                                 f"use {', '.join(_MODES)}")
        return cls(**{"cuda_graphs": _MODES.get(mode, False),
                      **(options or {})})


def backend(module, inputs, *, options=None, mode=None):
    """Compiles a graph of Dynamo, forward and backward, to packages.

    What torch-mlir or the compiler cannot take is left to PyTorch, with the
    reason in `fusion.torch.report()`. `mode` is one of `_MODES`.
    """
    torch_mlir.folder()
    options = Options.of(options, mode)
    recorder = (cuda_graphs.Recorder(len(inputs)) if options.cuda_graphs
                else None)

    def compiler(kind):
        return functools.partial(compile_graph, kind=kind, options=options,
                                 recorder=recorder)

    compiled = aot_autograd(
        fw_compiler=compiler("forward"), bw_compiler=compiler("backward"),
        inference_compiler=compiler("inference"),
        partition_fn=_tell_apart,
        decompositions=decompositions.early())
    return compiled(module, inputs)


backend.reset = cuda_graphs.reset


def _tell_apart(joint, inputs, **options):
    """(forward, backward) of a graph of both."""
    forms.replace(joint.graph)
    return min_cut_rematerialization_partition(joint, inputs, **options)


def _device(module):
    """Where a graph runs: where its tensors are, those of no dimension, which
    may be numbers, aside."""
    devices = [value.device for node in module.graph.nodes
               for value in partition.values_of(node)
               if isinstance(value, torch.Tensor)]
    return next((d for d in devices if d.type == "cuda"),
                devices[0] if devices else torch.device("cpu"))


def compile_graph(module, inputs, kind="inference", options=Options(),
                  recorder=None):
    """A callable for a graph of AOTAutograd, and a GraphReport of it. It takes
    its arguments as a list, which it empties."""
    device = _device(module)
    if kind == "inference":  # Of others, `_tell_apart` was given the whole.
        forms.replace(module.graph)
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
    _add_report(module, kind, parts, sizes, refusals)
    run = _boxed(fused)
    if recorder is not None:
        run = recorder.record(run, module, inputs, kind)
    return run


def _boxed(module):
    """A module's function of a list of its arguments, emptied so that what was
    kept for a backward pass is freed as it goes."""
    module.graph.set_codegen(torch.fx.graph._BoxedCodeGen())
    module.recompile()

    def run(arguments):
        return module.forward(arguments)

    run._boxed_call = True
    return run


def _compile_parts(fused, names, device, options, refusals, packages):
    """{name: Part}; None where a part was refused something and the graph has
    to be split again."""
    parts, refused = {}, False

    def fails(module):
        try:
            Part(module, device, options, packages)
            return False
        except Exception:  # Whatever it is, the part cannot be had.
            return True

    for name in names:
        module = getattr(fused, name)
        try:
            parts[name] = Part(module, device, options, packages)
        except Exception as error:  # A part must not end the user's program.
            _refuse(module, error, fails, refusals)
            refused = True
    return None if refused else parts


def _refuse(module, error, fails, refusals):
    """Leaves to PyTorch what of a part an error is about."""
    reason = getattr(error, "cause", "") or str(error)
    nodes = [fx.name_of(node) for node in module.graph.nodes
             if node.op == "call_function"]
    culprit = fx.failing_node(error, nodes)
    if culprit is None or refusals.is_refused(culprit):
        culprit = (fx.name_of(culprits.find(module, fails))
                   if refusals.may_search() else None)
    LOG.info("%s: %s", culprit or "a whole part", error)
    for node in [culprit] if culprit else nodes:
        refusals.refuse(node, reason.strip().split("\n")[0][:300])


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
