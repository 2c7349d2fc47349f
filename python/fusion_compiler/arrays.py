# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy arrays to and from the element types of packages.

NumPy has neither bf16 nor the 8-bit floats. bf16 inputs may be float32, which
is rounded to nearest even, ml_dtypes' bfloat16, or uint16 with the bits; bf16
results are float32, widened exactly. The 8-bit floats are taken and given as
uint8 with the bits. i4 is taken and given as int8, one element a byte.
ml_dtypes' types are taken, and no package but NumPy is needed
(docs/Rationale/Libraries.md).
"""

import numpy as np

from fusion_compiler.errors import BadTensorType, BadTensorValue

_SAME = {"f64": np.float64, "f32": np.float32, "f16": np.float16,
         "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8,
         "i1": np.bool_}
_RAW = {"bf16": np.uint16, "f8e4m3": np.uint8, "f8e5m2": np.uint8}
_ML_DTYPES = {"bf16": "bfloat16", "f8e4m3": "float8_e4m3fn",
              "f8e5m2": "float8_e5m2", "i4": "int4"}


def round_to_bf16(values):
    """float32 to the bits of bf16, to nearest, ties to even; NaN stays NaN."""
    values = np.ascontiguousarray(values, np.float32)
    bits = values.view(np.uint32)
    # In place: memory is what takes the time.
    rounded = bits >> 16
    rounded &= 1
    rounded += 0x7FFF
    rounded += bits
    rounded >>= 16
    result = rounded.astype(np.uint16)
    if (nan := np.isnan(values)).any():
        result[nan] = (bits[nan] >> 16) | 0x40
    return result


def widen_bf16(bits):
    """The bits of bf16 to float32, exactly."""
    wide = bits.astype(np.uint32)
    wide <<= 16
    return wide.view(np.float32)


def _pack_i4(values, what):
    if values.size and (values.min() < -8 or values.max() > 7):
        raise BadTensorValue.because(
            f"{what}: i4 holds -8 to 7, got "
            f"{values.min()} to {values.max()}",
            "pass numbers that fit")
    nibbles = np.append(values.reshape(-1),
                        np.zeros(values.size % 2, np.int8)) & 15
    return (nibbles[0::2] | (nibbles[1::2] << 4)).astype(np.uint8)


def _unpack_i4(packed, shape):
    count = int(np.prod(shape, dtype=np.int64))
    nibbles = np.stack((packed & 15, packed >> 4), axis=-1).reshape(-1)[:count]
    return ((nibbles.astype(np.int8) ^ 8) - 8).astype(np.int8).reshape(shape)


def to_device(array, dtype, what):
    """The array as the device stores it, contiguous. Refuses other types."""
    array = np.asarray(array)
    if dtype in _SAME and array.dtype == _SAME[dtype]:
        # Not ascontiguousarray, which would turn rank 0 into rank 1.
        return np.require(array, requirements="C")
    if dtype in _RAW:
        if array.dtype == _RAW[dtype]:
            return np.require(array, requirements="C")
        if array.dtype.name == _ML_DTYPES[dtype]:
            return np.require(array, requirements="C").view(_RAW[dtype])
        if dtype == "bf16" and array.dtype == np.float32:
            return round_to_bf16(array).reshape(array.shape)
    if dtype == "i4" and (array.dtype == np.int8 or
                          array.dtype.name == _ML_DTYPES[dtype]):
        return _pack_i4(array.astype(np.int8), what)
    raise BadTensorType.because(
        f"{what}: expected {expected(dtype)}, got {array.dtype}",
        "convert it before the call")


def expected(dtype):
    """The NumPy types that an input of this element type may have."""
    if dtype == "bf16":
        return "float32 (rounded to bf16), bfloat16 or uint16 (its bits)"
    if dtype == "i4":
        return "int8 (from -8 to 7) or int4"
    if dtype in _RAW:
        return f"{_ML_DTYPES[dtype]} or uint8 (its bits)"
    return np.dtype(_SAME[dtype]).name


def empty_storage(dtype, shape):
    """Uninitialised host memory for a result as the device stores it."""
    if dtype == "i4":
        return np.empty((int(np.prod(shape, dtype=np.int64)) + 1) // 2,
                        np.uint8)
    return np.empty(shape, _SAME.get(dtype) or _RAW[dtype])


def from_device(storage, dtype, shape):
    """What the caller gets of a result in its device form."""
    if dtype == "bf16":
        return widen_bf16(storage).reshape(shape)
    if dtype == "i4":
        return _unpack_i4(storage, shape)
    return storage
