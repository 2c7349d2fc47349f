# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What models are made of, spelled out in linalg, arith and math."""

import math

from . import fusionops, pointwise
from .core import Dim, LIMITS, Refused, affine_map, tensor_type
from .pointwise import same_shape
from .reductions import (check_steps, factor_like, matmul, product_range,
                         sum_range)


def apply(p, op, *values, low, high, elem=None):
    """An op on whole tensors of one type."""
    first = values[0]
    return p.result(f"{op} {', '.join(v.name for v in values)} : {first.type}",
                    first.dims, elem or first.elem, low, high)


def add(p, x, y):
    return apply(p, "arith.addf", x, y, low=x.low + y.low, high=x.high + y.high)


def sub(p, x, y):
    return apply(p, "arith.subf", x, y, low=x.low - y.high, high=x.high - y.low)


def mul(p, x, y):
    ends = [a * b for a in (x.low, x.high) for b in (y.low, y.high)]
    low = 0 if x is y else min(ends)
    return apply(p, "arith.mulf", x, y, low=low, high=max(ends))


def div(p, x, y):
    ends = [a / b for a in (x.low, x.high) for b in (y.low, y.high)]
    return apply(p, "arith.divf", x, y, low=min(ends), high=max(ends))


def times(p, x, factor):
    return mul(p, x, p.constant(x.dims, x.elem, factor))


def convert(p, x, elem):
    if x.elem == elem:
        return x
    narrow = elem in ("f16", "bf16") and x.elem in ("f32", "f64") or (
        x.elem == "f64")
    if not narrow and elem not in ("f32", "f64"):
        raise Refused("no conversion")
    if narrow:
        x = p.tame(x, LIMITS[elem])
    op = "truncf" if narrow else "extf"
    return p.result(f"arith.{op} {x.name} : {x.type} to "
                    f"{tensor_type(x.dims, elem)}", x.dims, elem, x.low,
                    x.high)


def reduce(p, x, axis, kind="sum"):
    """A reduction of one axis by linalg.reduce or linalg.generic."""
    dims = [d for i, d in enumerate(x.dims) if i != axis]
    terms = x.dims[axis].size
    op, start = {"sum": ("arith.addf", 0.0), "max": ("arith.maximumf",
                                                     -10000.0)}[kind]
    low, high = (sum_range(x.low, x.high, terms) if kind == "sum" else
                 (x.low, x.high))
    out = p.filled(dims, x.elem, start)
    shape = tensor_type(dims, x.elem)
    if p.chance(0.5):
        return p.result(f"linalg.reduce {{ {op} }} ins({x.name} : {x.type}) "
                        f"outs({out} : {shape}) dimensions = [{axis}]", dims,
                        x.elem, low, high)
    maps = [affine_map(x.rank, [f"d{i}" for i in range(x.rank)]),
            affine_map(x.rank, [f"d{i}" for i in range(x.rank) if i != axis])]
    kinds = ", ".join(f'"{"reduction" if i == axis else "parallel"}"'
                      for i in range(x.rank))
    return p.result(
        f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types "
        f"= [{kinds}]}} ins({x.name} : {x.type}) outs({out} : {shape}) {{\n"
        f"^bb0(%a: {x.elem}, %o: {x.elem}):\n  %s = {op} %o, %a : {x.elem}\n"
        f"  linalg.yield %s : {x.elem}\n}} -> {shape}", dims, x.elem, low, high)


def spread(p, x, dims, axis):
    """A tensor repeated along a new axis."""
    shape = tensor_type(dims, x.elem)
    return p.result(f"linalg.broadcast ins({x.name} : {x.type}) "
                    f"outs({p.empty(dims, x.elem)} : {shape}) dimensions = "
                    f"[{axis}]", dims, x.elem, x.low, x.high)


def joined(p, op, x, y, axis, low, high):
    """op of x and of y, which lacks an axis: by a broadcast or by a map."""
    if p.chance(0.4):
        y = spread(p, y, x.dims, axis)
        return apply(p, op, x, y, low=low, high=high)
    whole = [f"d{i}" for i in range(x.rank)]
    part = [d for i, d in enumerate(whole) if i != axis]
    maps = ", ".join(affine_map(x.rank, m) for m in (whole, part, whole))
    kinds = ", ".join(['"parallel"'] * x.rank)
    return p.result(
        f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]"
        f"}} ins({x.name}, {y.name} : {x.type}, {y.type}) "
        f"outs({p.empty(x.dims, x.elem)} : {x.type}) {{\n"
        f"^bb0(%a: {x.elem}, %b: {x.elem}, %o: {x.elem}):\n"
        f"  %r = {op} %a, %b : {x.elem}\n  linalg.yield %r : {x.elem}\n}} -> "
        f"{x.type}", x.dims, x.elem, low, high)


