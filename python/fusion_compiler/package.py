# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages: loading, what is inside, and running them."""

import ctypes
import dataclasses
import json
import os
import pathlib
import tempfile
import threading
import typing
import weakref

import numpy as np

from fusion_compiler import abi, arrays, tensors
from fusion_compiler.devices import Device, Memory, default_device
from fusion_compiler.errors import FusionError


@dataclasses.dataclass(frozen=True)
class TensorSpec:
    """One input or output of an entry.

    `dtype` is "f32", "bf16", "i8", …; `dims` has an int for a fixed size and a
    string, the expression of the size, for a dynamic one; `by_value` marks a
    scalar that is passed as a number. `overwrites` is, of an output that is the
    memory of an input, the number of that input.
    """
    name: str
    dtype: str
    dims: tuple
    by_value: bool = False
    overwrites: typing.Optional[int] = None


def _spec(info):
    dims = tuple(size if size >= 0 else (name or b"?").decode()
                 for size, name in zip(info.dims[:info.rank],
                                       info.dimNames[:info.rank]))
    return TensorSpec((info.name or b"").decode(), abi.DTYPES[info.dtype],
                      dims, bool(info.byValue),
                      info.overwrittenInput if info.overwritesInput else None)


def _tensor(spec, shape):
    """A tensor without an address, and the array that holds its sizes."""
    dims = (ctypes.c_int64 * max(len(shape), 1))(*shape)
    return abi.Tensor(0, None, dims, abi.DTYPES.index(spec.dtype),
                      len(shape)), dims


def _scalar(number, spec, what):
    """A by-value input and the array that holds its bytes."""
    kind = {"bf16": np.float32}.get(spec.dtype)
    value = np.asarray(number.item() if hasattr(number, "item") else number)
    if value.shape != ():
        raise TypeError(f"{what}: expected a number")
    wanted = kind or arrays.empty_storage(spec.dtype, ()).dtype
    if not np.can_cast(value, wanted, "same_kind"):
        raise TypeError(f"{what}: expected {spec.dtype}, got {value.dtype}")
    if np.issubdtype(wanted, np.integer) and int(value) != int(
            value.astype(wanted)):
        raise ValueError(f"{what}: {value} does not fit {spec.dtype}")
    stored = arrays.to_device(value.astype(wanted), spec.dtype, what)
    return abi.Tensor(0, stored.ctypes.data, None,
                      abi.DTYPES.index(spec.dtype), 0), stored


class _Plan:
    """One set of sizes and scalars of an entry: descriptions of the inputs and
    outputs that lack only the addresses, and the size of the workspace."""

    def __init__(self, handle, entry, inputs, scalars):
        # The memory that the descriptions point to, and copies of them too.
        self._kept = []
        self.inputs = (abi.Tensor * max(len(inputs), 1))()
        for i, number, stored in scalars:
            self.inputs[i] = number
            self._kept.append(stored)
        for i in entry._tensors:
            self.inputs[i] = self._describe(entry.inputs[i], inputs[i].shape)
        count = len(entry.outputs)
        shapes = (abi.Shape * max(count, 1))()
        abi.call("InferShapes", handle, self.inputs, len(inputs), shapes, count)
        self.shapes = [tuple(s.dims[:s.rank]) for s in shapes[:count]]
        self.outputs = (abi.Tensor * max(count, 1))(*(
            self._describe(spec, shape)
            for spec, shape in zip(entry.outputs, self.shapes)))
        size = ctypes.c_uint64()
        abi.call("QueryWorkspace", handle, self.inputs, len(inputs),
                 ctypes.byref(size))
        self.workspace_size = size.value

    def _describe(self, spec, shape):
        tensor, dims = _tensor(spec, shape)
        self._kept.append(dims)
        return tensor

    def fill_in(self):
        """Copies of the two descriptions, for one call's addresses."""
        return (type(self.inputs).from_buffer_copy(self.inputs),
                type(self.outputs).from_buffer_copy(self.outputs))


