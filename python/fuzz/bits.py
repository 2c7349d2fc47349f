# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors as bytes: how they are drawn, decoded, compared and stored."""

import array
import math
import random
import struct

# Names of element types in .npy files, as fusion-run writes them.
DESCR = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "bf16": "|V2",
         "f8e4m3": "|V1", "f8e5m2": "|V1", "i64": "<i8", "i32": "<i4",
         "i16": "<i2", "i8": "|i1", "i4": "|i1", "i1": "|b1"}
# How far from one another two results may be that approximate instructions
# had a part in, of the largest magnitude in the tensor. Programs that round to
# 16 bits in between differ by such a rounding.
CLOSE = {"f64": 2.0 ** -12, "f32": 2.0 ** -12, "f16": 2.0 ** -8,
         "bf16": 2.0 ** -5, "f8e4m3": 2.0 ** -2, "f8e5m2": 2.0 ** -1}


def round_to_bf16(numbers):
    """f32 numbers as bits of bf16, ties to even."""
    words = array.array("I", array.array("f", numbers).tobytes())
    return array.array("H", [(w + 0x7FFF + (w >> 16 & 1)) >> 16
                             for w in words]).tobytes()


def draw(dtype, count, seed):
    """The bytes of an input: floats from the normal distribution, integers
    from 0 to 7, as fusion-run --random has them."""
    rng = random.Random(seed)
    if dtype == "i1":
        return bytes(rng.randrange(2) for _ in range(count))
    if dtype == "i4":
        return bytes(rng.randrange(8) | rng.randrange(8) << 4
                     for _ in range((count + 1) // 2))
    if dtype[0] == "i":
        code = {"i8": "b", "i16": "h", "i32": "i", "i64": "q"}[dtype]
        return array.array(code, [rng.randrange(8)
                                  for _ in range(count)]).tobytes()
    if dtype in ("f8e4m3", "f8e5m2"):
        # Finite numbers of at most 4 in magnitude.
        most = 0x48 if dtype == "f8e4m3" else 0x44
        return bytes(rng.randrange(most + 1) | rng.randrange(2) << 7
                     for _ in range(count))
    numbers = [rng.gauss(0, 1) for _ in range(count)]
    if dtype == "bf16":
        return round_to_bf16(numbers)
    if dtype == "f16":
        return struct.pack(f"<{count}e", *numbers)
    return array.array("d" if dtype == "f64" else "f", numbers).tobytes()


def decode(dtype, data):
    """The numbers of a tensor of floats; None for other types."""
    if dtype in ("f32", "f64"):
        return array.array("f" if dtype == "f32" else "d", data)
    if dtype == "f16":
        return struct.unpack(f"<{len(data) // 2}e", data)
    if dtype == "bf16":
        words = array.array("H", data)
        return array.array("f", array.array("I", [w << 16
                                                  for w in words]).tobytes())
    if dtype in ("f8e4m3", "f8e5m2"):
        return [decode_small(dtype, byte) for byte in data]
    return None


def decode_small(dtype, byte):
    mantissa = 3 if dtype == "f8e4m3" else 2
    bias = 7 if dtype == "f8e4m3" else 15
    sign = -1.0 if byte & 0x80 else 1.0
    exponent, fraction = byte >> mantissa & (0x7F >> mantissa), byte & (
        (1 << mantissa) - 1)
    if dtype == "f8e4m3" and byte & 0x7F == 0x7F:
        return math.nan
    if dtype == "f8e5m2" and exponent == 31:
        return math.nan if fraction else sign * math.inf
    if not exponent:
        return sign * fraction * 2.0 ** (1 - bias - mantissa)
    return sign * (1 + fraction * 2.0 ** -mantissa) * 2.0 ** (exponent - bias)


def npy(dtype, dims, data):
    """A tensor as the text of a .npy file."""
    if dtype == "i4":
        # One element a byte there.
        data = bytes(byte >> shift & 15 for byte in data
                     for shift in (0, 4))[:math.prod(dims)]
    shape = ", ".join(map(str, dims)) + ("," if len(dims) == 1 else "")
    header = (f"{{'descr': '{DESCR[dtype]}', 'fortran_order': False, "
              f"'shape': ({shape}), }}")
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) +
            header.encode() + data)


def differ(first, second, dtype):
    """How far two tensors are from one another, of the largest magnitude; for
    integers, the share of elements that differ."""
    left, right = decode(dtype, first), decode(dtype, second)
    if left is None:
        return sum(a != b for a, b in zip(first, second)) / max(len(first), 1)
    largest, most = 0.0, 0.0
    for a, b in zip(left, right):
        if a == b or (a != a and b != b):
            continue
        if not (math.isfinite(a) and math.isfinite(b)):
            return math.inf
        most = max(most, abs(a - b))
    for a in left:
        if math.isfinite(a):
            largest = max(largest, abs(a))
    return most / largest if largest else most


def is_close(emulated, computed, text):
    """Whether results are as near one another as approximate instructions
    leave them, and what differs."""
    narrow = [d for d in ("bf16", "f16", "f8e4m3", "f8e5m2")
              if (d if d[1] != "8" else "f8") in text]
    allowed = {d: max([CLOSE[d]] + [CLOSE[n] for n in narrow]) for d in CLOSE}
    close, parts = True, []
    for i, ((dtype, a), (_, b)) in enumerate(zip(emulated, computed)):
        if a == b:
            continue
        distance = differ(a, b, dtype)
        close &= distance <= allowed.get(dtype, 0.01)
        parts.append(f"output {i}: {dtype} {distance:.2g}")
    return close, ", ".join(parts)
