# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entries: the functions of a package, and the ways to call them."""

import ctypes
import dataclasses
import functools
import typing

import numpy as np

from fusion_compiler import abi, arrays, device_arrays, native, tensors
from fusion_compiler.device_arrays import DeviceArray
from fusion_compiler.devices import Memory
from fusion_compiler.errors import BadTensorType, BadTensorValue


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
    dims: typing.Tuple[typing.Union[int, str], ...]
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
        raise BadTensorType.because(
            f"{what}: expected a number, got an array of "
            f"shape {value.shape}", "pass one number")
    wanted = kind or arrays.empty_storage(spec.dtype, ()).dtype
    # An int that none of NumPy's types holds.
    is_huge = value.dtype == object and isinstance(value[()], int)
    if not is_huge and not np.can_cast(value, wanted, "same_kind"):
        raise BadTensorType.because(
            f"{what}: expected {spec.dtype}, got {value.dtype}",
            "convert it before the call")
    if is_huge or (np.issubdtype(wanted, np.integer) and
                   int(value) != int(value.astype(wanted))):
        raise BadTensorValue.because(
            f"{what}: {value} does not fit {spec.dtype}",
            "pass a number that does")
    stored = arrays.to_device(value.astype(wanted), spec.dtype, what)
    return abi.Tensor(0, stored.ctypes.data, None,
                      abi.DTYPES.index(spec.dtype), 0), stored


