#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Host time of a call of a one-kernel package with three inputs, in us.

    host_cost.py build FILE.fpk [--target=sm_90a]
    host_cost.py run FILE.fpk [--device=cuda] [--library=libfusion-rt.so]
                 [--calls=N] [--json=FILE]

`build` needs the compiler. `run` needs PyTorch, the runtime's library and,
beside it, the extension module; no compiler. Each row is the least and the
median, over batches, of the time that the host needs for one call; nothing
waits for the GPU within a batch. The tensors are small, so that the GPU is
never what is waited for. With --device=cpu only the rows that launch nothing
are measured, since the emulator takes longer than any call.
"""

import argparse
import ctypes
import json
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import fusion_compiler as fusion  # noqa: E402
from fusion_compiler import abi, native, tensors  # noqa: E402

SHAPE = (64, 8)
BATCHES = 15

FUNCTION = """
func.func @{name}(%x: tensor<{size}x8xf32> {dims},
                  %y: tensor<{size}x8xf32> {dims},
                  %z: tensor<{size}x8xf32> {dims}) -> tensor<{size}x8xf32> {{
  %sum = arith.addf %x, %y : tensor<{size}x8xf32>
  %product = arith.mulf %sum, %z : tensor<{size}x8xf32>
  return %product : tensor<{size}x8xf32>
}}
"""
PROGRAM = FUNCTION.format(name="fixed", size=SHAPE[0], dims="") + (
    FUNCTION.format(name="dynamic", size="?",
                    dims='{fusion.dims = ["rows", "_"]}'))


def measure(call, calls, synchronize):
    """{"least_us", "median_us"} of one call."""
    for _ in range(200):
        call()
    samples = []
    for _ in range(BATCHES):
        synchronize()
        start = time.perf_counter_ns()
        for _ in range(calls):
            call()
        samples.append((time.perf_counter_ns() - start) / calls / 1000)
    synchronize()
    return {"least_us": min(samples), "median_us": statistics.median(samples)}


def without_launch(entry, device_type, index):
    """The entry called from C with a launch that does nothing, and its
    launcher: what is left is checking, allocating and describing."""
    extension, runtime = native.module(), abi.library()
    addresses = [ctypes.cast(getattr(runtime, "fusionRt" + name),
                             ctypes.c_void_p).value
                 for name in native.FUNCTIONS]
    # A function that takes anything and returns 0, as no call has failed.
    addresses[native.FUNCTIONS.index("Launch")] = ctypes.cast(
        runtime.fusionRtGetLastErrorCode, ctypes.c_void_p).value
    extension.bind_runtime(abi.check, *addresses)
    caller = extension.Caller()
    caller._configure(
        entry._handle.value, entry._loaded.device.handle.value, device_type,
        index, False,
        tuple((f"arg{i}", abi.DTYPES.index("f32"), 2, False, False)
              for i in range(3)),
        (("result0", abi.DTYPES.index("f32"), 2, -1),))
    return caller, extension.Launcher(caller, (None,) * 3, (None,))


def rows(package, torch, device):
    """(name, a call) of each row that this machine can measure."""
    values = [torch.randn(SHAPE, device=device) for _ in range(3)]
    x, y, z = values
    out = torch.empty(SHAPE, device=device)
    on_gpu = device.type == "cuda"
    loaded = package.on(tensors.device_name(device))
    entries = [loaded[name] for name in ("fixed", "dynamic")]
    expected = (x + y) * z
    for entry in entries:
        for result in (entry(x, y, z), entry.launcher()(values)[0]):
            assert torch.equal(result, expected), entry
    if on_gpu:
        for entry in entries:
            launch = entry.launcher()
            yield f"entry, {entry.name}", lambda e=entry: e(x, y, z)
            yield f"launcher, {entry.name}", lambda f=launch: f(values)
        dynamic = entries[1]
        yield "entry, out=", lambda: dynamic(x, y, z, out=out)
        yield "entry through ctypes", lambda: dynamic._run_torch((x, y, z),
                                                                 None)
        yield "PyTorch, one operator", lambda: torch.add(x, y)
        yield "PyTorch, the two operators", lambda: (x + y) * z
        yield from compiled(torch, values)
    if native.native_calls():
        caller, launch = without_launch(
            entries[1], *tensors.dlpack_device(tensors.device_name(device)))
        yield "entry without the launch", lambda: caller(x, y, z)
        yield "launcher without the launch", lambda: launch(values)


def compiled(torch, values):
    """The row of torch.compile, where that works."""
    try:
        function = torch.compile(lambda x, y, z: (x + y) * z)
        function(*values)
    except Exception as error:  # It needs Triton and a C compiler.
        print(f"torch.compile: {type(error).__name__}", file=sys.stderr)
        return
    yield "torch.compile", lambda: function(*values)


def run(options):
    import torch
    if options.library:
        fusion.set_runtime_library(options.library)
    device = torch.device(options.device)
    if device.type == "cuda" and device.index is None:
        device = torch.device("cuda", torch.cuda.current_device())
    package = fusion.load(options.package, tensors.device_name(device))
    calls = fusion.native_calls()
    print(f"PyTorch {torch.__version__}, {package.device.description}; "
          f"calls from C: {'yes' if calls else 'no, ' + calls.reason}")
    synchronize = (torch.cuda.synchronize if device.type == "cuda"
                   else lambda: None)
    results = {}
    for name, call in rows(package, torch, device):
        results[name] = measure(call, options.calls, synchronize)
        print(f"{name:32} {results[name]['least_us']:8.2f} "
              f"{results[name]['median_us']:8.2f}", flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    build = commands.add_parser("build")
    build.add_argument("package")
    build.add_argument("--target", default="sm_90a")
    runs = commands.add_parser("run")
    runs.add_argument("package")
    runs.add_argument("--device", default="cuda")
    runs.add_argument("--library")
    runs.add_argument("--calls", type=int, default=2000)
    runs.add_argument("--json")
    options = parser.parse_args(arguments)
    if options.command == "build":
        fusion.compile(PROGRAM, target=options.target,
                       device="emulator").save(options.package)
    else:
        run(options)


if __name__ == "__main__":
    main()
