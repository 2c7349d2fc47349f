# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiling MLIR text, through the compiler's C interface, fusion-c/Fusion.h."""

import ctypes
import os
import typing
import warnings
from ctypes import (POINTER, Structure, byref, c_char_p, c_int32, c_size_t,
                    c_uint32, c_void_p)

from fusion_compiler import libraries
from fusion_compiler.devices import Device, default_device
from fusion_compiler.errors import Diagnostic, FusionError
from fusion_compiler.package import Package

ABI_VERSION = 1


class CompileOptions(Structure):
    _fields_ = [("structSize", c_size_t), ("target", c_char_p),
                ("fileName", c_char_p), ("compileTo", c_char_p),
                ("dumpPhasesTo", c_char_p), ("fastNumerics", c_int32),
                ("skipPtxas", c_int32), ("timeLimitSeconds", c_uint32),
                ("inProcess", c_int32), ("report", c_char_p)]


class CDiagnostic(Structure):
    _fields_ = [("structSize", c_size_t), ("severity", c_int32),
                ("code", c_int32), ("cause", c_char_p), ("remedy", c_char_p),
                ("fileName", c_char_p), ("line", c_uint32),
                ("column", c_uint32), ("numNotes", c_uint32)]


# FusionSeverity, by value.
_SEVERITIES = {1: "note", 2: "warning", 3: "error"}


def _wrong_release(what):
    return FusionError.of("FUS-1302", f"libfusion-c.so has {what}",
                          "use the library and the Python package of one "
                          "release")


def declare(library):
    """Gives the functions of fusion-c/Fusion.h in `library` their types."""
    library.fusionGetAbiVersion.restype = ctypes.c_uint32
    version = library.fusionGetAbiVersion()
    if version != ABI_VERSION:
        raise _wrong_release(f"ABI version {version}, this package needs "
                             f"{ABI_VERSION}")
    if not hasattr(library, "fusionCompilationGetNote"):
        raise _wrong_release("no structured diagnostics")
    library.fusionCompile.argtypes = [c_char_p, c_size_t,
                                      POINTER(CompileOptions),
                                      POINTER(c_void_p)]
    library.fusionCompile.restype = c_int32
    library.fusionCompilationDestroy.argtypes = [c_void_p]
    library.fusionCompilationDestroy.restype = None
    library.fusionCompilationGetOutput.argtypes = [c_void_p, POINTER(c_size_t)]
    library.fusionCompilationGetOutput.restype = c_void_p
    library.fusionCompilationGetNumDiagnostics.argtypes = [c_void_p]
    library.fusionCompilationGetNumDiagnostics.restype = c_size_t
    library.fusionCompilationGetDiagnostic.argtypes = [
        c_void_p, c_size_t, POINTER(CDiagnostic)]
    library.fusionCompilationGetNote.argtypes = [
        c_void_p, c_size_t, c_size_t, POINTER(CDiagnostic)]
    for name in ("Diagnostics", "Explanation", "Ledger"):
        function = getattr(library, "fusionCompilationGet" + name)
        function.argtypes, function.restype = [c_void_p], c_char_p


libraries.register("compiler", "libfusion-c.so", "FUSION_C_LIBRARY", declare)


def _read(get, *arguments):
    """(what a function of the interface fills in, as a Diagnostic without
    notes; the number of notes)"""
    raw = CDiagnostic(structSize=ctypes.sizeof(CDiagnostic))
    get(*arguments, byref(raw))
    cause, remedy, file = (text.decode(errors="replace") for text in
                           (raw.cause, raw.remedy, raw.fileName))
    return {"severity": _SEVERITIES[raw.severity],
            "code": f"FUS-{raw.code:04d}" if raw.code else "", "cause": cause,
            "remedy": remedy, "file": file, "line": raw.line,
            "column": raw.column}, raw.numNotes


def _diagnostics(library, compilation):
    """Everything that a compilation reported, as Diagnostic objects."""
    result = []
    for i in range(library.fusionCompilationGetNumDiagnostics(compilation)):
        parts, num_notes = _read(library.fusionCompilationGetDiagnostic,
                                 compilation, i)
        notes = tuple(
            Diagnostic(**_read(library.fusionCompilationGetNote, compilation,
                               i, note)[0])
            for note in range(num_notes))
        result.append(Diagnostic(**parts, notes=notes))
    return result


