# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The extension module that calls packages from C, where it was built.

Without it, or with a PyTorch that does not describe its tensors to C, calls
go through ctypes: the same results, and about 20 us more of host time each.

The file, fusion_native.abi3.so, is looked for: where FUSION_NATIVE_LIBRARY
says (a file, or "none" to do without); beside the runtime library; where the
libraries are looked for (libraries.py).
"""

import ctypes
import functools
import importlib.machinery
import importlib.util
import os
import pathlib
import threading
import typing

from fusion_compiler import abi, libraries, tensors
from fusion_compiler.errors import FusionError

_NAME = "fusion_native"
_FILE = "fusion_native.abi3.so"
_VARIABLE = "FUSION_NATIVE_LIBRARY"
# In the order of `struct Runtime`, lib/Bindings/Python/Native.h.
FUNCTIONS = ("InferShapes", "QueryWorkspace", "Launch", "Malloc", "Free",
              "CopyToDevice", "CopyToHost", "SectionsCreate",
              "SectionsDestroy", "SectionsGetInfo", "SectionsGetUse")
_LOCK = threading.Lock()


class NativeCalls(typing.NamedTuple):
    """Whether calls with PyTorch tensors are made from C, and if not, why."""
    available: bool
    reason: str

    def __bool__(self) -> bool:
        return self.available


def _candidates():
    beside = pathlib.Path(libraries.path("runtime")).parent
    return [folder / _FILE for folder in (beside, *libraries.folders())]


def _import(path):
    loader = importlib.machinery.ExtensionFileLoader(_NAME, str(path))
    spec = importlib.util.spec_from_file_location(_NAME, path, loader=loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    if module.ABI_VERSION != abi.ABI_VERSION:
        raise ImportError(f"it is for ABI version {module.ABI_VERSION} of the "
                          f"runtime, this package has {abi.ABI_VERSION}")
    runtime = abi.library()
    module.bind_runtime(abi.check, *(
        ctypes.cast(getattr(runtime, "fusionRt" + name), ctypes.c_void_p).value
        for name in FUNCTIONS))
    return module


def _named(path):
    """The module in a file that was asked for."""
    try:
        return _import(path)
    except (ImportError, OSError) as error:
        raise FusionError.of(
            "FUS-1301", f"{path} cannot be loaded: {error}",
            f"rebuild it on this machine, or unset {_VARIABLE}") from error


@functools.lru_cache(maxsize=None)
def _find():
    """(the module or None, why there is none)"""
    abi.library()
    named = os.environ.get(_VARIABLE)
    if named == "none":
        return None, f"{_VARIABLE} is none"
    if named:
        return _named(pathlib.Path(named)), ""
    for path in _candidates():
        if path.exists():
            try:
                return _import(path), ""
            except (ImportError, OSError) as error:
                return None, f"{path} cannot be loaded: {error}"
    return None, f"{_FILE} was not built"


def module():
    """The extension module, or None where there is none."""
    with _LOCK:
        return _find()[0]


@functools.lru_cache(maxsize=None)
def _bind_torch(extension, torch):
    """Why PyTorch's tensors cannot be described to C; "" when they can."""
    exchange = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    if exchange is None:
        return (f"PyTorch {torch.__version__} does not describe its tensors "
                "to C; 2.10 does")
    dtypes = tuple(tensors.torch_dtype(dtype) for dtype in abi.DTYPES)
    bound = extension.bind_torch(
        exchange, torch.Tensor, torch.nn.Parameter,
        tensors.allocator("cuda"), tensors.allocator("cpu"),
        tensors.empty_anywhere, torch.uint8, dtypes)
    return "" if bound else (f"PyTorch {torch.__version__} describes its "
                             "tensors to C in a form that is not known here")


def bind_torch() -> bool:
    """Hands PyTorch over to the extension; whether that was the first time."""
    extension, torch = module(), tensors.loaded()
    if extension is None or torch is None:
        return False
    with _LOCK:
        before = _bind_torch.cache_info().currsize
        reason = _bind_torch(extension, torch)
        return not reason and not before


def native_calls() -> NativeCalls:
    """Whether calls with PyTorch tensors are made from C, and if not, why.

    False, with a reason, where the extension module was not built or where
    PyTorch is too old for it: calls then take the slower way through ctypes.
    """
    extension = module()
    if extension is None:
        return NativeCalls(False, _find()[1])
    torch = tensors.loaded()
    if torch is None:
        return NativeCalls(True, "")
    bind_torch()
    reason = _bind_torch(extension, torch)
    return NativeCalls(not reason, reason)
