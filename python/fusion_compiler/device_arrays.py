# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of other frameworks on a device: CuPy's, JAX's, Numba's.

They come in by `__dlpack__` or `__cuda_array_interface__` and are used in
place. Results are `DeviceArray`, which any of these frameworks takes by the
same two. A call waits until its work is done, since nothing here knows how
long those frameworks keep the memory of an array that the caller lets go.
"""

import typing

import numpy as np

from fusion_compiler import abi, arrays, native
from fusion_compiler.devices import Device, Memory
from fusion_compiler.errors import BadTensorType, BadTensorValue

# Device types of DLPack: what is the host's, and what is CUDA's.
_HOST = (1, 3)
_CUDA = (2, 13)
# (code, bits) of DLPack, by the element type of a package. The second is what
# NumPy arrays of that type may be as well: the bits.
_CODES = {"f64": [(2, 64)], "f32": [(2, 32)], "f16": [(2, 16)],
          "bf16": [(4, 16), (1, 16)], "f8e4m3": [(10, 8), (1, 8)],
          "f8e5m2": [(12, 8), (1, 8)], "i64": [(0, 64)], "i32": [(0, 32)],
          "i16": [(0, 16)], "i8": [(0, 8)], "i1": [(6, 8)]}
_KINDS = {"f": 2, "i": 0, "u": 1, "b": 6}
_NAMES = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex"}
# The default stream, as DLPack and the interface for CUDA arrays number it.
_DEFAULT_STREAM = 1


class Placed(typing.NamedTuple):
    """An array of another framework as its owner describes it.

    `strides` count elements, or are None for row-major; `owner` keeps the
    memory.
    """
    address: int
    shape: typing.Tuple[int, ...]
    strides: typing.Optional[typing.Tuple[float, ...]]
    code: int
    bits: int
    device: str
    writable: bool
    owner: typing.Any


def place_of(value, what) -> typing.Optional[str]:
    """The device ("cuda:N") of an array of another framework; None for what
    is, or may become, a NumPy array."""
    kind = type(value)
    if kind in (np.ndarray, int, float, list, tuple):
        return None
    if isinstance(value, DeviceArray):
        return value.device.name
    if hasattr(kind, "__dlpack_device__") and hasattr(kind, "__dlpack__"):
        number, index = value.__dlpack_device__()
        if int(number) in _CUDA:
            return f"cuda:{int(index)}"
        if int(number) not in _HOST:
            raise BadTensorType.because(
                f"{what()}: on a device of type {int(number)} of DLPack",
                "pass an array on a CUDA device or on the host")
        return None
    if hasattr(kind, "__cuda_array_interface__"):
        # It names no device: the memory is of the current one.
        return "cuda:0"
    return None


def to_host(value):
    """A NumPy array of what `place_of` said is on the host."""
    if not hasattr(value, "__array__") and hasattr(value, "__dlpack__"):
        return np.from_dlpack(value)
    return np.asarray(value)


def _by_dlpack(value, extension):
    try:
        capsule = value.__dlpack__(stream=_DEFAULT_STREAM, max_version=(1, 0))
    except TypeError:  # written before there were versions
        capsule = value.__dlpack__(stream=_DEFAULT_STREAM)
    (address, shape, strides, code, bits, lanes, device_type, index, read_only,
     owner) = extension.read_capsule(capsule)
    if lanes != 1:
        code = -1
    device = f"cuda:{index}" if device_type in _CUDA else "the host"
    return Placed(address, shape, strides, code, bits, device, not read_only,
                  owner)


def _by_interface(value, device, what):
    described = value.__cuda_array_interface__
    if described.get("mask") is not None:
        raise BadTensorType.because(
            f"{what()}: an array with a mask",
            "pass one without")
    address, read_only = described["data"]
    dtype = np.dtype(described["typestr"])
    code = _KINDS.get(dtype.kind, -1) if dtype.isnative else -1
    strides = described.get("strides")
    if strides is not None:
        # One that is no multiple of an element's size is not row-major.
        strides = tuple(stride / dtype.itemsize for stride in strides)
    stream = described.get("stream")
    if stream is not None and stream != _DEFAULT_STREAM:
        # Its work on the array is ordered on that stream.
        abi.call("Synchronize", device.handle, stream)
    return Placed(address or 0, tuple(described["shape"]), strides, code,
                  dtype.itemsize * 8, device.name, not read_only, value)


def _is_row_major(shape, strides):
    if strides is None or 0 in shape:
        return True
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides)):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


def read(value, dtype, device, what) -> Placed:
    """An array on `device` as the package uses it; refuses what it cannot.

    `dtype` is the package's element type; `what` is called for the name of the
    array in messages.
    """
    if isinstance(value, DeviceArray):
        placed = Placed(value.address, value.shape, None,
                        *_CODES[value.dtype][0], value.device.name, True,
                        value)
    elif hasattr(value, "__dlpack__") and native.module() is not None:
        placed = _by_dlpack(value, native.module())
    elif hasattr(value, "__cuda_array_interface__"):
        placed = _by_interface(value, device, what)
    else:
        raise BadTensorType.because(
            f"{what()}: an array that only DLPack describes, which needs the "
            f"extension module ({native.native_calls().reason})",
            "build it, or pass an array with __cuda_array_interface__")
    if placed.device != device.name:
        raise BadTensorValue.because(
            f"{what()}: on {placed.device}, others on {device.name}",
            f"copy it to {device.name}")
    if (placed.code, placed.bits) not in _CODES.get(dtype, ()):
        kind = _NAMES.get(placed.code, f"type {placed.code} of DLPack, ")
        raise BadTensorType.because(
            f"{what()}: expected {dtype}, got {kind}{placed.bits}",
            "convert it before the call" if dtype in _CODES
            else "use NumPy arrays")
    if not _is_row_major(placed.shape, placed.strides):
        raise BadTensorValue.because(
            f"{what()}: not contiguous and row-major",
            "pass a contiguous copy")
    return placed


class DeviceArray:
    """A result on a device, row-major, complete when it is returned.

    `shape` is a tuple of ints, `dtype` the package's element type ("f32", …),
    `address` where it is on `device`. Other frameworks take it without a copy
    (`cupy.asarray(x)`, `torch.from_dlpack(x)`, `jax.dlpack.from_dlpack(x)`);
    `numpy.asarray(x)` copies it to the host.
    """

    def __init__(self, memory: Memory, shape: typing.Tuple[int, ...],
                 dtype: str):
        self._memory = memory
        self.shape, self.dtype = tuple(shape), dtype

    @property
    def device(self) -> Device:
        """The device that the array is on."""
        return self._memory.device

    @property
    def address(self) -> int:
        """The address on the device."""
        return self._memory.address

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        if copy is False:
            raise ValueError("an array on a device cannot become one of NumPy "
                             "without a copy")
        stored = arrays.empty_storage(self.dtype, self.shape)
        if stored.nbytes:
            self._memory.copy_to(stored)
        result = arrays.from_device(stored, self.dtype, self.shape)
        return result if dtype is None else result.astype(dtype)

    def __dlpack_device__(self) -> typing.Tuple[int, int]:
        name = self.device.name
        if not name.startswith("cuda:"):
            raise BufferError(f"arrays on {name} are for this package alone; "
                              "use numpy.asarray")
        return 2, int(name[len("cuda:"):])

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None,
                   copy=None):
        # The work is done, so that every stream may use the array at once.
        device = self.__dlpack_device__()
        if copy or dl_device not in (None, device):
            raise BufferError("an array on a device is given as it is: no "
                              "copy, no other device")
        extension = native.module()
        if extension is None:
            raise BufferError("DLPack needs the extension module "
                              f"({native.native_calls().reason})")
        versioned = max_version is not None and max_version[0] >= 1
        return extension.make_capsule(
            self._memory, self.address, self.shape,
            abi.DTYPES.index(self.dtype), *device, versioned)

    @property
    def __cuda_array_interface__(self) -> dict:
        self.__dlpack_device__()
        if self.dtype in ("bf16", "f8e4m3", "f8e5m2", "i4"):
            # AttributeError makes consumers try DLPack.
            raise AttributeError("__cuda_array_interface__ has no "
                                 f"{self.dtype}")
        typestr = arrays.empty_storage(self.dtype, ()).dtype.str
        return {"shape": self.shape, "typestr": typestr, "strides": None,
                "data": (self.address if 0 not in self.shape else 0, False),
                "version": 3, "stream": None}

    def __repr__(self) -> str:
        sizes = "x".join(map(str, (*self.shape, self.dtype)))
        return f"<fusion.DeviceArray {sizes} on {self.device.name}>"