class _Plan:
    """One set of sizes and scalars of an entry: descriptions of the inputs and
    outputs that lack only the addresses, and the size of the workspace."""

    def __init__(self, handle, entry, shapes, scalars):
        # The memory that the descriptions point to, and copies of them too.
        self._kept = []
        num_inputs = len(entry.inputs)
        self.inputs = (abi.Tensor * max(num_inputs, 1))()
        for i, number, stored in scalars:
            self.inputs[i] = number
            self._kept.append(stored)
        for i, shape in zip(entry._tensors, shapes):
            self.inputs[i] = self._describe(entry.inputs[i], shape)
        count = len(entry.outputs)
        inferred = (abi.Shape * max(count, 1))()
        abi.call("InferShapes", handle, self.inputs, num_inputs, inferred,
                 count)
        self.shapes = [tuple(s.dims[:s.rank]) for s in inferred[:count]]
        self.outputs = (abi.Tensor * max(count, 1))(*(
            self._describe(spec, shape)
            for spec, shape in zip(entry.outputs, self.shapes)))
        size = ctypes.c_uint64()
        abi.call("QueryWorkspace", handle, self.inputs, num_inputs,
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
    """One function of a package, on one device.

    Attributes: `name`; `inputs` and `outputs`, tuples of TensorSpec;
    `kernels_before` and `kernels_after` fusion; `predicted_us`, the time that
    the compiler predicts in microseconds, or None where sizes are not fixed.
    """

    def __init__(self, loaded, handle):
        self._loaded, self._handle = loaded, handle
        info = abi.query(abi.EntryInfo, "EntryGetInfo", handle)
        self.name: str = info.name.decode()
        self.kernels_before: int = info.kernelsBefore
        self.kernels_after: int = info.kernelsAfter
        self.predicted_us: typing.Optional[float] = (
            info.predictedMicroseconds
            if info.predictedMicroseconds >= 0 else None)
        self.inputs: typing.Tuple[TensorSpec, ...] = tuple(
            _spec(abi.query(abi.TensorInfo, "EntryGetInput", handle, i))
            for i in range(info.numInputs))
        self.outputs: typing.Tuple[TensorSpec, ...] = tuple(
            _spec(abi.query(abi.TensorInfo, "EntryGetOutput", handle, i))
            for i in range(info.numOutputs))
        self._tensors = [i for i, spec in enumerate(self.inputs)
                         if not spec.by_value]
        self._scalars = [i for i, spec in enumerate(self.inputs)
                         if spec.by_value]
        symbols = [abi.query(abi.SymbolInfo, "EntryGetSymbol", handle, i)
                   for i in range(info.numSymbols)]
        # The by-value inputs that sizes depend on.
        self._size_inputs = {s.input for s in symbols if s.dim < 0}
        self._plans = {}

    def __call__(self, *inputs, out=None):
        """Runs the entry: one result, or a tuple of several.

        `inputs` are the entry's, in order: arrays of the shapes and element
        types that `Entry.inputs` says, and numbers for those by value. All
        arrays are of one kind, and so are the results:

        - NumPy arrays and what becomes one are copied to the device and back.
        - PyTorch CUDA tensors are used in place; the call returns when the
          work is on the current stream; keep the package until it is done.
        - PyTorch CPU tensors run on the emulator.
        - Other arrays on a CUDA device (`__dlpack__` or
          `__cuda_array_interface__`) are used in place; results are
          DeviceArray, complete when the call returns.

        `out` gives the memory of the results: one tensor or array, or a
        sequence of them. A result that overwrites an argument is that tensor;
        NumPy arrays are copied to the device, so that they stay as they are.

        Raises FusionError; that of code FUS-1309 is a TypeError for a wrong
        kind or element type and a ValueError for wrong sizes, strides or
        places.
        """
        return self._call(*inputs, out=out)

    def launcher(self, input_orders=None, output_orders=None, released=None,
                 least_gain=0):
        """A function of a list, for callers that have checked the arguments.

        What it returns is called with one list: PyTorch tensors, and ints or
        floats for inputs by value. It returns the list of results. Element
        types, devices and ranks are still looked at; what is not contiguous
        or not aligned is copied; sizes that contradict each other are the
        runtime's error. A result that overwrites an argument is that tensor.

        `output_orders` has for each result None or a permutation: for each
        axis of the package's result, which axis it is of the tensor that is
        returned. With (0, 2, 3, 1) a result of N x H x W x C in memory is
        returned as a tensor of N x C x H x W. `input_orders` says the same of
        inputs.

        `released` has for each input whether the launcher may let go of the
        argument once nothing needs it any more. The list is then emptied by the
        call, and the launch goes in sections, between which results and
        temporaries are allocated and arguments are let go of, if each section
        spares at least `least_gain` bytes (docs/Runtime.md). What the caller
        or others still hold stays as it is.
        """
        inputs = _orders(input_orders, self.inputs, "input")
        outputs = _orders(output_orders, self.outputs, "output")
        extension = native.module()
        if extension is not None and isinstance(self, extension.Caller):
            native.bind_torch()
            return extension.Launcher(
                self, inputs, outputs,
                None if released is None else bytes(map(bool, released)),
                least_gain)

        def launch(values):
            taken = tuple(values)
            if released is not None:
                values.clear()
            return self._launch_slow(taken, inputs, outputs)
        return launch

    def figures(self, *inputs) -> typing.Dict[str, typing.Optional[int]]:
        """What the package says for these sizes, as a dictionary.

        bytes_before and bytes_after (memory traffic unfused and fused), flops,
        workspace_bytes and launches; None where the package has no figure.
        """
        self._check_count(inputs, "argument", self.inputs)
        arguments = [value if spec.by_value or hasattr(value, "shape")
                     else np.asarray(value)
                     for value, spec in zip(inputs, self.inputs)]
        info = abi.query(abi.Figures, "QueryFigures", self._handle,
                         self._plan(arguments).inputs, len(inputs))
        values = {"bytes_before": info.bytesBefore,
                  "bytes_after": info.bytesAfter, "flops": info.flops,
                  "workspace_bytes": info.workspaceBytes,
                  "launches": info.numLaunches}
        return {key: None if value < 0 else value
                for key, value in values.items()}

    def __repr__(self) -> str:
        def show(specs):
            return ", ".join("x".join(map(str, (*s.dims, s.dtype)))
                             for s in specs)
        return (f"<fusion.Entry {self.name}({show(self.inputs)}) -> "
                f"({show(self.outputs)})>")

    def _call(self, *inputs, out=None):
        """The call, whatever the arguments are: what `__call__` does, and
        where a call from C ends that has anything unusual about it."""
        self._check_count(inputs, "argument", self.inputs)
        if out is not None and not isinstance(out, (tuple, list)):
            out = (out,)
        if out is not None:
            self._check_count(out, "output", self.outputs)
        place = self._place(inputs, out)
        if place == "torch":
            entry = self._for_tensors(inputs, out)
            if native.bind_torch() or entry is not self:
                return entry(*inputs, out=out)
            results = self._run_torch(inputs, out)
        elif place is None:
            results = self._run_numpy(inputs, out)
        else:
            results = self._on(place)._run_placed(inputs, out)
        return results[0] if len(results) == 1 else tuple(results)

    def _launch_slow(self, values, input_orders, output_orders):
        """What a launcher does, whatever the arguments are."""
        self._check_count(values, "argument", self.inputs)
        given, inputs = list(values), list(values)
        for i in self._tensors:
            what = functools.partial(self._what, i, self.inputs[i])
            if not tensors.is_tensor(given[i]):
                raise BadTensorType.because(
                    f"{what()}: expected a PyTorch tensor, got "
                    f"{type(given[i]).__name__}", "pass a tensor")
            order = input_orders[i]
            if order is not None:
                if given[i].dim() != len(order):
                    raise BadTensorValue.because(
                        f"{what()}: expected {len(order)} dimensions, got "
                        f"{given[i].dim()}", "pass a tensor of that rank")
                inputs[i] = given[i].permute(order)
            tensors.check_kind(inputs[i], what)
            inputs[i] = tensors.fit(inputs[i])
        results = self._run_torch(inputs, None)
        for i, (spec, order) in enumerate(zip(self.outputs, output_orders)):
            if spec.overwrites is not None:
                source = given[spec.overwrites]
                if inputs[spec.overwrites].data_ptr() != source.data_ptr():
                    _write_back(source, results[i],
                                input_orders[spec.overwrites])
                results[i] = source
            elif order is not None:
                results[i] = results[i].permute(_inverse(order))
        return results

    def _on(self, device_name):
        """This entry on a device, loading the package there if need be."""
        if device_name == self._loaded.device.name:
            return self
        return self._loaded.package_on(device_name)[self.name]

    def _device_of(self, inputs, out):
        """The torch.device of the first tensor; without one, the entry's."""
        values = (*(inputs[i] for i in self._tensors), *(out or ()))
        return (values[0].device if values
                else tensors.torch_device(self._loaded.device.name))

    def _for_tensors(self, inputs, out):
        """This entry on the device that serves the tensors, if one does."""
        device = self._device_of(inputs, out)
        if device.type not in ("cuda", "cpu"):
            return self
        return self._on(tensors.device_name(device))

    def _check_count(self, values, what, specs):
        if len(values) != len(specs):
            raise BadTensorType.because(
                f"{self.name} has {len(specs)} {what}s, got {len(values)}",
                "pass as many")

    def _what(self, index, spec, kind="argument"):
        name = f" ({spec.name})" if spec.name else ""
        return f"{self.name}, {kind} {index}{name}"

    def _place(self, inputs, out):
        """Where the arrays of a call are: "torch", the name of a device, or
        None for the host."""
        values = [(self._what(i, self.inputs[i]), inputs[i])
                  for i in self._tensors]
        values += [(self._what(i, self.outputs[i], "output"), value)
                   for i, value in enumerate(out or ())]
        places = ["torch" if tensors.is_tensor(value)
                  else device_arrays.place_of(value, lambda what=what: what)
                  for what, value in values]
        if len(set(places)) < 2:
            return places[0] if places else None
        if "torch" in places:
            raise BadTensorType.because(
                f"{self.name}: PyTorch tensors and other arrays cannot be "
                "mixed in one call", "pass arrays of one kind")
        names = sorted(place or "the host" for place in set(places))
        raise BadTensorType.because(
            f"{self.name}: arrays on {' and on '.join(names)} in one call",
            "pass arrays of one place")

    def _plan(self, inputs):
        """What depends on the sizes and scalars of a call alone, remembered."""
        scalars = [(i, *_scalar(inputs[i], self.inputs[i],
                                self._what(i, self.inputs[i])))
                   for i in self._scalars]
        shapes = tuple(tuple(map(int, inputs[i].shape)) for i in self._tensors)
        key = (shapes, tuple(stored.tobytes() for _, _, stored in scalars))
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) >= 1024:  # Sizes that never come again.
                self._plans.clear()
            plan = self._plans[key] = _Plan(self._handle, self, shapes, scalars)
        return plan

    def _scalar_bytes(self, index, number):
        """The bytes of a by-value input."""
        spec = self.inputs[index]
        return _scalar(number, spec, self._what(index, spec))[1].tobytes()

    def _launch(self, described, outputs, stream, workspace, size):
        abi.call("Launch", self._handle, ctypes.byref(abi.LaunchArgs(
            inputs=described, outputs=outputs, numInputs=len(self.inputs),
            numOutputs=len(self.outputs), stream=stream, workspace=workspace,
            workspaceBytes=size)))

    def _check_shape(self, value, shape, spec, index):
        if tuple(value.shape) != shape:
            raise BadTensorValue.because(
                f"{self._what(index, spec, 'output')}: expected shape "
                f"{shape}, got {tuple(value.shape)}",
                "pass memory of that shape")

    def _run_torch(self, inputs, out):
        for i in self._tensors:
            tensors.check(inputs[i], self.inputs[i].dtype,
                          lambda i=i: self._what(i, self.inputs[i]))
        device = self._device_of(inputs, out)
        for i in self._tensors:
            if inputs[i].device != device:
                raise BadTensorValue.because(
                    f"{self._what(i, self.inputs[i])}: on {inputs[i].device}, "
                    f"others on {device}", f"pass .to({str(device)!r})")
        entry = self._on(tensors.device_name(device))
        plan = entry._plan(inputs)
        results = [self._place_torch(i, shape, inputs, out, device)
                   for i, shape in enumerate(plan.shapes)]
        if entry._loaded.device.is_emulator:
            sources = {i: (inputs[i].data_ptr(), inputs[i].nbytes)
                       for i in self._tensors}
            entry._launch_copied(plan, sources, [
                (result.data_ptr(), result.nbytes) for result in results])
            return results
        described, outputs = plan.fill_in()
        for i in self._tensors:
            described[i].address = inputs[i].data_ptr()
        for output, result in zip(outputs, results):
            output.address = result.data_ptr()
        address = 0
        if plan.workspace_size:
            workspace = tensors.workspace(plan.workspace_size, device)
            address = workspace.data_ptr()
        entry._launch(described, outputs, tensors.current_stream(device),
                      address, plan.workspace_size)
        return results

    def _place_torch(self, index, shape, inputs, out, device):
        """The tensor of a result: an argument's, the caller's or a new one."""
        spec = self.outputs[index]
        if spec.overwrites is not None:
            result = inputs[spec.overwrites]
            if out is not None and out[index].data_ptr() != result.data_ptr():
                raise BadTensorValue.because(
                    f"{self._what(index, spec, 'output')}: is the memory of "
                    f"argument {spec.overwrites}", "pass that tensor")
            return result
        if out is None:
            return tensors.empty(shape, spec.dtype, device)
        what = functools.partial(self._what, index, spec, "output")
        tensors.check(out[index], spec.dtype, what)
        if out[index].device != device:
            raise BadTensorValue.because(
                f"{what()}: on {out[index].device}, others on {device}",
                "pass memory on one device")
        self._check_shape(out[index], shape, spec, index)
        return out[index]

    def _launch_copied(self, plan, sources, targets):
        """Launches with copies to the device and back. `sources` is, by input,
        and `targets`, by output, (address on the host, bytes)."""
        device = self._loaded.device
        described, outputs = plan.fill_in()
        memories, where = [], {}

        def allocate(size, name):
            memories.append(Memory(device, size, name))
            return memories[-1]

        try:
            for i, (address, size) in sources.items():
                memory = allocate(size, self.inputs[i].name or f"arg{i}")
                memory.write(address, size)
                described[i].address = memory.address
                where[i] = memory
            results = [where[spec.overwrites] if spec.overwrites is not None
                       else allocate(size, spec.name or f"result{i}")
                       for i, (spec, (_, size)) in enumerate(
                           zip(self.outputs, targets))]
            for output, memory in zip(outputs, results):
                output.address = memory.address
            self._launch(described, outputs, None, 0, 0)
            for memory, (address, size) in zip(results, targets):
                memory.read(address, size)
        finally:
            for memory in memories:
                memory.free()

    def _run_numpy(self, inputs, out):
        inputs = [value if spec.by_value else device_arrays.to_host(value)
                  for value, spec in zip(inputs, self.inputs)]
        stored = {i: arrays.to_device(inputs[i], self.inputs[i].dtype,
                                      self._what(i, self.inputs[i]))
                  for i in self._tensors}
        plan = self._plan(inputs)
        host = [arrays.empty_storage(spec.dtype, shape)
                for spec, shape in zip(self.outputs, plan.shapes)]
        self._launch_copied(
            plan, {i: (a.ctypes.data, a.nbytes) for i, a in stored.items()},
            [(array.ctypes.data, array.nbytes) for array in host])
        results = [arrays.from_device(array, spec.dtype, shape)
                   for spec, shape, array in zip(self.outputs, plan.shapes,
                                                 host)]
        if out is None:
            return results
        for i, (spec, result) in enumerate(zip(self.outputs, results)):
            self._check_shape(out[i], result.shape, spec, i)
            out[i][...] = result
        return list(out)

    def _run_placed(self, inputs, out):
        """A call with other frameworks' arrays on this entry's device."""
        device = self._loaded.device
        placed = {i: device_arrays.read(
            inputs[i], self.inputs[i].dtype, device,
            functools.partial(self._what, i, self.inputs[i]))
            for i in self._tensors}
        plan = self._plan([placed.get(i, value)
                           for i, value in enumerate(inputs)])
        described, outputs = plan.fill_in()
        for i, array in placed.items():
            described[i].address = array.address
        results, owners = [], [placed]
        for i, shape in enumerate(plan.shapes):
            result, address, owner = self._place_result(i, shape, inputs,
                                                        placed, out)
            outputs[i].address = address
            results.append(result)
            owners.append(owner)
        try:
            self._launch(described, outputs, None, 0, 0)
        finally:
            # The owners may give the memory to others once they are let go.
            abi.call("Synchronize", device.handle, None)
        return results

    def _place_result(self, index, shape, inputs, placed, out):
        """(what the caller gets, its address, what keeps the memory)"""
        device, spec = self._loaded.device, self.outputs[index]
        what = functools.partial(self._what, index, spec, "output")
        taken = None
        if out is not None:
            taken = device_arrays.read(out[index], spec.dtype, device, what)
            if not taken.writable:
                raise BadTensorValue.because(
                    f"{what()}: is read-only",
                    "pass memory that may be written")
            self._check_shape(taken, shape, spec, index)
        if spec.overwrites is not None:
            source = placed[spec.overwrites]
            if taken is not None and taken.address != source.address:
                raise BadTensorValue.because(
                    f"{what()}: is the memory of argument {spec.overwrites}",
                    "pass that array")
            if not source.writable:
                overwritten = self._what(spec.overwrites,
                                         self.inputs[spec.overwrites])
                raise BadTensorValue.because(
                    f"{overwritten}: is overwritten and read-only",
                    "pass memory that may be written")
            return inputs[spec.overwrites], source.address, source
        if taken is not None:
            return out[index], taken.address, taken
        if spec.dtype == "i4":
            raise BadTensorType.because(
                f"{what()}: other frameworks have no i4",
                "use NumPy arrays")
        size = arrays.empty_storage(spec.dtype, ()).nbytes
        memory = Memory(device, size * int(np.prod(shape, dtype=np.int64)),
                        spec.name or f"result{index}")
        return DeviceArray(memory, shape, spec.dtype), memory.address, memory