class Entry:
    """One function of a package, on one device."""

    def __init__(self, loaded, handle):
        self._loaded, self._handle = loaded, handle
        info = abi.query(abi.EntryInfo, "EntryGetInfo", handle)
        self.name = info.name.decode()
        self.kernels_before = info.kernelsBefore
        self.kernels_after = info.kernelsAfter
        self.predicted_us = (info.predictedMicroseconds
                             if info.predictedMicroseconds >= 0 else None)
        self.inputs = tuple(
            _spec(abi.query(abi.TensorInfo, "EntryGetInput", handle, i))
            for i in range(info.numInputs))
        self.outputs = tuple(
            _spec(abi.query(abi.TensorInfo, "EntryGetOutput", handle, i))
            for i in range(info.numOutputs))
        self._tensors = [i for i, spec in enumerate(self.inputs)
                         if not spec.by_value]
        self._scalars = [i for i, spec in enumerate(self.inputs)
                         if spec.by_value]
        self._plans = {}

    def __call__(self, *inputs, out=None):
        """Runs the entry: one result, or a tuple of several.

        `out` gives the memory of the results: one tensor or array, or a
        sequence of them. With PyTorch tensors the call returns when the work
        is on the current stream; keep the package until it is done. A result
        that overwrites an argument is that PyTorch tensor; NumPy arrays are
        copied to the device, so that they stay as they are.
        """
        self._check_count(inputs, "argument", self.inputs)
        if out is not None and not isinstance(out, (tuple, list)):
            out = (out,)
        if out is not None:
            self._check_count(out, "output", self.outputs)
        if self._on_torch(inputs, out):
            results = self._run_torch(inputs, out)
        else:
            results = self._run_numpy(inputs, out)
        return results[0] if len(results) == 1 else tuple(results)

    def figures(self, *inputs):
        """What the package says for these sizes, as a dictionary.

        bytes_before and bytes_after (memory traffic unfused and fused), flops,
        workspace_bytes and launches; None where the package has no figure.
        """
        self._check_count(inputs, "argument", self.inputs)
        inputs = [value if spec.by_value or tensors.is_tensor(value)
                  else np.asarray(value)
                  for value, spec in zip(inputs, self.inputs)]
        info = abi.query(abi.Figures, "QueryFigures", self._handle,
                         self._plan(inputs).inputs, len(inputs))
        values = {"bytes_before": info.bytesBefore,
                  "bytes_after": info.bytesAfter, "flops": info.flops,
                  "workspace_bytes": info.workspaceBytes,
                  "launches": info.numLaunches}
        return {key: None if value < 0 else value
                for key, value in values.items()}

    def __repr__(self):
        def show(specs):
            return ", ".join("x".join(map(str, (*s.dims, s.dtype)))
                             for s in specs)
        return (f"<fusion.Entry {self.name}({show(self.inputs)}) -> "
                f"({show(self.outputs)})>")

    def _check_count(self, values, what, specs):
        if len(values) != len(specs):
            raise TypeError(f"{self.name} has {len(specs)} {what}s, got "
                            f"{len(values)}")

    def _what(self, index, spec, kind="argument"):
        name = f" ({spec.name})" if spec.name else ""
        return f"{self.name}, {kind} {index}{name}"

    def _on_torch(self, inputs, out):
        values = [value for value, spec in zip(inputs, self.inputs)
                  if not spec.by_value] + list(out or ())
        on_torch = [tensors.is_tensor(value) for value in values]
        if any(on_torch) and not all(on_torch):
            raise TypeError(f"{self.name}: PyTorch tensors and other arrays "
                            "cannot be mixed in one call")
        return bool(on_torch) and on_torch[0]

    def _plan(self, inputs):
        """What depends on the sizes and scalars of a call alone, remembered."""
        scalars = [(i, *_scalar(inputs[i], self.inputs[i],
                                self._what(i, self.inputs[i])))
                   for i in self._scalars]
        key = (tuple(tuple(inputs[i].shape) for i in self._tensors),
               tuple(stored.tobytes() for _, _, stored in scalars))
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) >= 1024:  # Sizes that never come again.
                self._plans.clear()
            plan = self._plans[key] = _Plan(self._handle, self, inputs, scalars)
        return plan

    def _launch(self, described, outputs, stream, workspace, size):
        abi.call("Launch", self._handle, ctypes.byref(abi.LaunchArgs(
            inputs=described, outputs=outputs, numInputs=len(self.inputs),
            numOutputs=len(self.outputs), stream=stream, workspace=workspace,
            workspaceBytes=size)))

    def _check_shape(self, value, shape, spec, index):
        if tuple(value.shape) != shape:
            raise ValueError(f"{self._what(index, spec, 'output')}: expected "
                             f"shape {shape}, got {tuple(value.shape)}")

    def _run_torch(self, inputs, out):
        for i in self._tensors:
            tensors.check(inputs[i], self.inputs[i].dtype,
                          lambda i=i: self._what(i, self.inputs[i]))
        device = next(v.device for v in (*inputs, *(out or ()))
                      if tensors.is_tensor(v))
        if str(device) != self._loaded.device.name:
            elsewhere = self._loaded.package_on(str(device))
            return elsewhere[self.name]._run_torch(inputs, out)
        plan = self._plan(inputs)
        described, outputs = plan.fill_in()
        for i in self._tensors:
            if inputs[i].device != device:
                raise ValueError(f"{self._what(i, self.inputs[i])}: on "
                                 f"{inputs[i].device}, others on {device}")
            described[i].address = inputs[i].data_ptr()
        results = []
        for i, (spec, shape) in enumerate(zip(self.outputs, plan.shapes)):
            if spec.overwrites is not None:
                result = inputs[spec.overwrites]
                if out is not None and out[i].data_ptr() != result.data_ptr():
                    raise ValueError(
                        f"{self._what(i, spec, 'output')}: is the memory of "
                        f"argument {spec.overwrites}; pass that tensor")
            elif out is None:
                result = tensors.empty(shape, spec.dtype, device)
            else:
                result = out[i]
                tensors.check(result, spec.dtype,
                              lambda i=i: self._what(i, self.outputs[i],
                                                     "output"))
                self._check_shape(result, shape, spec, i)
            results.append(result)
            outputs[i].address = result.data_ptr()
        address = 0
        if plan.workspace_size:
            workspace = tensors.workspace(plan.workspace_size, device)
            address = workspace.data_ptr()
        self._launch(described, outputs, tensors.current_stream(device),
                     address, plan.workspace_size)
        return results

    def _run_numpy(self, inputs, out):
        device = self._loaded.device
        inputs = [value if spec.by_value else np.asarray(value)
                  for value, spec in zip(inputs, self.inputs)]
        stored = {i: arrays.to_device(inputs[i], self.inputs[i].dtype,
                                      self._what(i, self.inputs[i]))
                  for i in self._tensors}
        plan = self._plan(inputs)
        described, outputs = plan.fill_in()
        memories, where = [], {}

        def allocate(size, name):
            memories.append(Memory(device, size, name))
            return memories[-1]

        try:
            for i, array in stored.items():
                memory = allocate(array.nbytes,
                                  self.inputs[i].name or f"arg{i}")
                memory.copy_from(array)
                described[i].address = memory.address
                where[i] = memory
            host = [arrays.empty_storage(spec.dtype, shape)
                    for spec, shape in zip(self.outputs, plan.shapes)]
            results = [where[spec.overwrites] if spec.overwrites is not None
                       else allocate(array.nbytes, spec.name or f"result{i}")
                       for i, (spec, array) in enumerate(zip(self.outputs,
                                                             host))]
            for output, memory in zip(outputs, results):
                output.address = memory.address
            self._launch(described, outputs, None, 0, 0)
            for memory, array in zip(results, host):
                memory.copy_to(array)
        finally:
            for memory in memories:
                memory.free()
        results = [arrays.from_device(array, spec.dtype, shape)
                   for spec, shape, array in zip(self.outputs, plan.shapes,
                                                 host)]
        if out is None:
            return results
        for i, (spec, result) in enumerate(zip(self.outputs, results)):
            self._check_shape(out[i], result.shape, spec, i)
            out[i][...] = result
        return list(out)


