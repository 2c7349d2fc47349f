# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fusion: tensor programs in MLIR text become fused GPU kernels that run.

    package = fusion.compile(text, target="sm_90a")
    y = package(x)

`x` is a NumPy array, which is copied to the device and back (the GPU where
there is one, else the built-in PTX emulator), or a PyTorch CUDA tensor, which
is used in place, on PyTorch's current stream.

The package sits on two C interfaces through ctypes: the runtime
(libfusion-rt.so) and, for `compile` alone, the compiler (libfusion-c.so).
NumPy is the only dependency.
"""

from fusion_compiler.compiler import compile, compile_to  # noqa: A004
from fusion_compiler.devices import Device, default_device
from fusion_compiler.errors import Diagnostic, FusionError
from fusion_compiler.libraries import set_compiler_library, set_runtime_library
from fusion_compiler.package import Entry, Package, TensorSpec, load

__all__ = [
    "Device", "Diagnostic", "Entry", "FusionError", "Package", "TensorSpec",
    "compile", "compile_to", "default_device", "load", "set_compiler_library",
    "set_runtime_library",
]
