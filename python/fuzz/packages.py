#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs compiled here and run elsewhere: the emulator against a GPU.

    packages.py build FOLDER [--count=N] [--seed=TEXT] [--targets=sm_90a,...]
                             [--jobs=N] [--bin=FOLDER] [--no-bits]
    packages.py compare FOLDER [--device=cuda|emulator] [--jobs=N]
                               [--library=libfusion-rt.so]

`build` writes for each program a package, the program, and what the emulator
made of it: its outputs bit by bit, unless --no-bits leaves that to `compare`.
Inputs are a function of the seed and are not stored. `compare` needs Python 3
and libfusion-rt.so (the `runtime` preset's needs nothing else) and says of each
program whether a GPU computes the same:

    equal    bit for bit; required of kernels without approximate instructions
    within   kernels have some (docs/Numerics.md), and results are close
    differs  a finding
"""

import argparse
import array
import collections
import concurrent.futures
import ctypes
import json
import math
import os
import random
import re
import subprocess
import sys
import types
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

# The C interface alone: the package's __init__ needs NumPy.
_package = types.ModuleType("fusion")
_package.__path__ = [os.path.join(os.path.dirname(HERE), "fusion")]
sys.modules.setdefault("fusion", _package)

from fusion import abi  # noqa: E402
from fusion.errors import FusionError  # noqa: E402

BITS = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16, "f8e4m3": 8, "f8e5m2": 8,
        "i64": 64, "i32": 32, "i16": 16, "i8": 8, "i4": 4, "i1": 8}
# What a GPU computes other than the emulator (docs/Numerics.md): functions by
# approximation, and sums of products in tensor cores.
APPROXIMATE = re.compile(rb"\b((?:ex2|lg2|rcp|rsqrt|sqrt|div|sin|cos|tanh)"
                         rb"\.approx|div\.full|mma\.sync|wgmma\.mma_async)")
# How far results may then be from one another, of the largest magnitude in the
# tensor. Programs that round to 16 bits in between differ by such a rounding.
CLOSE = {"f64": 2.0 ** -12, "f32": 2.0 ** -12, "f16": 2.0 ** -8,
         "bf16": 2.0 ** -5, "f8e4m3": 2.0 ** -2, "f8e5m2": 2.0 ** -1}


def round_to_bf16(numbers):
    """f32 numbers as bits of bf16, ties to even."""
    words = array.array("I", array.array("f", numbers).tobytes())
    return array.array("H", [(w + 0x7FFF + (w >> 16 & 1)) >> 16
                             for w in words]).tobytes()


def draw(dtype, count, seed):
    """The bytes of an input: floats from the normal distribution, integers
    from 0 to 7, as fusion-run --random has them."""
    rng = random.Random(seed)
    if dtype == "i1":
        return bytes(rng.randrange(2) for _ in range(count))
    if dtype == "i4":
        return bytes(rng.randrange(8) | rng.randrange(8) << 4
                     for _ in range((count + 1) // 2))
    if dtype[0] == "i":
        code = {"i8": "b", "i16": "h", "i32": "i", "i64": "q"}[dtype]
        return array.array(code, [rng.randrange(8)
                                  for _ in range(count)]).tobytes()
    if dtype in ("f8e4m3", "f8e5m2"):
        # Finite numbers of at most 4 in magnitude.
        most = 0x48 if dtype == "f8e4m3" else 0x44
        return bytes(rng.randrange(most + 1) | rng.randrange(2) << 7
                     for _ in range(count))
    numbers = [rng.gauss(0, 1) for _ in range(count)]
    if dtype == "bf16":
        return round_to_bf16(numbers)
    if dtype == "f16":
        import struct
        return struct.pack(f"<{count}e", *numbers)
    return array.array("d" if dtype == "f64" else "f", numbers).tobytes()


def decode(dtype, data):
    """The numbers of a tensor of floats; None for other types."""
    if dtype in ("f32", "f64"):
        return array.array("f" if dtype == "f32" else "d", data)
    if dtype == "f16":
        import struct
        return struct.unpack(f"<{len(data) // 2}e", data)
    if dtype == "bf16":
        words = array.array("H", data)
        return array.array("f", array.array("I", [w << 16
                                                  for w in words]).tobytes())
    if dtype in ("f8e4m3", "f8e5m2"):
        return [decode_small(dtype, byte) for byte in data]
    return None


def decode_small(dtype, byte):
    mantissa = 3 if dtype == "f8e4m3" else 2
    bias = 7 if dtype == "f8e4m3" else 15
    sign = -1.0 if byte & 0x80 else 1.0
    exponent, fraction = byte >> mantissa & (0x7F >> mantissa), byte & (
        (1 << mantissa) - 1)
    if dtype == "f8e4m3" and byte & 0x7F == 0x7F:
        return math.nan
    if dtype == "f8e5m2" and exponent == 31:
        return math.nan if fraction else sign * math.inf
    if not exponent:
        return sign * fraction * 2.0 ** (1 - bias - mantissa)
    return sign * (1 + fraction * 2.0 ** -mantissa) * 2.0 ** (exponent - bias)


def size_of(dtype, dims):
    return (math.prod(dims) * BITS[dtype] + 7) // 8


class Device:
    """A device of the runtime that packages run on, one at a time."""

    def __init__(self, name, early):
        options = abi.DeviceOptions(earlyAsynchrony=int(early))
        self.handle = ctypes.c_void_p()
        abi.call("DeviceCreate", name.encode(), ctypes.byref(options),
                 ctypes.byref(self.handle))

    def run(self, package, seed, sizes):
        """[(type, bytes)] of the outputs of a package's only entry."""
        loaded = abi.handle("PackageLoad", self.handle, package, len(package))
        memories = []

        def allocate(count):
            address = ctypes.c_uint64()
            abi.call("Malloc", self.handle, count, b"", ctypes.byref(address))
            memories.append(address.value)
            return address.value

        try:
            entry = abi.handle("PackageGetEntry", loaded, 0)
            info = abi.query(abi.EntryInfo, "EntryGetInfo", entry)
            inputs, kept = (abi.Tensor * info.numInputs)(), []
            for i in range(info.numInputs):
                tensor = abi.query(abi.TensorInfo, "EntryGetInput", entry, i)
                dtype = abi.DTYPES[tensor.dtype]
                dims = [tensor.dims[k] if tensor.dims[k] >= 0 else
                        sizes[f"arg{i}.{k}"] for k in range(tensor.rank)]
                data = draw(dtype, math.prod(dims), f"{seed} {i}")
                shape = (ctypes.c_int64 * max(len(dims), 1))(*dims)
                kept += [data, shape]
                inputs[i] = abi.Tensor(0, None, shape, tensor.dtype, len(dims))
                if tensor.byValue:
                    inputs[i].value = ctypes.cast(ctypes.c_char_p(data),
                                                  ctypes.c_void_p)
                elif data:
                    inputs[i].address = allocate(len(data))
                    abi.call("CopyToDevice", self.handle, inputs[i].address,
                             data, len(data), None)
            shapes = (abi.Shape * info.numOutputs)()
            abi.call("InferShapes", entry, inputs, info.numInputs, shapes,
                     info.numOutputs)
            outputs = (abi.Tensor * info.numOutputs)()
            for output, shape in zip(outputs, shapes):
                output.dims = ctypes.cast(shape.dims,
                                          ctypes.POINTER(ctypes.c_int64))
                output.dtype, output.rank = shape.dtype, shape.rank
                if shape.bytes:
                    output.address = allocate(shape.bytes)
            arguments = abi.LaunchArgs(
                inputs=inputs, outputs=outputs, numInputs=info.numInputs,
                numOutputs=info.numOutputs)
            abi.call("Launch", entry, ctypes.byref(arguments))
            abi.call("Synchronize", self.handle, None)
            results = []
            for output, shape in zip(outputs, shapes):
                host = ctypes.create_string_buffer(max(shape.bytes, 1))
                if shape.bytes:
                    abi.call("CopyToHost", self.handle, host, output.address,
                             shape.bytes, None)
                results.append((abi.DTYPES[shape.dtype],
                                host.raw[:shape.bytes]))
            return results
        finally:
            for address in memories:
                abi.call("Free", self.handle, address)
            abi.library().fusionRtPackageDestroy(loaded)


def differ(first, second, dtype):
    """How far two tensors are from one another, of the largest magnitude; for
    integers, the share of elements that differ."""
    left, right = decode(dtype, first), decode(dtype, second)
    if left is None:
        return sum(a != b for a, b in zip(first, second)) / max(len(first), 1)
    largest, most = 0.0, 0.0
    for a, b in zip(left, right):
        if a == b or (a != a and b != b):
            continue
        if not (math.isfinite(a) and math.isfinite(b)):
            return math.inf
        most = max(most, abs(a - b))
    for a in left:
        if math.isfinite(a):
            largest = max(largest, abs(a))
    return most / largest if largest else most


def judge(emulated, computed, approximate, text):
    """(equal, within or differs, what differs most)."""
    if emulated == computed:
        return "equal", ""
    narrow = [d for d in ("bf16", "f16", "f8e4m3", "f8e5m2")
              if (d if d[1] != "8" else "f8") in text]
    allowed = {d: max([CLOSE[d]] + [CLOSE[n] for n in narrow]) for d in CLOSE}
    worst = ""
    kind = "within" if approximate else "differs"
    for i, ((dtype, a), (_, b)) in enumerate(zip(emulated, computed)):
        if a == b:
            continue
        distance = differ(a, b, dtype)
        if distance > allowed.get(dtype, 0.01):
            kind = "differs"
        worst += f" output {i}: {dtype} {distance:.2g}"
    return kind, worst.strip()


def run_one(name, folder, device, bits):
    """Runs one program on a device; the result is printed as JSON, or (for
    `build`) its bits are stored."""
    path = os.path.join(folder, name)
    with open(path + ".json", encoding="utf-8") as file:
        facts = json.load(file)
    with open(path + ".fpk", "rb") as file:
        package = file.read()
    early = "--asynchrony=early" in facts["options"]

    def run(which):
        return Device(which, early and which == "emulator").run(
            package, facts["seed"], facts["sizes"])

    if bits:
        results = run("emulator")
        with open(path + ".bits", "wb") as file:
            file.write(zlib.compress(b"".join(data for _, data in results)))
        return {"kind": "built"}
    computed = run(device)
    if os.path.exists(path + ".bits"):
        with open(path + ".bits", "rb") as file:
            data = zlib.decompress(file.read())
        emulated, at = [], 0
        for dtype, other in computed:
            emulated.append((dtype, data[at:at + len(other)]))
            at += len(other)
    else:
        emulated = run("emulator")
    found = sorted({m.decode() for m in APPROXIMATE.findall(package)})
    with open(path + ".mlir", encoding="utf-8") as file:
        kind, worst = judge(emulated, computed, found, file.read())
    return {"kind": kind, "worst": worst, "instructions": found}


def in_child(arguments, seconds=120):
    """Runs this script for one program, so that a crash or a broken CUDA
    context is that program's alone."""
    try:
        done = subprocess.run([sys.executable, os.path.abspath(__file__),
                               "one", *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=seconds)
    except subprocess.TimeoutExpired:
        return {"kind": "hang"}
    text = done.stdout.decode(errors="replace").strip()
    try:
        return json.loads(text.splitlines()[-1])
    except (ValueError, IndexError):
        return {"kind": "error", "worst": text[-300:]}


def build_one(seed, number, options):
    """Compiles a program; returns its outcome."""
    import generator
    from outcomes import classify, execute
    program = generator.generate(f"{options.seed}/{seed}")
    chip = options.targets[number % len(options.targets)]
    name = f"{seed:05}"
    path = os.path.join(options.folder, name)
    with open(path + ".mlir", "w", encoding="utf-8") as file:
        file.write(program.file_text())
    numerics = [o for o in program.options if o.startswith("--numerics")]
    status, output = execute(
        [os.path.join(options.bin, "fusion-compile"), path + ".mlir", "-o",
         path + ".fpk", f"--target={chip}", "--ptxas=false", *numerics], 120)
    if status != 0:
        os.unlink(path + ".mlir")
        return name, {"kind": classify(status, output, program.text).label,
                      "worst": output.strip()[-200:]}
    sizes = {o[6:].rsplit("=", 1)[0]: int(o.rsplit("=", 1)[1])
             for o in program.options if o.startswith("--dim=")}
    with open(path + ".json", "w", encoding="utf-8") as file:
        json.dump({"seed": f"{options.seed}/{seed}", "target": chip,
                   "options": program.options, "sizes": sizes}, file)
    if options.no_bits:
        return name, {"kind": "built"}
    return name, in_child([name, options.folder, "emulator", "bits"])


def report(results, quiet):
    kinds = collections.Counter(result["kind"] for _, result in results)
    for name, result in results:
        if result["kind"] not in quiet:
            print(f"{name}: {result['kind']}: {result.get('worst', '')} "
                  f"{' '.join(result.get('instructions', []))}".rstrip())
    print(", ".join(f"{number} {kind}" for kind, number in
                    kinds.most_common()))
    return 0 if all(kind in quiet for kind in kinds) else 1


def build(options):
    os.makedirs(options.folder, exist_ok=True)
    seeds = range(options.first, options.first + options.count)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        return report(list(pool.map(lambda s: build_one(s, s, options), seeds)),
                      ("built",))


def compare(options):
    if options.library:
        os.environ["FUSION_RT_LIBRARY"] = os.path.abspath(options.library)
    names = sorted(f[:-4] for f in os.listdir(options.folder)
                   if f.endswith(".fpk") and
                   os.path.exists(os.path.join(options.folder,
                                               f[:-4] + ".json")))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(
            lambda n: (n, in_child([n, options.folder, options.device, ""])),
            names))
    counts = collections.Counter(
        word for _, result in results if result["kind"] == "within"
        for word in result["instructions"])
    status = report(results, ("equal", "within"))
    if counts:
        print("approximate instructions of the programs that are within: " +
              ", ".join(f"{w} {n}" for w, n in counts.most_common()))
    return status


def main(arguments):
    if arguments[:1] == ["one"]:
        name, folder, device, bits = arguments[1:]
        try:
            print(json.dumps(run_one(name, folder, device, bits == "bits")))
        except FusionError as error:
            print(json.dumps({"kind": "error", "worst": str(error)[:300]}))
        return 0
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    root = os.path.dirname(os.path.dirname(HERE))
    for name in ("build", "compare"):
        command = commands.add_parser(name)
        command.add_argument("folder")
        command.add_argument("--jobs", type=int, default=os.cpu_count())
        if name == "compare":
            command.add_argument("--device", default="cuda")
            command.add_argument("--library")
            continue
        command.add_argument("--count", type=int, default=100)
        command.add_argument("--first", type=int, default=0)
        command.add_argument("--seed", default="0")
        command.add_argument("--targets", default=["sm_90a"],
                             type=lambda text: text.split(","))
        command.add_argument("--bin", default=os.path.join(root, "build",
                                                           "bin"))
        command.add_argument("--no-bits", action="store_true")
    options = parser.parse_args(arguments)
    return (build if options.command == "build" else compare)(options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
