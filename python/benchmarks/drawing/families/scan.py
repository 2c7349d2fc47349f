# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scans along any dimension: sums, maxima, log-sum-exp, recurrences."""

from ..builder import word
from . import common

# Combiners of one state: the start, and the body from %a and %b to %s.
_SUM = ("0.0", "  %s = arith.addf %a, %b : f32")
_MAX = ("0xFF800000", "  %s = arith.maximumf %a, %b : f32")
_LOG_SUM = ("-1.0e+30", """  %m = arith.maximumf %a, %b : f32
  %d = arith.subf %a, %b : f32
  %p = math.absf %d : f32
  %q = arith.negf %p : f32
  %e = math.exp %q : f32
  %l = math.log1p %e : f32
  %s = arith.addf %m, %l : f32""")


def draw(b):
    kind = b.rng.choice(("sum", "sum", "max", "recurrence", "log_sum_exp"))
    dtype = b.dtype()
    shape = b.drawn_shape(dtype, tensors=3 if kind == "recurrence" else 2)
    axis = b.rng.randrange(len(shape))
    reverse = b.chance(0.25)
    b.require(shape[axis] > 1)
    b.note(kind, *(["reverse"] if reverse else []))
    b.terms = shape[axis]
    x = b.tensor(shape, dtype)
    b.note(x.type[6:], f"along {axis}")
    if kind == "recurrence":
        y = _recurrence(b, x, axis, reverse)
    else:
        y = _single(b, kind, common.before(b, x), axis, reverse)
    b.give(common.after(b, y))


def _flipped(text, axis, reverse):
    return f"{text}.flip({axis})" if reverse else text


def _single(b, kind, x, axis, reverse):
    """The states are f32, the result is of x's type, as PyTorch has it."""
    start, body = {"sum": _SUM, "max": _MAX, "log_sum_exp": _LOG_SUM}[kind]
    wide = b.convert(x, "f32")
    mode = " reverse" if reverse else ""
    value = b._op(
        f"fusion.scan{mode} ins({wide.name} : {wide.type}) "
        f"inits({b._scalar('f32', start)} : f32) axis({axis}) -> {wide.type} "
        f"{{\n  ^bb0(%a: f32, %b: f32):\n" + body.replace("\n", "\n  ") +
        "\n    fusion.yield %s : f32\n  }", x.shape, "f32")
    narrow = x.dtype if x.dtype != "f16" or kind != "sum" else "f32"
    value = b.convert(value, narrow) if narrow != "f32" else value
    source = _flipped(word(x), axis, reverse)
    text = {"sum": f"{source}.cumsum({axis}, dtype={narrow})",
            "max": f"{source}.cummax({axis}).values",
            "log_sum_exp": f"{source}.to(f32).logcumsumexp({axis})"
                           f".to({narrow})"}[kind]
    return b.say(value, _flipped(text, axis, reverse), 50)


def _recurrence(b, x, axis, reverse):
    """h = a h + x with factors a of (0, 1), as state-space models have it."""
    gate = b.tensor(x.shape, x.dtype)
    a = b.cast(b.apply("sigmoid", gate), "f32")
    wide = b.cast(x, "f32")
    one, zero = b._scalar("f32", "1.0"), b._scalar("f32", "0.0")
    mode = " reverse" if reverse else ""
    group = b.many(
        f"fusion.scan{mode} ins({a.name}, {wide.name} : {a.type}, {wide.type}) "
        f"inits({one}, {zero} : f32, f32) axis({axis}) -> {a.type}, "
        f"{wide.type} {{\n"
        "  ^bb0(%a1: f32, %b1: f32, %a2: f32, %b2: f32):\n"
        "    %p = arith.mulf %a1, %a2 : f32\n"
        "    %c = arith.mulf %a2, %b1 : f32\n"
        "    %s = arith.addf %c, %b2 : f32\n"
        "    fusion.yield %p, %s : f32, f32\n  }", 2)
    h = b.part(group, 1, x.shape, "f32",
               f"recurrence({word(a)}, {word(wide)}, {axis}, {reverse})", 50)
    return b.cast(h, x.dtype)