def _orders(orders, specs, kind):
    """Permutations of a launcher, checked, as the extension takes them."""
    if orders is None:
        return (None,) * len(specs)
    orders = tuple(None if order is None else tuple(map(int, order))
                   for order in orders)
    if len(orders) != len(specs):
        raise ValueError(f"{kind}_orders: expected {len(specs)}, got "
                         f"{len(orders)}")
    for i, (order, spec) in enumerate(zip(orders, specs)):
        if order is not None and sorted(order) != list(range(len(spec.dims))):
            raise ValueError(f"{kind}_orders[{i}]: {order} is no permutation "
                             f"of {len(spec.dims)} axes")
        if order is not None and spec.by_value:
            raise ValueError(f"{kind}_orders[{i}]: a number has no axes")
    return orders


def _inverse(order):
    return tuple(order.index(axis) for axis in range(len(order)))


def _write_back(target, result, order):
    """Copies a result into the argument that it overwrites."""
    target.copy_(result if order is None else result.permute(_inverse(order)))


@functools.lru_cache(maxsize=None)
def entry_class():
    """Entry, or the subclass whose calls are made from C."""
    extension = native.module()
    if extension is None:
        return Entry

    class NativeEntry(extension.Caller, Entry):
        """An entry that is called from C."""

        def __init__(self, loaded, handle):
            Entry.__init__(self, loaded, handle)
            device = loaded.device
            inputs = tuple(
                (spec.name or f"arg{i}", abi.DTYPES.index(spec.dtype),
                 len(spec.dims), spec.by_value, i in self._size_inputs)
                for i, spec in enumerate(self.inputs))
            outputs = tuple(
                (spec.name or f"result{i}", abi.DTYPES.index(spec.dtype),
                 len(spec.dims),
                 -1 if spec.overwrites is None else spec.overwrites)
                for i, spec in enumerate(self.outputs))
            self._configure(handle.value, device.handle.value,
                            *tensors.dlpack_device(device.name),
                            device.is_emulator, inputs, outputs)

    NativeEntry.__name__ = NativeEntry.__qualname__ = "Entry"
    return NativeEntry
