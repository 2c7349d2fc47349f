# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The backend of torch.compile: AOTAutograd around packages."""

import concurrent.futures
import contextlib
import dataclasses
import functools
import gc
import logging
import os
import typing

import torch
from functorch.compile import min_cut_rematerialization_partition
from torch._dynamo import disable
from torch._dynamo.utils import counters, flatten_graph_inputs
from torch._functorch.aot_autograd import aot_module_simplified
from torch.utils.checkpoint import CheckpointPolicy

from fusion_compiler import libraries
from fusion_compiler.errors import FusionError
from fusion_compiler.importing import decompositions, fx, torch_mlir
from fusion_compiler.torch import (attention, culprits, cuda_graphs, forms,
                                   partition, reports, reuse)
from fusion_compiler.torch.parts import Imported, Part
from fusion_compiler.torch.repeats import Repeats

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
    `report`: a file for the page of a package (docs/Explain.md); those of
    further ones have numbers, F-2.html, … Nothing is taken from the cache.
    """
    target: typing.Optional[str] = None
    fast_numerics: bool = False
    cuda_graphs: bool = False
    report: typing.Union[str, os.PathLike, None] = None

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
    # AOTAutograd traces meanwhile.
    libraries.load_ahead("compiler", torch_mlir.library())
    options = Options.of(options, mode)
    attention.take(module)
    recorder = (cuda_graphs.Recorder(len(inputs)) if options.cuda_graphs
                else None)

    def compiler(kind):
        return functools.partial(compile_graph, kind=kind, options=options,
                                 recorder=recorder)

    return _aot_autograd(
        module, inputs, fw_compiler=compiler("forward"),
        bw_compiler=_untraced(compiler("backward")),
        inference_compiler=compiler("inference"),
        partition_fn=_tell_apart,
        decompositions=_decompositions(inputs))


def _decompositions(inputs):
    """The table for AOTAutograd. Operations that are alike are taken apart once
    where there is no backward pass."""
    table = decompositions.early()
    if torch.is_grad_enabled() and any(
            one.requires_grad for one in inputs
            if isinstance(one, torch.Tensor)):
        return table
    return Repeats(own_values=True).decompositions(table)


# What torch._dynamo.reset() calls.
backend.reset = cuda_graphs.reset  # type: ignore[attr-defined]


def _aot_autograd(module, inputs, **options):
    """AOTAutograd's function for a graph of Dynamo, whose inputs may be in
    lists, as those of compiled_autograd are. PyTorch's `aot_autograd` around the
    same imports its compiler first, 0.06 s of every program's first call."""
    if any(isinstance(one, (list, tuple, dict)) for one in inputs):
        return flatten_graph_inputs(
            module, inputs, functools.partial(_aot_autograd, **options))
    # DistributedDataParallel's optimizer looks whether it counts.
    counters["aot_autograd"]["total"] += 1
    with _aot_log():
        compiled = aot_module_simplified(module, inputs, **options)
    counters["aot_autograd"]["ok"] += 1
    return disable(compiled, reason="it is compiled")


def _aot_log():
    """Where TORCH_COMPILE_DEBUG asks for it PyTorch writes AOTAutograd's
    graphs to a file."""
    if os.environ.get("TORCH_COMPILE_DEBUG", "0") != "1":
        return contextlib.nullcontext()
    from torch._inductor.debug import enable_aot_logging
    return enable_aot_logging()


def _untraced(compiler):
    """A compiler of backward graphs that Dynamo lets be, and what it makes:
    it is called, and that runs, where compiled_autograd may be tracing."""
    @disable(reason="it compiles")
    def compile_untraced(*arguments):
        return compiler(*arguments)

    def compile_backward(*arguments):
        return disable(compile_untraced(*arguments), reason="it is compiled")

    return compile_backward


def _tell_apart(joint, inputs, **options):
    """(forward, backward) of a graph of both. What depends on no argument is
    computed in each that needs it: handed from one to the other it would cost
    memory, and the backward graph would not know what it is. Nor would it of a
    view of an argument, which keeps all of that in memory anyway."""
    forms.replace(joint.graph)
    again = {*fx.constants(joint.graph.nodes),
             *partition.views_of_arguments(joint.graph)}
    for node in again:
        node.meta.setdefault("recompute", CheckpointPolicy.PREFER_RECOMPUTE)
    return min_cut_rematerialization_partition(joint, inputs, **options)


def _device(module):
    """Where a graph runs: where its tensors are, those of no dimension, which
    may be numbers, aside."""
    devices = [value.device for node in module.graph.nodes
               for value in partition.values_of(node)
               if isinstance(value, torch.Tensor)]
    return next((d for d in devices if d.type == "cuda"),
                devices[0] if devices else torch.device("cpu"))


# Parts that are compiled at once, each by as many threads as the machine has.
_AT_ONCE = 4


