# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch CUDA tensors, used in place. Imports torch only if the caller did."""

import functools
import sys

_TORCH_NAMES = {"f64": "float64", "f32": "float32", "f16": "float16",
                "bf16": "bfloat16", "f8e4m3": "float8_e4m3fn",
                "f8e5m2": "float8_e5m2", "i64": "int64", "i32": "int32",
                "i16": "int16", "i8": "int8", "i1": "bool"}


def is_tensor(value):
    """Whether `value` is a PyTorch tensor with elements on a device."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


@functools.lru_cache(maxsize=None)
def torch_dtype(dtype):
    """PyTorch's element type for one of a package; None if it has none."""
    torch = sys.modules["torch"]
    return getattr(torch, _TORCH_NAMES.get(dtype, ""), None)


@functools.lru_cache(maxsize=None)
def known_dtypes():
    """PyTorch's element types that a package can have."""
    torch = sys.modules["torch"]
    return frozenset(getattr(torch, name) for name in _TORCH_NAMES.values()
                     if hasattr(torch, name))


def check(tensor, dtype, what):
    """Refuses what cannot be used in place, saying what to do instead.

    `what` is called for the name of the tensor in messages.
    """
    if tensor.device.type != "cuda":
        raise TypeError(f"{what()}: a tensor on {tensor.device.type}; pass a "
                        "CUDA tensor (.cuda()), or a NumPy array (.numpy())")
    if tensor.dtype != torch_dtype(dtype):
        raise TypeError(f"{what()}: expected {torch_dtype(dtype) or dtype}, "
                        f"got {tensor.dtype}")
    if not tensor.is_contiguous():
        raise ValueError(f"{what()}: not contiguous; pass .contiguous()")


def empty(shape, dtype, device):
    torch = sys.modules["torch"]
    if torch_dtype(dtype) is None:
        raise TypeError(f"PyTorch has no element type for {dtype}, the type of "
                        "a result; use NumPy arrays")
    return torch.empty(shape, dtype=torch_dtype(dtype), device=device)


def workspace(size, device):
    """Scratch memory from PyTorch's allocator, ordered on the current stream."""
    torch = sys.modules["torch"]
    return torch.empty(size, dtype=torch.uint8, device=device)


def current_stream(device):
    torch = sys.modules["torch"]
    return torch.cuda.current_stream(device).cuda_stream


def synchronize(index):
    """Waits for a device, when PyTorch still can; for use at destruction."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize(index)
