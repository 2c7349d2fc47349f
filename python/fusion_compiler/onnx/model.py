# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled ONNX model, and its conversions of arrays."""

import threading

import numpy as np

from fusion_compiler import compiler, tensors
from fusion_compiler.errors import FusionError
from fusion_compiler.files import Numbered
from fusion_compiler.importing.onnx_lowering import Importer

# What the compiler has in place of types that NumPy or ONNX have.
_SIGNED = {"uint8": np.int8, "uint16": np.int16, "uint32": np.int32,
           "uint64": np.int64}
_BITS = {"float8_e4m3fn": np.uint8, "float8_e5m2": np.uint8}


def _bad(cause, remedy):
    return FusionError.of("FUS-1309", cause, remedy)


def to_argument(array, dtype):
    """An array as the compiled function takes it."""
    if dtype in _SIGNED:
        return array.view(_SIGNED[dtype])
    if dtype in ("int4", "uint4"):  # One a byte; the runtime packs them.
        wide = array.astype(np.int8)
        return np.where(wide > 7, wide - 16, wide).astype(np.int8)
    return array


def from_result(array, dtype):
    """A result of the compiled function as ONNX has it."""
    if dtype in _SIGNED:
        return array.view(dtype)
    if dtype == "uint4":
        array = array & 15
    if dtype in ("bfloat16", "int4", "uint4", *_BITS):
        import ml_dtypes
        wanted = np.dtype(getattr(ml_dtypes, dtype))
        return (array.view(wanted) if dtype in _BITS
                else array.astype(wanted))
    return array


def _on_host(value):
    return value.cpu().numpy() if tensors.is_tensor(value) else np.asarray(
        value)


