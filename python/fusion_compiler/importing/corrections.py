# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ATen operations whose lowering by torch-mlir is not what PyTorch computes,
for infinities, NaNs, the signs of zeros, large integers or truth values,
written in terms of others whose lowering is.

Functions here take and give what the ATen operation does. NotImplemented means
that torch-mlir's own lowering is right for these operands.
"""

import functools
import threading

import torch

aten = torch.ops.aten


class NotDecomposed(Exception):
    """A form of an operation that is to be left to PyTorch, and why."""


def _once(function):
    """Within the function the operations that it corrects stay as they are."""
    running = threading.local()

    @functools.wraps(function)
    def run(*arguments):
        if getattr(running, "now", False):
            return NotImplemented
        running.now = True
        try:
            return function(*arguments)
        finally:
            running.now = False
    return run


def wide(value):
    """In f32, if the type is narrower: how kernels compute in between. Numbers
    are as they are."""
    narrow = getattr(value, "dtype", None) in (torch.float16, torch.bfloat16)
    return value.float() if narrow else value


def _operands(one, other):
    """Two operands, of which one may be a number, as tensors of the type of
    the result."""
    kind = torch.result_type(one, other)
    device = (one if isinstance(one, torch.Tensor) else other).device
    return [value.to(kind) if isinstance(value, torch.Tensor)
            else torch.full((), value, dtype=kind, device=device)
            for value in (one, other)]


# --- Comparisons and bounds --------------------------------------------------

def _eq(one, other):
    """torch-mlir folds x == x, which is false of NaNs."""
    return aten.logical_not(aten.ne(one, other))


def _greater(one, other):
    """The maximum, or the first NaN."""
    return torch.where((one > other) | one.isnan(), one, other)


def _less(one, other):
    return torch.where((one < other) | one.isnan(), one, other)


def _maximum(one, other):
    one, other = _operands(one, other)
    if not one.is_floating_point():
        return NotImplemented
    return _greater(one, other)


def _minimum(one, other):
    one, other = _operands(one, other)
    if not one.is_floating_point():
        return NotImplemented
    return _less(one, other)


def _clamp(tensor, low=None, high=None):
    """Bounds are numbers, tensors or None. A NaN stays, and so does one that
    is a bound; of bounds that cross the upper one counts."""
    bounds = [bound for bound in (low, high) if bound is not None]
    kind = tensor.dtype
    for bound in bounds:
        kind = torch.promote_types(kind, torch.result_type(tensor, bound))
    if not kind.is_floating_point:
        return NotImplemented
    result = tensor.to(kind)
    for bound, beyond in ((low, torch.lt), (high, torch.gt)):
        if isinstance(bound, torch.Tensor):
            bound = bound.to(kind)
            result = torch.where(beyond(result, bound) | bound.isnan(), bound,
                                 result)
        elif bound is not None:
            result = result.masked_fill(beyond(result, bound), bound)
    return result


def _fmax(one, other):
    """The maximum, or what is no NaN."""
    one, other = _operands(one, other)
    return torch.where((one >= other) | other.isnan(), one, other)


def _fmin(one, other):
    one, other = _operands(one, other)
    return torch.where((one <= other) | other.isnan(), one, other)


def _hardtanh(tensor, low=-1, high=1):
    if not tensor.is_floating_point():  # The bounds are of its type.
        return tensor.clamp(int(low), int(high))
    return _clamp(tensor, low, high)


def _clamp_max(tensor, high):
    return _clamp(tensor, None, high)


# --- Division ----------------------------------------------------------------

def _fmod(one, other):
    """The remainder with the sign of the dividend, exactly; torch-mlir's has
    the rounding of the quotient in it."""
    one, other = _operands(one, other)
    if not one.is_floating_point():
        return aten.sub(one, aten.mul(other, torch.div(
            one, other, rounding_mode="trunc")))
    rest = torch.remainder(one.abs(), other.abs())
    rest = torch.where(one < 0, -rest, rest)
    # A remainder of zero has the sign of the dividend, which is finite.
    return torch.where(rest == 0, one * 0, rest)


def _floor_divide(one, other):
    """As Python divides: of floats, by way of the exact remainder, so that
    1 // 0.1 is 9; of integers, without going through floats."""
    one, other = _operands(one, other)
    if not one.is_floating_point():
        quotient = torch.div(one, other, rounding_mode="trunc")
        rest = one - quotient * other
        inexact = (rest != 0) & ((rest < 0) != (other < 0))
        return quotient - inexact.to(quotient.dtype)
    kind = one.dtype
    one, other = wide(one), wide(other)
    rest = _fmod(one, other)
    quotient = (one - rest) / other
    inexact = (rest != 0) & ((rest < 0) != (other < 0))
    quotient = torch.where(inexact, quotient - 1, quotient)
    whole = quotient.floor()
    whole = torch.where(quotient - whole > 0.5, whole + 1, whole)
    # Zeros have the sign of the true quotient, and so has an infinity.
    whole = torch.where(whole == 0, one / other * 0, whole)
    return torch.where(other == 0, one / other, whole).to(kind)


