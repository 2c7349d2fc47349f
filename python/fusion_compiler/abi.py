# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime's C interface, include/fusion-rt/Runtime.h, in ctypes.

Names and order of fields are the header's; tests/test_abi.py compares the two.
"""

import ctypes
from ctypes import (POINTER, Structure, byref, c_char, c_char_p, c_double,
                    c_int32, c_int64, c_size_t, c_uint8, c_uint32, c_uint64,
                    c_void_p)

from fusion_compiler import libraries
from fusion_compiler.errors import FusionError

ABI_VERSION = 1
MAX_RANK = 16

# FusionRtDType, by value.
DTYPES = ("f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i64", "i32", "i16",
          "i8", "i4", "i1")


class Sized(Structure):
    """A struct that begins with its size."""

    def __init__(self, **fields):
        super().__init__(structSize=ctypes.sizeof(type(self)), **fields)


class DeviceOptions(Sized):
    _fields_ = [("structSize", c_size_t), ("synchronous", c_int32),
                ("skipUninitializedCheck", c_int32),
                ("skipRaceChecks", c_int32), ("emulatorThreads", c_uint32),
                ("memoryLimit", c_uint64), ("profile", c_int32),
                ("payload", c_int32), ("earlyAsynchrony", c_int32),
                ("maxSteps", c_uint64), ("maxLaunchSteps", c_uint64)]


class DeviceInfo(Sized):
    _fields_ = [("structSize", c_size_t), ("name", c_char * 256),
                ("isEmulator", c_int32), ("computeMajor", c_int32),
                ("computeMinor", c_int32), ("multiprocessors", c_int32),
                ("driverVersion", c_int32), ("memoryBytes", c_uint64),
                ("memoryFreeBytes", c_uint64), ("l2Bytes", c_uint64),
                ("memoryClockKHz", c_int32), ("memoryBusBits", c_int32),
                ("clockKHz", c_int32), ("sharedBytesPerBlock", c_uint32)]


class PackageInfo(Sized):
    _fields_ = [("structSize", c_size_t), ("target", c_char_p),
                ("producer", c_char_p), ("ledgerJson", c_char_p),
                ("ptxVersion", c_uint32), ("numEntries", c_uint32),
                ("numKernels", c_uint32)]


class KernelInfo(Sized):
    _fields_ = [("structSize", c_size_t), ("name", c_char_p),
                ("source", c_char_p), ("blockX", c_uint32),
                ("staticSharedBytes", c_uint32),
                ("dynamicSharedBytes", c_uint32),
                ("predictedRegisters", c_int32),
                ("predictedSpillBytes", c_int32),
                ("predictedSharedBytes", c_int32),
                ("measuredRegisters", c_int32),
                ("measuredSpillBytes", c_int32),
                ("measuredSharedBytes", c_int32),
                ("loadedRegisters", c_int32), ("loadedLocalBytes", c_int32),
                ("loadedSharedBytes", c_int32), ("loadedMaxThreads", c_int32),
                ("predictedMicroseconds", c_double)]


class EntryInfo(Sized):
    _fields_ = [("structSize", c_size_t), ("name", c_char_p),
                ("numInputs", c_uint32), ("numOutputs", c_uint32),
                ("numSymbols", c_uint32), ("numSteps", c_uint32),
                ("kernelsBefore", c_uint32), ("kernelsAfter", c_uint32),
                ("predictedMicroseconds", c_double)]


class TensorInfo(Sized):
    _fields_ = [("structSize", c_size_t), ("name", c_char_p),
                ("dtype", c_int32), ("rank", c_int32), ("byValue", c_int32),
                ("dims", c_int64 * MAX_RANK), ("dimNames", c_char_p * MAX_RANK),
                ("overwritesInput", c_int32), ("overwrittenInput", c_uint32)]


class SymbolInfo(Sized):
    _fields_ = [("structSize", c_size_t), ("name", c_char_p),
                ("input", c_uint32), ("dim", c_int32)]


class Tensor(Structure):
    _fields_ = [("address", c_uint64), ("value", c_void_p),
                ("dims", POINTER(c_int64)), ("dtype", c_int32),
                ("rank", c_int32)]


class Shape(Structure):
    _fields_ = [("dtype", c_int32), ("rank", c_int32),
                ("dims", c_int64 * MAX_RANK), ("bytes", c_uint64)]


class Figures(Sized):
    _fields_ = [("structSize", c_size_t), ("bytesBefore", c_int64),
                ("bytesAfter", c_int64), ("flops", c_int64),
                ("workspaceBytes", c_int64), ("numLaunches", c_uint32)]


class LaunchArgs(Sized):
    _fields_ = [("structSize", c_size_t), ("inputs", POINTER(Tensor)),
                ("outputs", POINTER(Tensor)), ("numInputs", c_uint32),
                ("numOutputs", c_uint32), ("stream", c_void_p),
                ("workspace", c_uint64), ("workspaceBytes", c_uint64),
                ("sections", c_void_p), ("blocks", POINTER(c_uint64)),
                ("beginSection", c_void_p), ("userData", c_void_p)]


_TENSORS = POINTER(Tensor)
# Functions that return a status: name after "fusionRt", argument types.
_FUNCTIONS = {
    "DeviceCreate": [c_char_p, POINTER(DeviceOptions), POINTER(c_void_p)],
    "GetCudaDeviceCount": [POINTER(c_int32)],
    "DeviceGetInfo": [c_void_p, POINTER(DeviceInfo)],
    "Malloc": [c_void_p, c_uint64, c_char_p, POINTER(c_uint64)],
    "Free": [c_void_p, c_uint64],
    "CopyToDevice": [c_void_p, c_uint64, c_void_p, c_uint64, c_void_p],
    "CopyToHost": [c_void_p, c_void_p, c_uint64, c_uint64, c_void_p],
    "Fill": [c_void_p, c_uint64, c_uint8, c_uint64, c_void_p],
    "StreamCreate": [c_void_p, POINTER(c_void_p)],
    "Synchronize": [c_void_p, c_void_p],
    "PackageLoad": [c_void_p, c_char_p, c_size_t, POINTER(c_void_p)],
    "PackageGetInfo": [c_void_p, POINTER(PackageInfo)],
    "PackageGetKernel": [c_void_p, c_uint32, POINTER(KernelInfo)],
    "PackageGetEntry": [c_void_p, c_uint32, POINTER(c_void_p)],
    "EntryGetInfo": [c_void_p, POINTER(EntryInfo)],
    "EntryGetInput": [c_void_p, c_uint32, POINTER(TensorInfo)],
    "EntryGetOutput": [c_void_p, c_uint32, POINTER(TensorInfo)],
    "EntryGetSymbol": [c_void_p, c_uint32, POINTER(SymbolInfo)],
    "InferShapes": [c_void_p, _TENSORS, c_uint32, POINTER(Shape), c_uint32],
    "QueryFigures": [c_void_p, _TENSORS, c_uint32, POINTER(Figures)],
    "QueryWorkspace": [c_void_p, _TENSORS, c_uint32, POINTER(c_uint64)],
    "Launch": [c_void_p, POINTER(LaunchArgs)],
}


def _declare(library):
    library.fusionRtGetAbiVersion.restype = c_uint32
    version = library.fusionRtGetAbiVersion()
    if version != ABI_VERSION:
        raise FusionError.of(
            "FUS-1302", f"libfusion-rt.so has ABI version {version}, this "
            f"package needs {ABI_VERSION}",
            "use the library and the Python package of one release")
    for name, arguments in _FUNCTIONS.items():
        function = getattr(library, "fusionRt" + name)
        function.argtypes, function.restype = arguments, c_int32
    for name in ("LastError", "LastErrorCause", "LastErrorRemedy"):
        function = getattr(library, "fusionRtGet" + name)
        function.argtypes, function.restype = [], c_char_p
    for name in ("DeviceDestroy", "PackageDestroy"):
        function = getattr(library, "fusionRt" + name)
        function.argtypes, function.restype = [c_void_p], None


libraries.register("runtime", "libfusion-rt.so", "FUSION_RT_LIBRARY", _declare)


def library():
    """The runtime library, its functions declared."""
    return libraries.get("runtime")


def check(status):
    """Raises FusionError for a status that is not 0."""
    if status:
        lib = library()
        raise FusionError(lib.fusionRtGetLastError().decode(errors="replace"),
                          f"FUS-{status:04d}",
                          lib.fusionRtGetLastErrorCause().decode(
                              errors="replace"),
                          lib.fusionRtGetLastErrorRemedy().decode(
                              errors="replace"))


def call(name, *arguments):
    """Calls fusionRt<name> and raises FusionError if it fails."""
    check(getattr(library(), "fusionRt" + name)(*arguments))


def query(struct, name, *arguments):
    """The struct that fusionRt<name> fills in as its last argument."""
    value = struct()
    call(name, *arguments, byref(value))
    return value


def handle(name, *arguments):
    """The handle that fusionRt<name> creates as its last argument."""
    value = c_void_p()
    call(name, *arguments, byref(value))
    return value
