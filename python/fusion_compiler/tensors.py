# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch tensors. Imports torch only if the caller did.

CUDA tensors are used in place; CPU tensors are copied to the emulator and the
results back.
"""

import functools
import sys

from fusion_compiler.errors import BadTensorType, BadTensorValue

_TORCH_NAMES = {"f64": "float64", "f32": "float32", "f16": "float16",
                "bf16": "bfloat16", "f8e4m3": "float8_e4m3fn",
                "f8e5m2": "float8_e5m2", "i64": "int64", "i32": "int32",
                "i16": "int16", "i8": "int8", "i1": "bool"}
# Device types of DLPack.
_CPU, _CUDA = 1, 2
# What the runtime asks of addresses, in bytes.
_ALIGNMENT = 16


def loaded():
    """The module torch if it was imported, else None."""
    torch = sys.modules.get("torch")
    # A torch that is being imported has no tensors yet.
    return torch if hasattr(torch, "Tensor") else None


def is_tensor(value):
    """Whether `value` is a PyTorch tensor."""
    torch = loaded()
    return torch is not None and isinstance(value, torch.Tensor)


@functools.lru_cache(maxsize=None)
def torch_dtype(dtype):
    """PyTorch's element type for one of a package; None if it has none."""
    return getattr(loaded(), _TORCH_NAMES.get(dtype, ""), None)


def device_name(device):
    """Fusion's name of the device that serves tensors on a torch.device."""
    return "emulator" if device.type == "cpu" else str(device)


def torch_device(name):
    """The torch.device of tensors that a device of Fusion's serves."""
    return loaded().device("cpu" if name == "emulator" else name)


def check_kind(tensor, what):
    """Refuses tensors whose elements are not simply in memory."""
    torch = loaded()
    dispatch = type(tensor).__torch_dispatch__
    if dispatch is not torch.Tensor.__torch_dispatch__ or (
            torch._C._functorch.is_functorch_wrapped_tensor(tensor)):
        raise BadTensorType.because(
            f"{what()}: a {type(tensor).__name__}, which is no plain tensor",
            "pass a plain tensor with its elements in memory")
    if tensor.layout is not torch.strided:
        raise BadTensorType.because(
            f"{what()}: a sparse tensor",
            "pass .to_dense()")
    if tensor.device.type not in ("cuda", "cpu"):
        raise BadTensorType.because(
            f"{what()}: a tensor on {tensor.device.type}",
            "pass a CUDA tensor (.cuda()), or a CPU tensor (.cpu()), which "
            "runs on the emulator")


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
    check_kind(tensor, what)
    if tensor.dtype != torch_dtype(dtype):
        raise BadTensorType.because(
            f"{what()}: expected {torch_dtype(dtype) or dtype}, got "
            f"{tensor.dtype}", f"pass .to({torch_dtype(dtype)})"
            if torch_dtype(dtype) else "use NumPy arrays")
    if not tensor.is_contiguous():
        raise BadTensorValue.because(
            f"{what()}: not contiguous",
            "pass .contiguous()")
    if tensor.is_neg():
        raise BadTensorValue.because(
            f"{what()}: its elements are yet to be negated",
            "pass .resolve_neg()")


def fit(tensor):
    """The tensor, or a copy, as `check` and the runtime want it in memory."""
    tensor = tensor.contiguous().resolve_neg()
    if tensor.data_ptr() % _ALIGNMENT:
        tensor = tensor.clone(memory_format=loaded().contiguous_format)
    return tensor


def empty(shape, dtype, device):
    """An uninitialised tensor of a package's element type, row-major."""
    if torch_dtype(dtype) is None:
        raise BadTensorType.because(
            f"PyTorch has no element type for {dtype}, the type of a result",
            "use NumPy arrays")
    return loaded().empty(shape, dtype=torch_dtype(dtype), device=device)


def allocator(device_type):
    """A function (sizes, strides, dtype) -> an uninitialised tensor, on the
    current device of a type; PyTorch's own short way where it has one."""
    torch = loaded()
    guards = getattr(getattr(torch._C, "_dynamo", None), "guards", None)
    short = getattr(guards, f"_empty_strided_{device_type}", None)
    return short or (lambda sizes, strides, dtype: torch.empty_strided(
        sizes, strides, dtype=dtype, device=device_type))


def empty_anywhere(sizes, strides, dtype, device_type, index):
    """An uninitialised tensor; device_type as DLPack numbers it."""
    torch = loaded()
    device = (torch.device("cuda", index) if device_type == _CUDA
              else torch.device("cpu"))
    return torch.empty_strided(sizes, strides, dtype=dtype, device=device)


def dlpack_device(name):
    """(device type, number) of DLPack for a device of Fusion's."""
    if name.startswith("cuda:"):
        return _CUDA, int(name[len("cuda:"):])
    return _CPU, 0


def workspace(size, device):
    """Scratch memory of PyTorch's, for work on the current stream."""
    torch = loaded()
    return torch.empty(size, dtype=torch.uint8, device=device)


def current_stream(device):
    """The handle of PyTorch's current stream on a CUDA device."""
    return loaded().cuda.current_stream(device).cuda_stream


def synchronize(index):
    """Waits for a device, when PyTorch still can; for use at destruction."""
    torch = loaded()
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.synchronize(index)