def softmax_of(p, x, axis, late=False):
    """exp(x - max) and its sum: the quotient, or with `late` both apart."""
    top = reduce(p, x, axis, "max")
    y = joined(p, "arith.subf", x, top, axis, min(x.low - x.high, -10), 0)
    if p.chance(0.3):
        y = times(p, y, 1.44269504)
        y = apply(p, "math.exp2", y, low=1e-30, high=1)
    else:
        y = apply(p, "math.exp", y, low=1e-30, high=1)
    total = reduce(p, y, axis)
    total.low = 1  # the largest element counts as one
    total.high = max(total.high, 1)
    if late:
        return y, total
    return joined(p, "arith.divf", y, total, axis, 0, 1)


def plain(p, ranks, least=1):
    return p.tame(p.tensor(elem=p.rng.choice(("f32", "f32", "f16", "bf16")),
                           ranks=ranks, least=least), 30)


def softmax(p):
    x = plain(p, (1, 4))
    elem = x.elem
    wide = convert(p, x, "f32") if elem != "f32" and p.chance(0.7) else x
    y = softmax_of(p, wide, p.rng.randrange(x.rank))
    return convert(p, y, elem)


def norm(p):
    """A layer norm or an RMS norm, from means of squares."""
    x = plain(p, (2, 4), least=2)
    elem = x.elem
    x = convert(p, x, "f32")
    axis = x.rank - 1 if p.chance(0.8) else p.rng.randrange(x.rank)
    size = x.dims[axis].size
    if x.dims[axis].dynamic:
        raise Refused("a mean over a dynamic size")
    if p.chance(0.5):
        mean = times(p, reduce(p, x, axis), 1.0 / size)
        x = joined(p, "arith.subf", x, mean, axis, x.low - x.high,
                   x.high - x.low)
    square = mul(p, x, x)
    variance = times(p, reduce(p, square, axis), 1.0 / size)
    shifted = add(p, variance, p.constant(variance.dims, "f32", 0.0625))
    shifted.low = 0.0625
    if p.chance(0.6):
        root = apply(p, "math.rsqrt", shifted, low=0, high=4)
        y = joined(p, "arith.mulf", x, root, axis, -20, 20)
    else:
        root = apply(p, "math.sqrt", shifted, low=0.25,
                     high=math.sqrt(max(shifted.high, 1)))
        y = joined(p, "arith.divf", x, root, axis, -20, 20)
    if p.chance(0.5):
        scale = same_shape(p, [x.dims[axis]], "f32")
        whole = [f"d{i}" for i in range(x.rank)]
        maps = [whole, [f"d{axis}"], whole]
        y = pointwise._named(p, "mul", [y, scale], y.dims, "f32",
                             -20 * scale.magnitude, 20 * scale.magnitude, maps)
    return convert(p, y, elem)


def linear(p):
    """A product and its epilogue: bias, activation, residual."""
    y = matmul(p)
    if not y.is_float():
        return y
    y = p.tame(y, 100)
    if p.chance(0.5):
        bias = same_shape(p, [y.dims[-1]], y.elem)
        whole = [f"d{i}" for i in range(y.rank)]
        y = pointwise._named(p, "add", [y, bias], y.dims, y.elem,
                             y.low + bias.low, y.high + bias.high,
                             [whole, whole[-1:], whole])
    for _ in range(p.rng.randint(0, 3)):
        way = p.rng.randrange(5)
        if way == 0:
            p.values.append(y)
            y = activation_of(p, y)
        elif way == 1:
            y = add(p, y, same_shape(p, y.dims, y.elem))
        elif way == 2 and y.elem == "f32":
            y = convert(p, y, p.rng.choice(("f16", "bf16")))
        elif way == 3:
            y = mul(p, y, same_shape(p, y.dims, y.elem))
        else:
            y = p.tame(y, 30)
            y = apply(p, "math.tanh", y, low=-1, high=1)
        if y.magnitude > LIMITS[y.elem]:
            y = p.tame(y)
    return y


def activation_of(p, x):
    name = p.rng.choice(("relu", "silu", "gelu tanh", "gelu", "sigmoid"))
    x = p.tame(x, 30)
    return p.result(f"fusion.{name} {x.name} : {x.type}", x.dims, x.elem, -2,
                    max(x.high, 1))