class _Maker:
    """Makes parts, and remembers them while a graph is split again."""

    def __init__(self, device, options, taken_apart):
        self.device, self.options = device, options
        self.taken_apart = taken_apart
        self.imported, self.parts = {}, {}
        # Of the modules that were asked about.
        self.texts = {}
        # Of the last part that could not be brought in.
        self.error = None

    def _key(self, module):
        """What tells the parts of one graph from each other."""
        if module not in self.texts:
            values = [node.meta["val"]
                      for node in module.graph.find_nodes(op="placeholder")]
            self.texts[module] = str(module.graph), str([
                (value.dtype, value.shape, value.stride())
                if isinstance(value, torch.Tensor) else value
                for value in values])
        apart = [name for name in _operations(module)
                 if name in self.taken_apart]
        return *self.texts[module], str(apart)

    def bring_in(self, module):
        """The Imported of a part."""
        key = self._key(module)
        if key not in self.imported:
            self.imported[key] = Imported(module, self.device, self.options,
                                          self.taken_apart)
        return self.imported[key]

    def is_imported(self, module):
        return self._key(module) in self.imported

    def imports(self, module):
        """Whether a part can be brought in."""
        try:
            self.bring_in(module)
        except Exception as error:  # Whatever it is, it cannot be had.
            self.error = error
            return False
        return True

    def begin(self, modules):
        """Compiles what was brought in, several at once: each is a process of
        the compiler."""
        with concurrent.futures.ThreadPoolExecutor(_AT_ONCE) as pool:
            for key in {self._key(module) for module in modules}:
                self.imported[key].begin(pool)

    def compile(self, module):
        """The Part of one that was brought in."""
        key = self._key(module)
        if key not in self.parts:
            self.parts[key] = Part(self.imported[key])
        return self.parts[key]


@contextlib.contextmanager
def _no_collection():
    """Python's garbage collector looks at all of PyTorch's modules when so many
    objects are new as a graph has nodes; graphs are no garbage yet."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@_no_collection()
def compile_graph(module, inputs, kind="inference", options=Options(),
                  recorder=None):
    """A callable for a graph of AOTAutograd, and a GraphReport of it. It takes
    its arguments as a list, which it empties."""
    device = _device(module)
    if kind == "inference":  # Of others, `_tell_apart` was given the whole.
        forms.replace(module.graph)
    refusals = partition.Refusals(device)
    maker = _Maker(device, options, refusals.taken_apart)
    while True:
        fused, names = partition.split(module, refusals)
        parts = _compile_parts(fused, names, module.graph, refusals, maker)
        if parts is not None:
            break
    sizes = {name: len(_operations(getattr(fused, name))) for name in names}
    for name, part in parts.items():
        setattr(fused, name, part)
    reuse.write_over(fused.graph, names)
    reuse.let_go(fused, parts, kind)
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
    module.real_recompile()

    def run(arguments):
        return module.forward(arguments)

    run._boxed_call = True
    return run


def _operations(module):
    """{name: node} of a part's operations."""
    return {fx.name_of(node): node
            for node in module.graph.nodes if node.op == "call_function"}


def _compile_parts(fused, names, graph, refusals, maker):
    """{name: Part}; None where a part was refused something and the graph has
    to be split again.

    Parts are all imported before any is compiled: importing is quick and
    refuses more.
    """
    modules = {name: getattr(fused, name) for name in names}

    def make_all(make):
        parts = {}
        for name, module in modules.items():
            try:
                parts[name] = make(module)
            except Exception as error:  # It must not end the user's program.
                LOG.info("%s: %s", name, error)
                _refuse(module, graph, error, refusals, maker)
        return parts if len(parts) == len(names) else None

    if make_all(maker.bring_in) is None:
        return None
    maker.begin(modules.values())
    return make_all(maker.compile)


def _refuse(module, graph, error, refusals, maker):
    """Takes apart, or leaves to PyTorch, what an error is about.

    Where the error does not tell, and the part cannot be imported, that is
    searched. If it can, no operation alone may be at fault, and the part is cut
    in two, of which one at least may do without the error.
    """
    nodes = _operations(module)
    reasons = {name: reason
               for name, reason in fx.failing_nodes(error, nodes).items()
               if not refusals.is_refused(name)}  # And yet it was in a part.
    reason = _first_line(_cause(error))
    if (not reasons and not maker.is_imported(module)
            and not torch_mlir.is_time_limit(error) and refusals.may_search()):
        maker.error = error
        culprit = culprits.find(module, lambda part: not maker.imports(part))
        reasons = {fx.name_of(culprit): _cause(maker.error)}
    for name, own in reasons.items():
        if not refusals.take_apart(name, nodes[name].target):
            refusals.refuse_alike(name, graph, _first_line(own))
    if not reasons and not refusals.cut(module, graph, len(maker.parts)):
        for name in nodes:
            refusals.refuse(name, reason)


def _cause(error):
    """Never empty: a reason is what tells that something was refused."""
    return getattr(error, "cause", "") or str(error) or type(error).__name__


def _first_line(reason):
    return reason.strip().split("\n")[0][:300]


def _add_report(module, kind, parts, sizes, refusals):
    fallbacks = [reports.Fallback(str(node.target), reason,
                                  reports.line_of(node))
                 for node, reason in refusals.of(module.graph)]
    graph = reports.GraphReport(kind, tuple(
        reports.CompiledPart(sizes[name], part.entry.kernels_after,
                             part.cached, part.seconds, part.package,
                             part.report)
        for name, part in parts.items()), tuple(fallbacks))
    for one in fallbacks:
        LOG.info("left to PyTorch: %s: %s %s", one.operator, one.reason,
                 one.line)
    reports.add(graph)