def _error(text, diagnostics):
    """The exception for a failed compilation: its first error, in parts."""
    first = next(one for one in diagnostics if one.severity == "error")
    return FusionError(text, first.code, first.cause, first.remedy,
                       diagnostics)


class Outcome(typing.NamedTuple):
    """What a compilation that succeeded has made."""

    output: bytes
    explanation: str
    ledger: str


def take_outcome(library, status, compilation) -> Outcome:
    """The results of a compilation, which is destroyed; its warnings are
    warnings. Raises FusionError if it failed."""
    try:
        diagnostics = library.fusionCompilationGetDiagnostics(
            compilation).decode(errors="replace").strip()
        if status:
            raise _error(diagnostics, _diagnostics(library, compilation))
        if diagnostics:
            warnings.warn(diagnostics, stacklevel=5)
        size = c_size_t()
        address = library.fusionCompilationGetOutput(compilation,
                                                     ctypes.byref(size))
        return Outcome(
            ctypes.string_at(address, size.value) if size.value else b"",
            library.fusionCompilationGetExplanation(
                compilation).decode(errors="replace"),
            library.fusionCompilationGetLedger(
                compilation).decode(errors="replace"))
    finally:
        library.fusionCompilationDestroy(compilation)


def _run(text, target, file_name, phase=None, fast_numerics=False,
         time_limit=None, report=None):
    """(output bytes, explanation) of one compilation; raises FusionError."""
    if isinstance(text, str):
        text = text.encode()
    library = libraries.get("compiler")
    options = CompileOptions(
        structSize=ctypes.sizeof(CompileOptions),
        target=target and target.encode(),
        fileName=file_name and str(file_name).encode(),
        compileTo=phase and phase.encode(), fastNumerics=fast_numerics,
        timeLimitSeconds=max(1, round(time_limit)) if time_limit else 0,
        report=os.fsencode(report) if report else None)
    compilation = c_void_p()
    status = library.fusionCompile(text, len(text), ctypes.byref(options),
                                   ctypes.byref(compilation))
    outcome = take_outcome(library, status, compilation)
    return outcome.output, outcome.explanation


def compile(text: typing.Union[str, bytes],  # noqa: A001
            target: typing.Optional[str] = None,
            device: typing.Union[str, Device, None] = None,
            file_name: typing.Union[str, os.PathLike, None] = None,
            fast_numerics: bool = False,
            time_limit: typing.Optional[float] = None,
            report: typing.Union[str, os.PathLike, None] = None) -> Package:
    """Compiles MLIR text to a package.

    `target` is the chip, "sm_90a" for example; by default that of the device,
    or, where that is the emulator, the module's `fusion.target` or sm_90a.
    `device` is where the package runs on NumPy arrays, as in `fusion.load`.
    `file_name` is what error messages call the text. With `fast_numerics`
    roundings that the program declares may be left out. `time_limit` is in
    seconds. `report` is a file for the page that shows the program before and
    after, every decision, IR and PTX (docs/Explain.md).

    The compiler runs in a process of its own, so that a defect of it is a
    FusionError here (FUS-1070), whose notes name a file that reproduces it.

    The package's `explanation` is the fusion decisions with their reasons, as
    text. Raises FusionError with the code, the place, the cause and the remedy
    of the first error.
    """
    if target is None:
        where = device or default_device()
        if not isinstance(where, Device):
            where = Device.open(where)
        target = where.target()
    output, explanation = _run(text, target, file_name,
                               fast_numerics=fast_numerics,
                               time_limit=time_limit, report=report)
    package = Package(output, device)
    package.explanation = explanation
    return package


def compile_to(phase: str, text: typing.Union[str, bytes],
               target: typing.Optional[str] = None,
               file_name: typing.Union[str, os.PathLike, None] = None) -> str:
    """The program as a phase of the compiler leaves it, as text: "ptx", …"""
    return _run(text, target, file_name, phase)[0].decode()