def _div_mode(one, other, *, rounding_mode=None):
    if rounding_mode == "floor":
        return _floor_divide(one, other)
    if rounding_mode == "trunc" and not isinstance(other, torch.Tensor):
        return torch.div(*_operands(one, other), rounding_mode="trunc")
    return NotImplemented


# --- Integers and truth values -----------------------------------------------

def _neg(tensor):
    """torch-mlir negates integers as floats."""
    if tensor.is_floating_point():
        return NotImplemented
    return tensor * -1


def _add(one, other, *, alpha=1):
    """The sum of truth values is their disjunction."""
    if torch.result_type(one, other) != torch.bool:
        return NotImplemented
    one, other = _operands(one, other)
    return one | other if alpha else one


def _valid(tensor, count, beyond):
    """The bits to shift by; `beyond` where the type has not as many, or the
    number is negative."""
    bits = torch.iinfo(tensor.dtype).bits
    return torch.where((count >= 0) & (count < bits), count, beyond)


@_once
def _left_shift(tensor, count):
    """0 where every bit is shifted out: in two steps, each of fewer bits than
    the type has."""
    tensor, count = _operands(tensor, count)
    count = _valid(tensor, count, torch.iinfo(tensor.dtype).bits)
    half = torch.bitwise_right_shift(count, torch.ones_like(count))
    return torch.bitwise_left_shift(torch.bitwise_left_shift(tensor, half),
                                    count - half)


@_once
def _right_shift(tensor, count):
    """The sign alone where every other bit is shifted out."""
    tensor, count = _operands(tensor, count)
    last = torch.iinfo(tensor.dtype).bits - 1
    return torch.bitwise_right_shift(tensor, _valid(tensor, count, last))


def _pow(tensor, exponent):
    """Integers to a power by multiplications, of which there are about twice
    as many as the exponent has bits; roots as such, which differ from powers
    for -0.0 and -inf."""
    if exponent == 0.5:
        return tensor.sqrt()
    if exponent == -0.5:
        return tensor.rsqrt()
    if tensor.is_floating_point() or not isinstance(exponent, int):
        return NotImplemented
    if exponent < 0:
        return NotImplemented
    kind = torch.result_type(tensor, exponent)
    result, square = None, tensor.to(kind)
    while exponent:
        if exponent & 1:
            result = square if result is None else result * square
        exponent >>= 1
        if exponent:
            square = square * square
    return torch.ones_like(square) if result is None else result


# --- Memory ------------------------------------------------------------------

def _empty(size, *, dtype=None, device=None, **_):
    """What nothing has written to may be anything: zeros, which are written
    nowhere if nobody reads them."""
    return torch.zeros(size, dtype=dtype, device=device)