def perceptron(p):
    """Two layers, or a gated one."""
    elem = p.rng.choice(("f32", "bf16", "f16"))
    m, k, h, n = (p.dim(least=1, most=64) for _ in range(4))
    check_steps(p, m, k, h)
    check_steps(p, m, h, n)
    x = factor_like(p, elem, [m, k])
    hidden = product(p, x, factor_like(p, elem, [k, h]), elem)
    hidden = activation_of(p, hidden)
    if p.chance(0.5):
        other = product(p, x, factor_like(p, elem, [k, h]), elem)
        hidden = mul(p, p.tame(hidden, 20), p.tame(other, 20))
    return product(p, p.tame(hidden, 50), factor_like(p, elem, [h, n]), elem)


def product(p, x, y, elem):
    """x @ y, summed in f32 and rounded to elem."""
    dims = [*x.dims[:-1], y.dims[-1]]
    kind = tensor_type(dims, "f32")
    op = "linalg.batch_matmul" if len(dims) == 3 else "linalg.matmul"
    out = p.filled(dims, "f32", 0)
    r = p.result(f"{op} ins({x.name}, {y.name} : {x.type}, {y.type}) "
                 f"outs({out} : {kind}) -> {kind}", dims, "f32",
                 *product_range(x, y, x.dims[-1].size, "f32"))
    return convert(p, p.tame(r, 100), elem)


def attention(p):
    """softmax(q k^T + mask) v, with the mask and the quotient spelled in
    several ways."""
    elem = p.rng.choice(("f32", "f32", "bf16", "f16"))
    b, s, t = p.dim(least=1, most=4), p.dim(least=1, most=64), p.dim(
        least=1, most=64)
    d, w = p.dim(least=1, most=64, static=True), p.dim(least=1, most=64)
    check_steps(p, b, s, t, d)
    check_steps(p, b, s, t, w)
    q, v = factor_like(p, elem, [b, s, d]), factor_like(p, elem, [b, t, w])
    flip = p.chance(0.7)
    k = factor_like(p, elem, [b, t, d] if flip else [b, d, t])
    dims = [b, s, t]
    kind = tensor_type(dims, "f32")
    maps = ""
    if flip and p.chance(0.6):
        maps = (" indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, "
                "affine_map<(b, m, n, k) -> (b, n, k)>, "
                "affine_map<(b, m, n, k) -> (b, m, n)>]")
    elif flip:
        turned = [b, d, t]
        shape = tensor_type(turned, elem)
        k = p.result(f"linalg.transpose ins({k.name} : {k.type}) "
                     f"outs({p.empty(turned, elem)} : {shape}) permutation = "
                     "[0, 2, 1]", turned, elem, k.low, k.high)
    if p.chance(0.3):
        q = times(p, q, 0.25)
    out = p.filled(dims, "f32", 0)
    scores = p.result(
        f"linalg.batch_matmul{maps} ins({q.name}, {k.name} : {q.type}, "
        f"{k.type}) outs({out} : {kind}) -> {kind}", dims, "f32",
        *product_range(q, k, d.size, "f32"))
    scores = times(p, scores, 1 / math.sqrt(d.size))
    scores = p.tame(scores, 40)
    scores = masked(p, scores)
    late = p.chance(0.4)
    if not late:
        weights = softmax_of(p, scores, 2)
        return product(p, convert(p, weights, elem), v, elem)
    weights, total = softmax_of(p, scores, 2, late=True)
    result = product(p, convert(p, weights, elem), v, "f32")
    result = joined(p, "arith.divf", result, total, 2, v.low, v.high)
    return convert(p, result, elem)


def masked(p, scores):
    """Scores where a mask forbids some: by select, by adding, or causal."""
    way = p.rng.randrange(4)
    low = scores.low
    if way == 0:
        mask = same_shape(p, scores.dims, "i1")
        none = p.constant(scores.dims, "f32", -10000.0)
        r = p.result(f"arith.select {mask.name}, {scores.name}, {none.name} : "
                     f"{mask.type}, {scores.type}", scores.dims, "f32", low,
                     scores.high)
        return r
    if way == 1:
        return add(p, scores, same_shape(p, scores.dims, "f32"))
    if way == 2:
        whole = affine_map(3, ["d0", "d1", "d2"])
        never = p.rng.choice(("-1.0e+04", "0xFF800000"))
        return p.result(
            f"linalg.generic {{indexing_maps = [{whole}, {whole}], "
            "iterator_types = [\"parallel\", \"parallel\", \"parallel\"]} "
            f"ins({scores.name} : {scores.type}) "
            f"outs({p.empty(scores.dims, 'f32')} : {scores.type}) {{\n"
            "^bb0(%a: f32, %o: f32):\n  %i = linalg.index 1 : index\n"
            "  %j = linalg.index 2 : index\n"
            "  %keep = arith.cmpi uge, %i, %j : index\n"
            f"  %none = arith.constant {never} : f32\n"
            "  %r = arith.select %keep, %a, %none : f32\n"
            f"  linalg.yield %r : f32\n}} -> {scores.type}", scores.dims, "f32",
            low, scores.high)
    return scores


