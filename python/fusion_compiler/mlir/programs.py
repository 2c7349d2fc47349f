# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiling, planning and running passes on modules (fusion-c/Module.h).

Modules that are passed in stay as they are: the compiler works on clones, so
that no Python object loses its operation.
"""

import ctypes
import dataclasses
import json
import typing
from ctypes import byref, c_void_p

from fusion_compiler import compiler
from fusion_compiler.devices import Device
from fusion_compiler.mlir.handles import (Handle, StringRef, declare,
                                          handle, library, new_object)
from fusion_compiler.package import Package


_clone_operation = declare("mlirOperationClone", Handle, Handle)
_module_from_operation = declare("mlirModuleFromOperation", Handle, Handle)


@dataclasses.dataclass(frozen=True)
class Plan:
    """What the planner decided: for people, and as the JSON of
    docs/schema/explanation.schema.json."""

    explanation: str
    ledger: typing.Dict[str, typing.Any]


def _run(function, subject, argument) -> compiler.Outcome:
    compilation = c_void_p()
    status = function(subject, argument, byref(compilation))
    return compiler.take_outcome(library, status, compilation)


def _options(target, phase=None, fast_numerics=False):
    return byref(compiler.CompileOptions(
        structSize=ctypes.sizeof(compiler.CompileOptions),
        target=target and target.encode(),
        compileTo=phase and phase.encode(), fastNumerics=fast_numerics))


def _clone(module) -> typing.Any:
    """A clone of a module."""
    handle(module, "Module")
    clone = _clone_operation(handle(module.operation, "Operation"))
    return new_object("Module", _module_from_operation(clone))


def compile(module: typing.Any,  # noqa: A001
            target: typing.Optional[str] = None,
            device: typing.Union[str, Device, None] = None,
            fast_numerics: bool = False) -> Package:
    """Compiles an mlir.ir.Module to a package, in this process.

    `target` is the chip, by default the module's `fusion.target` or sm_90a;
    `device` is where the package runs, as in `fusion_compiler.load`. With
    `fast_numerics` roundings that the program declares may be left out. Raises
    FusionError with the code, the place, the cause and the remedy of the first
    error.
    """
    clone = _clone(module)  # Its handle does not keep it.
    outcome = _run(library.fusionCompileModule, handle(clone, "Module"),
                   _options(target, fast_numerics=fast_numerics))
    package = Package(outcome.output, device)
    package.explanation = outcome.explanation
    return package


def compile_to(phase: str, module: typing.Any,
               target: typing.Optional[str] = None) -> typing.Any:
    """A new module: the program as a phase before the package leaves it,
    "plan" for example."""
    result = _clone(module)
    _run(library.fusionCompileModule, handle(result, "Module"),
         _options(target, phase))
    return result


def plan(op: typing.Any, target: typing.Optional[str] = None) -> Plan:
    """What the planner alone decides on a function, or on all functions of a
    module, that is of the form that the input phase leaves
    (`run_pipeline("builtin.module(fusion-input)", module)`)."""
    outcome = _run(library.fusionPlanOperation,
                   handle(op.operation, "Operation"), _options(target))
    return Plan(outcome.explanation, json.loads(outcome.ledger))


def run_pipeline(pipeline: str, module: typing.Any) -> typing.Any:
    """A new module: the given one after the passes of a pipeline, MLIR's and
    Fusion's: "builtin.module(fusion-to-plan{target=sm_90a})"."""
    result = _clone(module)
    _run(library.fusionRunPipeline, handle(result.operation, "Operation"),
         StringRef.of(pipeline))
    return result

