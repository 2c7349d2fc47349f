#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs packages on a device, many in one process.

    worker.py FOLDER DEVICE

answers each request, a JSON object on a line, with another. A device is opened
once, which for a GPU takes longer than most packages run. An error there may
leave the context of no use, so that the process ends behind it; class Worker,
the other side, then starts a new one for the next request.
"""

import ctypes
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import threading
import types
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

# The C interface alone: the package's __init__ needs NumPy.
_package = types.ModuleType("fusion_compiler")
_package.__path__ = [os.path.join(os.path.dirname(HERE),
                                  "fusion_compiler")]
sys.modules.setdefault("fusion_compiler", _package)

from bits import draw, is_close, npy  # noqa: E402
from fusion_compiler import abi  # noqa: E402
from fusion_compiler.errors import FusionError  # noqa: E402

# What a GPU computes other than the emulator (docs/Numerics.md): functions by
# approximation, and sums of products of floats in tensor cores.
APPROXIMATE = re.compile(
    rb"\b((?:ex2|lg2|rcp|rsqrt|sqrt|div|sin|cos|tanh)\.approx|div\.full|"
    rb"(?:mma\.sync|wgmma\.mma_async)(?=\.[\w.]*\.f(?:16|32|64)\b))")
# What outputs on a GPU hold before the launch, so that what no kernel writes
# is not by chance what is expected. The emulator itself knows.
PATTERN = 0xE5


class Device:
    """A device of the runtime that packages run on, one at a time."""

    def __init__(self, name, early=False):
        options = abi.DeviceOptions(earlyAsynchrony=int(early),
                                    emulatorThreads=1, synchronous=1)
        self.is_emulator = name == "emulator"
        self.handle = ctypes.c_void_p()
        abi.call("DeviceCreate", name.encode(), ctypes.byref(options),
                 ctypes.byref(self.handle))

    def close(self):
        abi.library().fusionRtDeviceDestroy(self.handle)

    def run(self, package, seed, sizes, times=1):
        """[(type, bytes)] of the outputs of a package's only entry, for each
        time that it is launched."""
        loaded = abi.handle("PackageLoad", self.handle, package, len(package))
        run = _Run(self, abi.handle("PackageGetEntry", loaded, 0))
        try:
            run.make_inputs(seed, sizes)
            run.make_outputs()
            return [run.launch() for _ in range(times)]
        finally:
            run.free()
            abi.library().fusionRtPackageDestroy(loaded)


class _Run:
    """The launches of an entry, and their memory."""

    def __init__(self, device, entry):
        self.device, self.entry = device, entry
        self.memories, self.kept = [], []

    def allocate(self, count):
        address = ctypes.c_uint64()
        abi.call("Malloc", self.device.handle, count, b"",
                 ctypes.byref(address))
        self.memories.append(address.value)
        return address.value

    def free(self):
        # Behind a fault this fails too, and must not hide it.
        for address in self.memories:
            abi.library().fusionRtFree(self.device.handle, address)

    def make_inputs(self, seed, sizes):
        self.inputs, tensors = [], draw_inputs(self.entry, seed, sizes)
        for by_value, dtype, dims, data in tensors:
            shape = (ctypes.c_int64 * max(len(dims), 1))(*dims)
            self.kept += [data, shape]
            tensor = abi.Tensor(0, None, shape, abi.DTYPES.index(dtype),
                                len(dims))
            if by_value:
                tensor.value = ctypes.cast(ctypes.c_char_p(data),
                                           ctypes.c_void_p)
            elif data:
                tensor.address = self.allocate(len(data))
            self.inputs.append(tensor)
        self.data = [data for _, _, _, data in tensors]
        self.inputs = (abi.Tensor * len(tensors))(*self.inputs)

    def make_outputs(self):
        info = abi.query(abi.EntryInfo, "EntryGetInfo", self.entry)
        self.shapes = (abi.Shape * info.numOutputs)()
        abi.call("InferShapes", self.entry, self.inputs, len(self.inputs),
                 self.shapes, info.numOutputs)
        self.outputs = (abi.Tensor * info.numOutputs)()
        self.overwriting = []
        for i, (output, shape) in enumerate(zip(self.outputs, self.shapes)):
            spec = abi.query(abi.TensorInfo, "EntryGetOutput", self.entry, i)
            self.overwriting.append(bool(spec.overwritesInput))
            output.dims = ctypes.cast(shape.dims,
                                      ctypes.POINTER(ctypes.c_int64))
            output.dtype, output.rank = shape.dtype, shape.rank
            if spec.overwritesInput:
                output.address = self.inputs[spec.overwrittenInput].address
            elif shape.bytes:
                output.address = self.allocate(shape.bytes)

    def launch(self):
        device = self.device.handle
        # An earlier launch may have overwritten them.
        for tensor, data in zip(self.inputs, self.data):
            if tensor.address:
                abi.call("CopyToDevice", device, tensor.address, data,
                         len(data), None)
        for output, shape, overwrites in zip(self.outputs, self.shapes,
                                             self.overwriting):
            if shape.bytes and not overwrites and not self.device.is_emulator:
                abi.call("Fill", device, output.address, PATTERN, shape.bytes,
                         None)
        arguments = abi.LaunchArgs(
            inputs=self.inputs, outputs=self.outputs,
            numInputs=len(self.inputs), numOutputs=len(self.outputs))
        abi.call("Launch", self.entry, ctypes.byref(arguments))
        abi.call("Synchronize", device, None)
        results = []
        for output, shape in zip(self.outputs, self.shapes):
            host = ctypes.create_string_buffer(max(shape.bytes, 1))
            if shape.bytes:
                abi.call("CopyToHost", device, host, output.address,
                         shape.bytes, None)
            results.append((abi.DTYPES[shape.dtype], host.raw[:shape.bytes]))
        return results


def draw_inputs(entry, seed, sizes):
    """[(whether by value, type, sizes, bytes)], a function of the seed."""
    info, inputs = abi.query(abi.EntryInfo, "EntryGetInfo", entry), []
    for i in range(info.numInputs):
        tensor = abi.query(abi.TensorInfo, "EntryGetInput", entry, i)
        dtype = abi.DTYPES[tensor.dtype]
        dims = [tensor.dims[k] if tensor.dims[k] >= 0 else sizes[f"arg{i}.{k}"]
                for k in range(tensor.rank)]
        inputs.append((tensor.byValue, dtype, dims,
                       draw(dtype, math.prod(dims), f"{seed} {i}")))
    return inputs


class Server:
    """The process that runs packages of a folder."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.device = None

    def emulate(self, package, facts):
        device = Device("emulator", "--asynchrony=early" in facts["options"])
        try:
            return device.run(package, facts["seed"], facts["sizes"])[0]
        finally:
            device.close()

    def compute(self, package, facts):
        """(outputs, whether a second launch gives the same)."""
        if self.name == "emulator":
            return self.emulate(package, facts), True
        if not self.device:
            self.device = Device(self.name)
        first, second = self.device.run(package, facts["seed"], facts["sizes"],
                                        times=2)
        return first, first == second

    def answer(self, name, store="", inputs=""):
        """Compares a package. With `store` the emulator's results are kept
        instead, or (inputs) its inputs, in a folder `inputs`."""
        path = os.path.join(self.folder, name)
        with open(path + ".json", encoding="utf-8") as file:
            facts = json.load(file)
        with open(path + ".fpk", "rb") as file:
            package = file.read()
        if store == "bits":
            results = self.emulate(package, facts)
            with open(path + ".bits", "wb") as file:
                file.write(zlib.compress(b"".join(data for _, data in results),
                                         1))
            return {"kind": "built"}
        if store == "inputs":
            return {"kind": "built",
                    "files": write_inputs(package, facts, inputs)}
        return self.compare(package, facts, path)

    def compare(self, package, facts, path):
        computed, stable = self.compute(package, facts)
        emulated = (read_bits(path + ".bits", computed) or
                    self.emulate(package, facts))
        found = sorted({m.decode() for m in APPROXIMATE.findall(package)})
        if not stable:
            return {"kind": "unstable", "instructions": found}
        if emulated == computed:
            return {"kind": "equal", "instructions": found}
        with open(path + ".mlir", encoding="utf-8") as file:
            close, worst = is_close(emulated, computed, file.read())
        return {"kind": "close" if close and found else "differs",
                "worst": worst, "instructions": found}

    def run(self):
        for line in sys.stdin:
            failed = False
            try:
                result = self.answer(**json.loads(line))
            except FusionError as error:
                failed = True
                result = {"kind": "error", "worst": str(error)[:300]}
            failed &= self.name != "emulator"
            print(json.dumps({**result, "last": failed}), flush=True)
            if failed:
                # Nothing of a broken context is worth an orderly end.
                os._exit(0)


