# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax, log-softmax, and the losses made of them."""

import math

from ..builder import word


def draw(b):
    kind = b.rng.choice(sorted(KINDS))
    b.note(kind)
    KINDS[kind](b)


def _input(b, tensors=2, ranks=(1, 5), log=False):
    dtype = b.dtype()
    shape = b.drawn_shape(dtype, ranks, tensors)
    axis = b.rng.randrange(len(shape))
    x = b.tensor(shape, dtype)
    b.note(x.type[6:], f"over {axis}")
    b.terms = shape[axis]
    # Of one class the logarithm is 0 and everything about it rounding.
    b.require(b.terms > 1 or not log)
    return x, axis


def _apply(b, x, axis, log=False):
    name = "log_softmax" if log else "softmax"
    expression = f"torch.{name}({word(x)}, {axis})"
    if not log and b.chance(0.3):  # The same as linalg has it.
        out = b.empty(x.shape, x.dtype)
        return b.both(f"linalg.softmax dimension({axis}) ins({x.name} : "
                      f"{x.type}) outs({out.name} : {x.type}) -> {x.type}",
                      x.shape, x.dtype, expression, 1)
    return b.both(f"fusion.{name} {x.name} axis({axis}) : {x.type}", x.shape,
                  x.dtype, expression, 1 if not log else 30)


def _plain(log):
    def make(b):
        x, axis = _input(b, log=log)
        b.seen_twice(x, [axis])
        b.give(_apply(b, x, axis, log))
    return make


def _masked(b):
    """softmax(scale x) where a mask allows it."""
    x, axis = _input(b, 3)
    b.seen_twice(x, [axis])
    scores = b.scaled(x, 0.125)
    # A mask has all dimensions of x, or those from some one on.
    first = b.rng.randrange(len(x.shape))
    mask = b.tensor(x.shape[first:], "i1", "mask")
    wide = b.spread(mask, x.shape, list(range(first)))
    least = b.both(
        f"arith.constant dense<-1.0e+04> : {x.type}", x.shape, x.dtype,
        f"torch.full((), -1e4, dtype={x.dtype}, device=x0.device)", 1e4)
    b.note(f"mask from {first}")
    b.give(_apply(b, b.where(wide, scores, least), axis))


def _biased(b):
    """softmax(scale x + bias), the bias repeated along some dimensions."""
    x, axis = _input(b, 3)
    b.seen_twice(x, [axis])
    first = b.rng.randrange(len(x.shape))
    bias = b.tensor(x.shape[first:], x.dtype)
    scores = b.join("add", b.scaled(x, 0.125),
                    b.spread(bias, x.shape, list(range(first))))
    b.note(f"bias from {first}")
    b.give(_apply(b, scores, axis))


def _cross_entropy(b):
    x, axis = _input(b, 1, (1, 4), log=True)
    reduction = b.rng.choice(("none", "sum", "mean"))
    kept = tuple(n for i, n in enumerate(x.shape) if i != axis)
    rows = math.prod(kept)
    b.require(not (reduction == "sum" and x.dtype == "f16" and rows > 2000))
    target = b.tensor(kept, b.rng.choice(("i32", "i64")), "labels",
                      x.shape[axis])
    smoothing = b.rng.choice((0.0, 0.0, 0.1))
    more = f" {{label_smoothing = {smoothing} : f64}}" if smoothing else ""
    b.note(reduction, *(["smoothed"] if smoothing else []))
    shape = kept if reduction == "none" else ()
    out = f"tensor<{'x'.join(map(str, (*shape, x.dtype)))}>"
    b.terms = max(b.terms, rows)
    flat = f"{word(x)}.to(f32)"
    if len(kept) > 1 or (kept and axis == 0):
        flat += f".movedim({axis}, 1)"
    b.give(b.both(
        f"fusion.cross_entropy {reduction} {x.name}, {target.name} "
        f"axis({axis}){more} : ({x.type}, {target.type}) -> {out}", shape,
        x.dtype, f"F.cross_entropy({flat}, {word(target)}.long(), "
        f"reduction='{reduction}', label_smoothing={smoothing})"
        f".to({x.dtype})"))


def _divergence(b):
    """KL(softmax(y) | softmax(x)) in f32, of logits."""
    x, axis = _input(b, 2, (2, 4), log=True)
    y = b.tensor(x.shape, x.dtype)
    mine = _apply(b, b.cast(x, "f32"), axis, log=True)
    theirs = _apply(b, b.cast(y, "f32"), axis, log=True)
    terms = b.mul(b.unary("math.exp", theirs), b.sub(theirs, mine))
    reduction = b.rng.choice(("none", "sum", "mean"))
    b.note(reduction)
    rows = math.prod(x.shape) // x.shape[axis]
    dims = [axis] if reduction == "none" else range(len(x.shape))
    total = b.reduce(terms, list(dims))
    value = f"F.kl_div({word(mine)}, {word(theirs)}, log_target=True, "
    if reduction == "none":
        value += f"reduction='none').sum({axis})"
    else:
        b.terms = math.prod(x.shape)
        value += "reduction='sum')"
    if reduction == "mean":
        total = b.mul(total, b.constant(1 / rows, total))
        value += f" / {rows}"
    b.give(b.say(total, value))


KINDS = {"softmax": _plain(False), "log_softmax": _plain(True),
         "masked_softmax": _masked, "biased_softmax": _biased,
         "cross_entropy": _cross_entropy, "kl_divergence": _divergence}