class _Loaded:
    """A package on one device. The owner keeps it; a strong reference back
    would leave the kernels loaded until some later garbage collection."""

    def __init__(self, owner, data, device):
        self._owner, self.device = weakref.ref(owner), device
        self.handle = abi.handle("PackageLoad", device.handle, data, len(data))
        weakref.finalize(self, _unload, self.handle, device.name)
        self.info = abi.query(abi.PackageInfo, "PackageGetInfo", self.handle)
        entries = [Entry(self, abi.handle("PackageGetEntry", self.handle, i))
                   for i in range(self.info.numEntries)]
        self.entries = {entry.name: entry for entry in entries}

    def package_on(self, device_name):
        """The same package on another device."""
        owner = self._owner()
        if owner is None:
            raise FusionError.of(
                "FUS-1304", f"the tensors are on {device_name}, and the "
                f"package, loaded on {self.device.name}, is gone",
                "keep the Package")
        return owner.on(device_name)

    def __getitem__(self, name):
        return self.entries[name]


def _unload(handle, device_name):
    if device_name.startswith("cuda:"):
        try:
            tensors.synchronize(int(device_name[len("cuda:"):]))
        except RuntimeError:
            pass  # The device is in error: nothing is running on it.
    abi.library().fusionRtPackageDestroy(handle)