def _empty_strided(size, stride, *, dtype=None, device=None, **_):
    """Arrays here are row-major, whatever strides a tensor has."""
    return torch.zeros(size, dtype=dtype, device=device)


def _empty_like(tensor, *, dtype=None, **_):
    return torch.zeros(tensor.shape, dtype=dtype or tensor.dtype,
                       device=tensor.device)


# --- Floats ------------------------------------------------------------------

def _trunc(tensor):
    """Keeps the sign of zeros."""
    if not tensor.is_floating_point():
        return NotImplemented
    return torch.where(tensor < 0, tensor.ceil(), tensor.floor())


def _names(function, operator):
    return [*(f"{function}.{form}" for form in (
        "Tensor", "Tensor_Scalar", "Scalar_Tensor")),
        f"{operator}.Tensor", f"{operator}.Scalar"]


def _vector_norm(tensor, order=2, dim=None, keepdim=False, *, dtype=None):
    """Powers of narrow types, which overflow, are summed in f32."""
    if wide(tensor) is tensor or dtype is not None:
        return NotImplemented
    return aten.linalg_vector_norm(wide(tensor), order, dim,
                                   keepdim).to(tensor.dtype)


# --- Forms that are left to PyTorch ------------------------------------------

def _logcumsumexp(tensor, dim):
    raise NotDecomposed("torch-mlir sums exponentials that overflow")


def _embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0,
                   sparse=False, per_sample_weights=None,
                   include_last_offset=False, padding_idx=-1):
    if (per_sample_weights is not None or include_last_offset
            or padding_idx != -1):
        raise NotDecomposed("torch-mlir leaves out the weights, the padding "
                            "and the last offset of bags")
    return NotImplemented


# {ATen operation, with its overload if that is not the default: function}
def _constant_pad_nd(tensor, pad, value=0):
    """Cuts what negative widths cut. torch-mlir takes padding that keeps a
    tensor's sizes for none: one more here and one less there."""
    if not any(isinstance(width, int) and width < 0 for width in pad):
        return NotImplemented
    for place in range(0, len(pad), 2):
        dim = tensor.dim() - 1 - place // 2
        first, last = (max(-width, 0) for width in pad[place:place + 2])
        if first or last:
            tensor = tensor.narrow(dim, first,
                                   tensor.shape[dim] - first - last)
    return aten.constant_pad_nd(tensor, [max(width, 0) for width in pad],
                                value)


TABLE = {
    "eq.Tensor": _eq,
    "maximum": _maximum, "minimum": _minimum,
    "fmax": _fmax, "fmin": _fmin, "hardtanh": _hardtanh,
    "clamp": _clamp, "clamp.Tensor": _clamp,
    "clamp_min": _clamp, "clamp_min.Tensor": _clamp,
    "clamp_max": _clamp_max, "clamp_max.Tensor": _clamp_max,
    "fmod.Tensor": _fmod, "fmod.Scalar": _fmod,
    "floor_divide": _floor_divide, "floor_divide.Scalar": _floor_divide,
    "div.Tensor_mode": _div_mode, "div.Scalar_mode": _div_mode,
    "neg": _neg, "add.Tensor": _add, "add.Scalar": _add,
    **dict.fromkeys(_names("bitwise_left_shift", "__lshift__"), _left_shift),
    **dict.fromkeys(_names("bitwise_right_shift", "__rshift__"),
                    _right_shift),
    "pow.Tensor_Scalar": _pow,
    "empty.memory_format": _empty, "empty_strided": _empty_strided,
    "empty_like": _empty_like,
    "_embedding_bag": _embedding_bag,
    "_embedding_bag_forward_only": _embedding_bag,
    "linalg_vector_norm": _vector_norm,
    "constant_pad_nd": _constant_pad_nd,
    "trunc": _trunc, "logcumsumexp": _logcumsumexp,
}
