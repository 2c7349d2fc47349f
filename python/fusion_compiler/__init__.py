# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fusion: tensor programs in MLIR text become fused GPU kernels that run.

    package = fusion.compile(text, target="sm_90a")
    y = package(x)

`x` is a NumPy array, which is copied to the device and back (the GPU where
there is one, else the built-in PTX emulator); a PyTorch CUDA tensor, which is
used in place, on PyTorch's current stream; a PyTorch CPU tensor, for the
emulator; or an array of another framework on a CUDA device, by DLPack or
`__cuda_array_interface__`.

The package sits on two C interfaces: the runtime (libfusion-rt.so) and, for
`compile` alone, the compiler (libfusion-c.so). It goes through ctypes, and for
calls with PyTorch tensors through an extension module where that was built
(`native_calls`). NumPy is the only dependency. `fusion.onnx` and `fusion.jax`
compile models of these frameworks, `fusion.torch` is a backend of
torch.compile; each needs its packages.
"""

import importlib

from fusion_compiler.compiler import compile, compile_to  # noqa: A004
from fusion_compiler.device_arrays import DeviceArray
from fusion_compiler.devices import Device, default_device
from fusion_compiler.errors import Diagnostic, FusionError
from fusion_compiler.libraries import set_compiler_library, set_runtime_library
from fusion_compiler.native import native_calls
from fusion_compiler.package import Entry, Package, TensorSpec, load
from fusion_compiler.version import __version__

__all__ = [
    "Device", "DeviceArray", "Diagnostic", "Entry", "FusionError", "Package",
    "TensorSpec", "__version__", "compile", "compile_to", "default_device",
    "load", "native_calls", "set_compiler_library", "set_runtime_library",
]

# Front doors, imported when they are asked for.
_DOORS = ("jax", "onnx", "torch")


def __getattr__(name):
    if name in _DOORS:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
