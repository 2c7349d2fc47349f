# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of torch.export as packages, which run without Python."""

import torch

from fusion_compiler.errors import FusionError
from fusion_compiler.importing import decompositions, fx
from fusion_compiler.torch import forms, partition
from fusion_compiler.torch.backend import Options
from fusion_compiler.torch.parts import Imported, Part


def _not_exported(cause):
    return FusionError.of("FUS-1310", cause, "take that out of the program, "
                          "or use torch.compile, which leaves it to PyTorch")


def _compile(module, options):
    """The Part that is all of a graph."""
    refusals = partition.Refusals(torch.device("cpu"))
    for node, reason in refusals.of(module.graph):
        raise _not_exported(f"{node.target}: {reason}")
    if any(partition.gives_seeds(node) for node in module.graph.nodes):
        raise _not_exported("it draws random numbers")
    nodes = {fx.name_of(node): node for node in module.graph.nodes}
    while True:
        try:
            return Part(Imported(module, refusals.device, options,
                                 refusals.taken_apart))
        except FusionError as error:
            found = fx.failing_nodes(error, nodes)
            if not any([refusals.take_apart(name, nodes[name].target)
                        for name in found]):
                raise _not_exported(f"{error.file or 'the program'}: "
                                    f"{error.cause}") from error


def export(program, path=None, *, target="sm_90a", fast_numerics=False):
    """A `torch.export.ExportedProgram` as one Package; `path` is where it is
    saved.

    The inputs of its entry are the program's parameters, buffers and
    constants, then the arguments, in the order of
    `program.graph_signature.input_specs`; the outputs are the program's.
    Raises FUS-1310 where anything would be left to PyTorch: the message names
    the operation. The trace is that of tensors on the CPU, the package is for
    `target`.
    """
    program = program.run_decompositions(decompositions.of_exported())
    signature = program.graph_signature
    if signature.buffers_to_mutate or signature.user_inputs_to_mutate:
        changed = [*signature.buffers_to_mutate.values(),
                   *signature.user_inputs_to_mutate.values()]
        raise _not_exported(f"the program writes to {', '.join(changed)}")
    module = torch.fx.GraphModule(program.graph_module,
                                  partition.copy_graph(program.graph))
    forms.replace(module.graph)
    part = _compile(module, Options(target, fast_numerics))
    if len(part.used) < part.num_inputs or part.constants:
        raise _not_exported("an argument or parameter of the program is never "
                            "read, or a tensor in it is no parameter")
    if path is not None:
        part.package.save(path)
    return part.package