def read_bits(path, computed):
    """What the emulator computed at build time, in the types and sizes of
    `computed`; None without it."""
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        data = zlib.decompress(file.read())
    emulated, at = [], 0
    for dtype, other in computed:
        emulated.append((dtype, data[at:at + len(other)]))
        at += len(other)
    return emulated


def write_inputs(package, facts, folder):
    """The inputs of a package as .npy files; their names, in order."""
    device, files = Device("emulator"), []
    loaded = abi.handle("PackageLoad", device.handle, package, len(package))
    entry = abi.handle("PackageGetEntry", loaded, 0)
    for i, (_, dtype, dims, data) in enumerate(
            draw_inputs(entry, facts["seed"], facts["sizes"])):
        files.append(os.path.join(folder, f"input{i}.npy"))
        with open(files[-1], "wb") as file:
            file.write(npy(dtype, dims, data))
    abi.library().fusionRtPackageDestroy(loaded)
    device.close()
    return files


class Worker:
    """A process that is asked one thing at a time, and started again when it
    has ended, whatever the reason."""

    def __init__(self, command, seconds=120):
        self.command, self.seconds = command, seconds
        self.process = None

    def start(self):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.errors)

    def ask(self, request):
        """The answer, or {"kind": "hang"} or {"kind": "crash"}."""
        if not self.process or self.process.poll() is not None:
            self.start()
        process, late = self.process, threading.Event()

        def stop():
            late.set()
            process.kill()

        timer = threading.Timer(self.seconds, stop)
        timer.start()
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            if answer.pop("last", False):
                process.wait()
            return answer
        except (OSError, ValueError):
            end(process)
            if late.is_set():
                return {"kind": "hang"}
            self.errors.seek(0)
            text = self.errors.read().decode(errors="replace").strip()
            return {"kind": "crash", "worst": f"status {process.returncode}: "
                    f"{text[-300:]}"}
        finally:
            timer.cancel()

    def close(self):
        if self.process:
            self.process.stdin.close()
            end(self.process)


def end(process):
    """Waits for a process that has no reason to go on, but not for ever."""
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


if __name__ == "__main__":
    Server(*sys.argv[1:]).run()
