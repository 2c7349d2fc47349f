# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the packages of a calibration on the GPU of this machine.

Launches of a variant follow each other in one CUDA graph, each on other memory,
so that none finds its operands in the L2 cache and nothing is flushed: what is
timed is what one more kernel takes.
"""

import ctypes
import datetime
import math
import statistics

import numpy as np

from fusion_compiler import abi
from fusion_compiler.devices import Device, Memory

from .driver import Driver

ALIGNMENT = 256
# Seconds that the launches of a graph take together, about; launches at most.
GRAPH_SECONDS, MOST_LAUNCHES = 2e-3, 256
# Of memory that launches take in turns, over the size of the L2 cache.
OVER_CACHE = 4
BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "i32": 4, "i16": 2,
         "i8": 1, "i1": 1}


def aligned(size):
    return -(-size // ALIGNMENT) * ALIGNMENT


def ordinary_bytes(size):
    """Bytes that are numbers around 1 in every type of floats."""
    values = np.random.default_rng(1).integers(0, 256, size, np.uint8)
    values[1::2] = 0x3f
    return values


class Arena:
    """Device memory of which each launch takes another part."""

    def __init__(self, device, size, is_filled):
        self.memory, self.size = Memory(device, size), size
        if is_filled:
            step = min(size, 64 << 20)
            data = ordinary_bytes(step)
            for start in range(0, size, step):
                part = data[:min(step, size - start)]
                abi.call("CopyToDevice", device.handle,
                         self.memory.address + start, part.ctypes.data,
                         part.nbytes, None)

    def take(self, sizes, turn):
        """Addresses of tensors of these sizes for launch number `turn`."""
        own = sum(map(aligned, sizes))
        start = self.memory.address + turn % max(self.size // max(own, 1),
                                                 1) * own
        addresses = []
        for size in sizes:
            addresses.append(start)
            start += aligned(size)
        return addresses


class Loaded:
    """A package on a device, ready to be launched."""

    def __init__(self, device, data):
        self.handle = abi.handle("PackageLoad", device.handle, data, len(data))
        try:
            self.entry = abi.handle("PackageGetEntry", self.handle, 0)
            info = abi.query(abi.EntryInfo, "EntryGetInfo", self.entry)
            self.inputs = [self.describe("EntryGetInput", i)
                           for i in range(info.numInputs)]
            self.outputs = [self.describe("EntryGetOutput", i)
                            for i in range(info.numOutputs)]
        except BaseException:
            self.close()
            raise

    def describe(self, name, index):
        info = abi.query(abi.TensorInfo, name, self.entry, index)
        dims = list(info.dims[:info.rank])
        if min(dims, default=0) < 0:
            raise RuntimeError("a size is not fixed")
        size = math.prod(dims) * BYTES[abi.DTYPES[info.dtype]]
        return info, dims, size

    def sizes(self, tensors):
        return [size for info, _, size in tensors
                if not info.byValue and not info.overwritesInput]

    def tensors(self, described, addresses):
        """The structs of a launch, and what has to live as long as they."""
        addresses, kept = iter(addresses), []
        array = (abi.Tensor * max(len(described), 1))()
        for tensor, (info, dims, _) in zip(array, described):
            shape = (ctypes.c_int64 * max(len(dims), 1))(*dims)
            value = ctypes.c_int64(1)
            kept += [shape, value]
            tensor.dims = ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64))
            tensor.dtype, tensor.rank = info.dtype, info.rank
            if info.byValue:
                tensor.value = ctypes.cast(ctypes.byref(value),
                                           ctypes.c_void_p)
            elif not info.overwritesInput:
                tensor.address = next(addresses)
        return array, kept

    def close(self):
        abi.library().fusionRtPackageDestroy(self.handle)


class Timer:
    """Times packages on a CUDA device."""

    def __init__(self, device_name="cuda:0"):
        self.device = Device.open(device_name)
        if self.device.is_emulator:
            raise RuntimeError("the emulator has no time; a GPU is needed")
        ordinal = int(device_name.partition(":")[2] or 0)
        self.driver = Driver(ordinal)
        self.info = abi.query(abi.DeviceInfo, "DeviceGetInfo",
                              self.device.handle)
        self.stream = ctypes.c_void_p()
        abi.call("StreamCreate", self.device.handle, ctypes.byref(self.stream))
        self.arenas = {}

    def describe(self):
        """What is known of the machine."""
        return {"device": self.device.description,
                "chip": self.device.target(),
                "multiprocessors": self.info.multiprocessors,
                "clock_mhz": self.info.clockKHz / 1e3,
                "l2_mib": self.info.l2Bytes / 2 ** 20,
                "driver": self.info.driverVersion,
                "date": datetime.datetime.now(datetime.timezone.utc)
                        .date().isoformat()}

    def arena(self, name, size):
        """Memory of at least `size` bytes, and of several times the L2
        cache."""
        size = max(size, OVER_CACHE * self.info.l2Bytes)
        if name not in self.arenas or self.arenas[name].size < size:
            if name in self.arenas:
                self.arenas.pop(name).memory.free()
            self.arenas[name] = Arena(self.device, size, name == "inputs")
        return self.arenas[name]

    def seconds(self, path, expected, repeat):
        """The median of what a launch takes."""
        loaded = Loaded(self.device, path.read_bytes())
        try:
            return self.seconds_of(loaded, expected, repeat)
        finally:
            abi.call("Synchronize", self.device.handle, self.stream)
            loaded.close()

    def seconds_of(self, loaded, expected, repeat):
        inputs, outputs = (loaded.sizes(loaded.inputs),
                           loaded.sizes(loaded.outputs))
        touched = sum(inputs) + sum(outputs)
        count = max(GRAPH_SECONDS / expected,
                    OVER_CACHE / 2 * self.info.l2Bytes / max(touched, 1))
        count = int(min(max(count, 1), MOST_LAUNCHES))
        arenas = {"inputs": (sum(map(aligned, inputs)), inputs, loaded.inputs),
                  "outputs": (sum(map(aligned, outputs)), outputs,
                              loaded.outputs)}
        launches, kept = [], []
        for turn in range(count):
            arrays = {}
            for name, (size, sizes, described) in arenas.items():
                addresses = self.arena(name, size).take(sizes, turn)
                arrays[name], alive = loaded.tensors(described, addresses)
                kept.append(alive)
            launches.append(abi.LaunchArgs(
                inputs=arrays["inputs"], outputs=arrays["outputs"],
                numInputs=len(loaded.inputs), numOutputs=len(loaded.outputs),
                stream=self.stream))
            kept.append(arrays)
        self.give_workspace(loaded, launches)

        def enqueue():
            for arguments in launches:
                abi.call("Launch", loaded.entry, ctypes.byref(arguments))

        enqueue()
        abi.call("Synchronize", self.device.handle, self.stream)
        with self.driver.graph(self.stream, enqueue) as graph:
            return statistics.median(self.driver.time(
                graph, self.stream, repeat)) / count

    def give_workspace(self, loaded, launches):
        size = ctypes.c_uint64()
        abi.call("QueryWorkspace", loaded.entry, launches[0].inputs,
                 len(loaded.inputs), ctypes.byref(size))
        if not size.value:
            return
        memory = self.arena("workspace", aligned(size.value)).memory
        for arguments in launches:
            arguments.workspace = memory.address
            arguments.workspaceBytes = size.value


def time_all(variants, folder, timer, repeat, say=print):
    """Seconds of each variant; None for one that did not run."""
    found = []
    for variant in variants:
        try:
            seconds = timer.seconds(folder / f"{variant['name']}.fpk",
                                    variant["seconds"], repeat)
        except Exception as error:  # The next one may still run.
            say(f"{variant['name']}: not timed: {error}")
            seconds = None
        else:
            say(f"{variant['name']:<40} {seconds * 1e6:10.2f} us, predicted "
                f"{variant['seconds'] * 1e6:10.2f}")
        found.append(seconds)
    return found