class Model:
    """An ONNX model on this compiler.

    Called with arrays, by position or by the names of `inputs`, it gives its
    one result or a tuple of them: NumPy arrays (of ml_dtypes' types where
    NumPy has none), or PyTorch CUDA tensors. Inputs that sizes or control flow
    depend on (`static_inputs`) are compiled for, once for each of their
    values.
    """

    def __init__(self, source, target=None, device=None, fast_numerics=False,
                 time_limit=None, report=None):
        self._importer = Importer(source)
        self._options = {"target": target, "device": device,
                         "fast_numerics": fast_numerics,
                         "time_limit": time_limit}
        self._reports = Numbered(report)
        self.inputs, self.outputs = (self._importer.inputs,
                                     self._importer.outputs)
        self.static_inputs = self._importer.static_inputs
        self._compiled, self._lock = {}, threading.Lock()
        self._on_device = {}
        if not self.static_inputs:
            self.specialize()

    def specialize(self, **static):
        """(Program, Package) for values of the static inputs, by name."""
        for name in self.static_inputs:
            if name not in static:
                raise TypeError(f"the model needs its input {name}, from "
                                "which sizes are computed")
        key = tuple((static[name].dtype.str, static[name].shape,
                     static[name].tobytes()) for name in self.static_inputs)
        with self._lock:
            if key not in self._compiled:
                self._compiled[key] = self._compile(static)
            return self._compiled[key]

    def _compile(self, static):
        program = self._importer.lower(static)
        report = self._reports.take()
        try:
            return program, self._package(program, report)
        except FusionError as error:
            # What the compiler refuses may have another form.
            try:
                other = self._importer.lower(static, expand_all=True)
                if other.expanded == program.expanded:
                    raise error
                return other, self._package(other, report)
            except FusionError:
                raise error from None

    def _package(self, program, report):
        return compiler.compile(program.text, file_name="model.onnx.mlir",
                                report=report, **self._options)

    @property
    def package(self):
        """The Package of a model without static inputs."""
        return self.specialize()[1]

    @property
    def program(self):
        """The Program of a model without static inputs."""
        return self.specialize()[0]

    def __call__(self, *args, **named):
        values = self._bind(args, named)
        static = {name: _on_host(values[name]) for name in self.static_inputs}
        on_torch = [name for name, value in values.items()
                    if tensors.is_tensor(value)]
        self._check(values)
        program, package = self.specialize(**static)
        if on_torch:
            return self._run_torch(program, package, values)
        arguments = [to_argument(np.asarray(values[one.name]), one.dtype)
                     for one in program.inputs]
        arguments += [to_argument(np.asarray(array), array.dtype.name)
                      for array in program.weights.values()]
        results = package[package.entries[0]](*arguments)
        if len(program.outputs) == 1:
            return from_result(results, self.outputs[0].dtype)
        return tuple(from_result(result, one.dtype)
                     for result, one in zip(results, self.outputs))

    def _run_torch(self, program, package, values):
        """PyTorch CUDA tensors in and out; the weights are copied once."""
        import torch
        device = next(value.device for value in values.values()
                      if tensors.is_tensor(value))
        key = (id(program), str(device))
        if key not in self._on_device:
            self._on_device[key] = [
                torch.from_numpy(np.array(to_argument(array,
                                                      array.dtype.name)))
                .to(device) for array in program.weights.values()]
        def view(value, dtype):
            return (value.view(getattr(torch, dtype)) if tensors.is_tensor(
                value) else value)

        arguments = [view(values[one.name], np.dtype(_SIGNED[one.dtype]).name)
                     if one.dtype in _SIGNED else values[one.name]
                     for one in program.inputs]
        results = package[package.entries[0]](*arguments,
                                              *self._on_device[key])
        single = len(self.outputs) == 1
        results = tuple(
            view(result, one.dtype) if one.dtype in _SIGNED else result
            for result, one in zip((results,) if single else results,
                                   self.outputs))
        return results[0] if single else results

    def _bind(self, args, named):
        names = [one.name for one in self.inputs]
        if len(args) > len(names):
            raise TypeError(f"the model has {len(names)} inputs, got "
                            f"{len(args)}")
        values = dict(zip(names, args))
        for name, value in named.items():
            if name not in names or name in values:
                raise TypeError(f"{name}: " + ("given twice" if name in values
                                else "no input; the model has "
                                + ", ".join(names)))
            values[name] = value
        missing = [name for name in names if name not in values]
        if missing:
            raise TypeError(f"missing input {missing[0]}")
        return values

    def _check(self, values):
        """Refuses arrays that do not fit the model's inputs (FUS-1309)."""
        sizes = {}
        for one in self.inputs:
            value = values[one.name]
            if not tensors.is_tensor(value):
                value = np.asarray(value)
                if value.dtype.name != one.dtype:
                    raise _bad(f"input {one.name} has elements of "
                               f"{one.dtype}, got {value.dtype.name}",
                               f"pass .astype({one.dtype!r})")
            shape = tuple(value.shape)
            fits = len(shape) == len(one.dims) and all(
                sizes.setdefault(dim, size) == size if isinstance(dim, str)
                else dim in (None, size)
                for dim, size in zip(one.dims, shape))
            if not fits:
                known = {dim: sizes[dim] for dim in one.dims if dim in sizes
                         and isinstance(dim, str)}
                raise _bad(f"input {one.name} is of {one.dims}, got {shape}"
                           + (f" where {known}" if known else ""),
                           "pass an array of that shape")

    def __repr__(self):
        def show(values):
            return ", ".join(f"{one.name}: {one.dtype}{list(one.dims)}"
                             for one in values)
        return (f"<fusion.onnx.Model({show(self.inputs)}) -> "
                f"({show(self.outputs)})>")


def compile(source, target=None, device=None,  # noqa: A001
            fast_numerics=False, time_limit=None, report=None):
    """Compiles an ONNX model: a path, the bytes of a file, or a ModelProto.

    `target`, `device`, `fast_numerics`, `time_limit` and `report` are as in
    `fusion.compile`; a model with static inputs has a page for each of their
    values, F.html, F-2.html, … Returns a Model.

    Raises FusionError: FUS-1305 and FUS-1306 for packages that are missing or
    do not fit, FUS-1308 for what is no model, FUS-1307 with the node's name
    for what cannot be lowered, and the compiler's own.
    """
    return Model(source, target, device, fast_numerics, time_limit, report)