class Package:
    """Compiled kernels with their launch plan.

    Called with arrays it runs its only entry; `package["name"]` is one of
    several. It is loaded on a device at its first use there.
    """

    def __init__(self, data, device=None):
        self.data = bytes(data)
        self._loaded, self._lock = {}, threading.Lock()
        self._device = device

    def on(self, device=None):
        """The entries by name, on a device ("cuda:1", "emulator", a Device)."""
        device = device or self._device or default_device()
        if not isinstance(device, Device):
            device = Device.open(device)
        with self._lock:
            if device.name not in self._loaded:
                self._loaded[device.name] = _Loaded(self, self.data, device)
            return self._loaded[device.name]

    def __call__(self, *inputs, out=None):
        return self._only()(*inputs, out=out)

    def __getitem__(self, name):
        try:
            return self.on().entries[name]
        except KeyError:
            raise KeyError(f"the package has no entry {name!r}, only "
                           f"{', '.join(self.entries)}") from None

    def figures(self, *inputs):
        """Entry.figures of the only entry."""
        return self._only().figures(*inputs)

    @property
    def device(self):
        """The device for NumPy arrays."""
        return self.on().device

    @property
    def entries(self):
        """The names of the entries."""
        return list(self.on().entries)

    @property
    def target(self):
        """The chip that the package was compiled for."""
        return (self.on().info.target or b"").decode()

    @property
    def num_kernels(self):
        """The number of distinct kernels."""
        return self.on().info.numKernels

    @property
    def ledger(self):
        """Every fusion decision with its reason and numbers, or None."""
        text = self.on().info.ledgerJson
        return json.loads(text) if text else None

    @property
    def kernels(self):
        """What is known of each kernel, as dictionaries."""
        result = []
        for i in range(self.num_kernels):
            info = abi.query(abi.KernelInfo, "PackageGetKernel",
                             self.on().handle, i)
            values = {name: getattr(info, name)
                      for name, _ in abi.KernelInfo._fields_[1:]}
            result.append({key: value.decode() if isinstance(value, bytes)
                           else value for key, value in values.items()})
        return result

    def save(self, path):
        """Writes the package: either the whole of it, or nothing."""
        path = pathlib.Path(path)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent,
                                                 prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(self.data)
            # mkstemp made the file private; give it a new file's mode.
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, 0o666 & ~mask)
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise

    def __repr__(self):
        return (f"<fusion.Package for {self.target} on {self.device.name}: "
                f"{', '.join(map(repr, self.on().entries.values()))}>")

    def _only(self):
        entries = self.on().entries
        if len(entries) != 1:
            raise TypeError("the package has several entries; choose one: "
                            f"package[name], name in {', '.join(entries)}")
        return next(iter(entries.values()))


def load(path, device=None):
    """Loads a package from a file.

    `device` is where it runs on NumPy arrays: "cuda", "cuda:N" or "emulator";
    by default the first GPU, or the emulator where there is none.
    """
    return Package(pathlib.Path(path).read_bytes(), device)