def image_block(p):
    """Convolution, batch norm, activation, perhaps a pool."""
    x = fusionops.conv(p)
    if not x.is_float():
        return x
    x = p.tame(x, 50)
    c = p.rng.choice((1, x.rank - 1))
    channels = x.dims[c]
    mean = same_shape(p, [channels], "f32")
    variance = pointwise.into(p, same_shape(p, [channels], "f32"), 0.25, 1e3)
    inputs = [x, mean, variance]
    y = p.result(
        f"fusion.batch_norm {x.name}, {mean.name}, {variance.name} "
        f"channel_axis({c}) eps(1.0e-5) : " +
        fusionops.signature(inputs, (x.dims, x.elem)), x.dims, x.elem,
        -150, 150)
    y = activation_of(p, y)
    if p.chance(0.5):
        y = add(p, y, same_shape(p, y.dims, y.elem))
    return y


def residual(p):
    """A sum that is returned and also goes into a product."""
    elem = p.rng.choice(("f32", "bf16", "f16"))
    m, k, n = (p.dim(least=1, most=64) for _ in range(3))
    check_steps(p, m, k, n)
    h = add(p, factor_like(p, elem, [m, n]), factor_like(p, elem, [m, n]))
    x = product(p, factor_like(p, elem, [m, k]), factor_like(p, elem, [k, n]),
                elem)
    return add(p, x, h)


def cache_update(p):
    """Rows written into a cache, which is then multiplied."""
    elem = p.rng.choice(("f32", "bf16"))
    t, d, s = Dim(p.rng.choice((16, 33, 64))), p.dim(least=1, most=64), p.dim(
        least=1, most=16)
    cache = p.argument([t, d], elem)
    row = factor_like(p, elem, [Dim(1), d])
    at = p.rng.randrange(t.size)
    columns = p.size_of(d) if d.dynamic else d.size
    new = p.result(f"tensor.insert_slice {row.name} into {cache.name}[{at}, 0] "
                   f"[1, {columns}] [1, 1] : {row.type} into {cache.type}",
                   cache.dims, elem, -5, 5)
    check_steps(p, s, t, d)
    return product(p, factor_like(p, elem, [s, t]), new, elem)


def heads(p):
    """A product's columns split into heads and exchanged."""
    elem = p.rng.choice(("f32", "bf16", "f16"))
    b, s, h, d, k = (p.rng.choice((1, 2, 3)), p.rng.choice((3, 5, 8, 16)),
                     p.rng.choice((1, 2, 4)), p.rng.choice((4, 8, 16, 7)),
                     p.dim(least=1, most=64))
    rows, columns = Dim(b * s), Dim(h * d)
    x = product(p, factor_like(p, elem, [rows, k]),
                factor_like(p, elem, [k, columns]), elem)
    dims = [Dim(b), Dim(s), Dim(h), Dim(d)]
    y = p.result(f"tensor.expand_shape {x.name} [[0, 1], [2, 3]] output_shape "
                 f"[{b}, {s}, {h}, {d}] : {x.type} into "
                 f"{tensor_type(dims, elem)}", dims, elem, x.low, x.high)
    order = [0, 2, 1, 3] if p.chance(0.7) else [0, 2, 3, 1]
    turned = [dims[i] for i in order]
    kind = tensor_type(turned, elem)
    y = p.result(f"linalg.transpose ins({y.name} : {y.type}) "
                 f"outs({p.empty(turned, elem)} : {kind}) permutation = "
                 f"{order}", turned, elem, y.low, y.high)
    if p.chance(0.5):
        return softmax_of(p, convert(p, y, "f32"), 3)
    return y


def concatenated_product(p):
    """A product of tensors put together."""
    elem = p.rng.choice(("f32", "bf16"))
    m, n = p.dim(least=1, most=32), p.dim(least=1, most=32)
    parts = [factor_like(p, elem, [m, Dim(p.rng.choice((4, 8, 5, 16)))])
             for _ in range(p.rng.randint(2, 4))]
    k = Dim(sum(v.dims[1].size for v in parts))
    x = p.result(f"tensor.concat dim(1) {', '.join(v.name for v in parts)} : "
                 f"({', '.join(v.type for v in parts)}) -> "
                 f"{tensor_type([m, k], elem)}", [m, k], elem, -50, 50)
    return product(p, x, factor_like(p, elem, [k, n]), elem)


BUILDERS = {softmax: 2, norm: 3, linear: 5, perceptron: 2, attention: 4,
            image_block: 1, residual: 1, cache_update: 1, heads: 1,
            concatenated_product: 1}
