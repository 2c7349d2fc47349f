# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The library with both C APIs, and the handles that bindings pass to it.

The bindings give and take pointers in capsules that are named by class
(mlir-c/Bindings/Python/Interop.h).
"""

import ctypes
import importlib
import sys
import typing
from ctypes import POINTER, c_char_p, c_int32, c_size_t, c_void_p

from fusion_compiler import compiler, libraries
from fusion_compiler.errors import FusionError


class Handle(ctypes.Structure):
    """MlirModule, MlirOperation, …: each is a struct of one pointer."""
    _fields_ = [("ptr", c_void_p)]


class StringRef(ctypes.Structure):
    """MlirStringRef; what it points to lives as long as the caller keeps it."""
    _fields_ = [("data", c_void_p), ("length", c_size_t)]

    @classmethod
    def of(cls, text: str) -> "StringRef":
        data = text.encode()
        result = cls(ctypes.cast(c_char_p(data), c_void_p), len(data))
        result.keep = data
        return result

    def __str__(self) -> str:
        return ctypes.string_at(self.data, self.length).decode()


def _declare(library):
    compiler.declare(library)
    results = [POINTER(c_void_p)]
    options = [POINTER(compiler.CompileOptions)]
    for name, arguments in (("fusionCompileModule", [Handle, *options]),
                            ("fusionPlanOperation", [Handle, *options]),
                            ("fusionRunPipeline", [Handle, StringRef])):
        function = getattr(library, name)
        function.argtypes, function.restype = arguments + results, c_int32


libraries.register("mlir", "fusion/libMLIRPythonCAPI.so",
                   "FUSION_MLIR_LIBRARY", _declare)


# The extension module, which has MLIR with it.
_BINDINGS = "mlir._mlir_libs._mlir"


def _load():
    """(the library, the bindings' module `ir`)"""
    if _BINDINGS in sys.modules:
        raise FusionError.of(
            "FUS-1302", "mlir was imported before fusion_compiler.mlir, with "
            "an MLIR that is not the compiler's",
            "import fusion_compiler.mlir first")
    loaded = libraries.get("mlir")
    try:
        bindings = importlib.import_module("mlir.ir")
    except ModuleNotFoundError as error:
        raise FusionError.of(
            "FUS-1305", f"there are no Python bindings of MLIR ({error})",
            "install a package `mlir` of LLVM 22.1") from error
    except ImportError as error:
        raise FusionError.of(
            "FUS-1306", f"the Python bindings of MLIR do not fit ({error})",
            "install a package `mlir` of LLVM 22.1") from error
    # Where the bindings look for the classes of the ops of a dialect.
    importlib.import_module(_BINDINGS).globals.append_dialect_search_prefix(
        "fusion_compiler.mlir.dialects")
    return loaded, bindings


# Functions of `library` run without the interpreter's lock, others with it: the
# bindings' handlers of diagnostics need it.
library, ir = _load()
_locked = ctypes.PyDLL(str(libraries.path("mlir")))


def declare(name: str, result: typing.Any, *arguments: typing.Any):
    """A function of MLIR's C API or of the dialects'."""
    function = getattr(_locked, name)
    function.argtypes, function.restype = arguments, result
    return function


declare("mlirFusionRegisterAllPasses", None)()
_register_all = declare("mlirFusionRegisterAllDialects", None, Handle)

_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.argtypes, _pointer_of.restype = [ctypes.py_object,
                                             c_char_p], c_void_p
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.argtypes = [c_void_p, c_char_p, c_void_p]
_new_capsule.restype = ctypes.py_object
# Capsules do not own their names.
_NAMES = {kind: f"mlir.ir.{kind}._CAPIPtr".encode()
          for kind in ("Attribute", "Context", "DialectRegistry", "Module",
                       "Operation", "Type")}


def handle(value: typing.Any, kind: str) -> Handle:
    """The handle in an object of the bindings' class `kind`; TypeError for an
    object of others, those of another MLIR's bindings included."""
    try:
        return Handle(_pointer_of(value._CAPIPtr, _NAMES[kind]))
    except (AttributeError, ValueError):
        raise TypeError(f"expected an mlir.ir.{kind}, got "
                        f"{type(value).__module__}.{type(value).__name__}"
                        ) from None


def new_object(kind: str, made: Handle) -> typing.Any:
    """The object of the bindings' class `kind` for a handle that is not null;
    it owns what such objects own."""
    capsule = _new_capsule(made.ptr, _NAMES[kind], None)
    return getattr(ir, kind)._CAPICreate(capsule)


def register_dialects(context: typing.Any) -> None:
    """Lets `context`, an mlir.ir.Context, know both dialects and what their
    programs and passes need."""
    registry = ir.DialectRegistry()
    _register_all(handle(registry, "DialectRegistry"))
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()


def context() -> typing.Any:
    """A new mlir.ir.Context with both dialects."""
    result = ir.Context()
    register_dialects(result)
    return result
