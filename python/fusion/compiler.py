# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiling MLIR text, through the compiler's C interface, fusion-c/Fusion.h."""

import ctypes
import re
import warnings
from ctypes import POINTER, Structure, c_char_p, c_int32, c_size_t, c_void_p

from fusion import libraries
from fusion.devices import Device, default_device
from fusion.errors import FusionError
from fusion.package import Package

ABI_VERSION = 1


class CompileOptions(Structure):
    _fields_ = [("structSize", c_size_t), ("target", c_char_p),
                ("fileName", c_char_p), ("compileTo", c_char_p),
                ("dumpPhasesTo", c_char_p), ("fastNumerics", c_int32),
                ("skipPtxas", c_int32)]


def _declare(library):
    library.fusionGetAbiVersion.restype = ctypes.c_uint32
    version = library.fusionGetAbiVersion()
    if version != ABI_VERSION:
        raise FusionError(
            f"libfusion-c.so has ABI version {version}, this package needs "
            f"{ABI_VERSION}; remedy: use the library and the Python package "
            "of one release")
    library.fusionCompile.argtypes = [c_char_p, c_size_t,
                                      POINTER(CompileOptions),
                                      POINTER(c_void_p)]
    library.fusionCompile.restype = c_int32
    library.fusionCompilationDestroy.argtypes = [c_void_p]
    library.fusionCompilationDestroy.restype = None
    library.fusionCompilationGetOutput.argtypes = [c_void_p, POINTER(c_size_t)]
    library.fusionCompilationGetOutput.restype = c_void_p
    for name in ("Diagnostics", "Explanation", "Ledger"):
        function = getattr(library, "fusionCompilationGet" + name)
        function.argtypes, function.restype = [c_void_p], c_char_p


libraries.register("compiler", "libfusion-c.so", "FUSION_C_LIBRARY", _declare)


def _error(diagnostics):
    """The exception for a failed compilation, from the compiler's messages."""
    parts = re.search(r"(FUS-\d{4}): (.*); (.*)", diagnostics)
    return FusionError(diagnostics or "the compiler failed without a message",
                       *(parts.groups() if parts else ("", diagnostics, "")))


def _run(text, target, file_name, phase=None, fast_numerics=False):
    """(output bytes, explanation) of one compilation; raises FusionError."""
    if isinstance(text, str):
        text = text.encode()
    library = libraries.get("compiler")
    options = CompileOptions(
        structSize=ctypes.sizeof(CompileOptions),
        target=target and target.encode(),
        fileName=file_name and str(file_name).encode(),
        compileTo=phase and phase.encode(), fastNumerics=fast_numerics)
    compilation = c_void_p()
    status = library.fusionCompile(text, len(text), ctypes.byref(options),
                                   ctypes.byref(compilation))
    try:
        diagnostics = library.fusionCompilationGetDiagnostics(
            compilation).decode(errors="replace").strip()
        if status:
            raise _error(diagnostics)
        if diagnostics:
            warnings.warn(diagnostics, stacklevel=4)
        size = c_size_t()
        address = library.fusionCompilationGetOutput(compilation,
                                                     ctypes.byref(size))
        output = ctypes.string_at(address, size.value) if size.value else b""
        explanation = library.fusionCompilationGetExplanation(
            compilation).decode(errors="replace")
        return output, explanation
    finally:
        library.fusionCompilationDestroy(compilation)


def compile(text, target=None, device=None, file_name=None,  # noqa: A001
            fast_numerics=False):
    """Compiles MLIR text to a package.

    `target` is the chip, "sm_90a" for example; by default that of the device,
    or, where that is the emulator, the module's `fusion.target` or sm_90a.
    `device` is where the package runs on NumPy arrays, as in `fusion.load`.
    `file_name` is what error messages call the text. With `fast_numerics`
    roundings that the program declares may be left out.

    The package has one attribute more than a loaded one: `explanation`, the
    fusion decisions with their reasons, as text.
    """
    if target is None:
        where = device or default_device()
        if not isinstance(where, Device):
            where = Device.open(where)
        target = where.target()
    output, explanation = _run(text, target, file_name,
                               fast_numerics=fast_numerics)
    package = Package(output, device)
    package.explanation = explanation
    return package


def compile_to(phase, text, target=None, file_name=None):
    """The program as a phase of the compiler leaves it, as text: "ptx", …"""
    return _run(text, target, file_name, phase)[0].decode()
