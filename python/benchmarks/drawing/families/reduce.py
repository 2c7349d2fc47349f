# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions of any dimensions of a tensor."""

import math

from ..builder import infinity, word
from . import common


def draw(b):
    kind = b.rng.choice(sorted(KINDS))
    dtype = b.dtype()
    shape = b.drawn_shape(dtype, tensors=1 if b.chance(0.7) else 2)
    rank = len(shape)
    dims = sorted(b.rng.sample(range(rank), b.rng.randint(1, rank)))
    x = b.tensor(shape, dtype)
    if kind in ("argmax", "argmin"):
        dims = dims[:1]
    b.note(kind, x.type[6:], f"dims {dims}")
    b.terms = math.prod(shape[i] for i in dims)
    KINDS[kind](b, x, dims)


def _out(b, x):
    """The type of a sum: the input's, or f32. Large sums need f32's range."""
    if x.dtype == "f16" and b.terms > 4000:
        return "f32"
    return b.rng.choice((x.dtype, "f32"))


def _sum(b, x, dims):
    x = common.before(b, x)
    b.unit = math.sqrt(b.terms)
    b.give(common.after(b, b.total(x, dims, _out(b, x))))


def _mean(b, x, dims):
    x = common.before(b, x)
    b.unit = 1 / math.sqrt(b.terms)
    total = b.reduce(b.convert(x, "f32"), dims)
    value = b.mul(total, b.constant(1 / b.terms, total))
    value = b.say(b.convert(value, x.dtype), f"{word(x)}.mean({tuple(dims)})")
    b.give(common.after(b, value))


def _extreme(sign):
    def make(b, x, dims):
        x = common.before(b, x)
        b.give(common.after(b, b.extreme(x, dims, sign)))
    return make


def _place(sign):
    """argmax, argmin: of equal elements the first."""
    def make(b, x, dims):
        axis, = dims
        kept = [n for i, n in enumerate(x.shape) if i != axis]
        best = b.filled(kept, x.dtype, infinity(x.dtype, -sign))
        place = b.filled(kept, "i64")
        loops = [f"d{i}" for i in range(len(x.shape))]
        out = b._map(loops, [d for i, d in enumerate(loops) if i != axis])
        kinds = ", ".join('"reduction"' if i == axis else '"parallel"'
                          for i in range(len(loops)))
        both = f"{best.type}, {place.type}"
        order = "ogt" if sign > 0 else "olt"
        group = b.many(
            f"linalg.generic {{indexing_maps = [{b._map(loops, loops)}, {out}, "
            f"{out}], iterator_types = [{kinds}]}} ins({x.name} : {x.type}) "
            f"outs({best.name}, {place.name} : {both}) {{\n"
            f"  ^bb0(%in: {x.dtype}, %m: {x.dtype}, %at: i64):\n"
            f"    %i = linalg.index {axis} : index\n"
            "    %j = arith.index_cast %i : index to i64\n"
            f"    %g = arith.cmpf {order}, %in, %m : {x.dtype}\n"
            f"    %n = arith.select %g, %in, %m : {x.dtype}\n"
            "    %p = arith.select %g, %j, %at : i64\n"
            f"    linalg.yield %n, %p : {x.dtype}, i64\n"
            f"  }} -> ({both})", 2)
        name = "max" if sign > 0 else "min"
        index = b.part(group, 1, kept, "i64",
                       f"torch.arg{name}({word(x)}, {axis})")
        if b.chance(0.5):
            value = b.part(group, 0, kept, x.dtype,
                           f"torch.a{name}({word(x)}, {axis})")
            b.note("with values")
            b.give(value, index)
        else:
            b.give(index)
    return make


def _log_sum_exp(b, x, dims):
    x = common.before(b, x)
    wide = b.convert(x, "f32")
    top = b.reduce(wide, dims, "arith.maximumf", infinity("f32", -1))
    shift = b.sub(wide, b.broadcast(top, x.shape, dims))
    total = b.reduce(b.unary("math.exp", shift), dims)
    value = b.add(b.unary("math.log", total), top)
    value = b.convert(value, x.dtype)
    b.give(common.after(b, b.say(
        value, f"torch.logsumexp({word(x)}.to(f32), {tuple(dims)})"
               f".to({x.dtype})", 20)))


def _norm(b, x, dims):
    x = common.before(b, x)
    wide = b.convert(x, "f32")
    total = b.reduce(b.mul(wide, wide), dims)
    value = b.convert(b.unary("math.sqrt", total), "f32")
    b.give(common.after(b, b.say(
        value, f"torch.linalg.vector_norm({word(x)}, 2, {tuple(dims)}, "
               "dtype=f32)")))


def _variance(b, x, dims):
    x = common.before(b, x)
    wide = b.convert(x, "f32")
    share = 1 / b.terms
    total = b.reduce(wide, dims)
    mean = b.mul(total, b.constant(share, total))
    apart = b.sub(wide, b.broadcast(mean, x.shape, dims))
    square = b.reduce(b.mul(apart, apart), dims)
    value = b.convert(b.mul(square, b.constant(share, square)), x.dtype)
    b.give(common.after(b, b.say(
        value, f"torch.var({word(x)}, {tuple(dims)}, correction=0)")))


def _rows_and_columns(b, x, dims):
    """Sums of one tensor along two different sets of dimensions."""
    b.require(len(x.shape) > 1)
    others = dims
    while others == dims:
        others = sorted(b.rng.sample(range(len(x.shape)),
                                     b.rng.randint(1, len(x.shape))))
    b.note("and", others)
    b.terms = max(b.terms, math.prod(x.shape[i] for i in others))
    b.unit = math.sqrt(b.terms)
    b.give(b.total(x, dims), b.total(x, others))


def _sums(b, x, dims):
    """The sum, and the sum of squares."""
    square = b.join("mul", x, x)
    b.unit = math.sqrt(b.terms)
    b.give(b.total(x, dims), b.total(square, dims))


KINDS = {"sum": _sum, "mean": _mean, "max": _extreme(1), "min": _extreme(-1),
         "argmax": _place(1), "argmin": _place(-1),
         "logsumexp": _log_sum_exp, "norm": _norm, "variance": _variance,
         "rows_and_columns": _rows_and_columns, "sum_and_squares": _sums}
