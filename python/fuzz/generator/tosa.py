# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops of TOSA."""

from .core import (Dim, LIMITS, Refused, Value, count, int_range, is_float,
                   tensor_type)
from .fusionops import index_tensor
from .pointwise import EXACT, into, same_shape
from .reductions import check_steps, factor_like, product_range, sum_range

UNARY = {"abs": None, "ceil": "exact", "floor": "exact", "erf": None,
         "sigmoid": None, "tanh": None, "cos": (-100, 100), "sin": (-100, 100),
         "exp": (-6, 4), "log": (0.125, 1e4), "reciprocal": (0.25, 1e4),
         "rsqrt": (0.0625, 1e4)}
RANGES = {"erf": (-1, 1), "sigmoid": (0, 1), "tanh": (-1, 1), "cos": (-1, 1),
          "sin": (-1, 1), "exp": (0.002, 55), "log": (-2.1, 9.3),
          "reciprocal": (0, 4), "rsqrt": (0, 4)}


def some(p, ranks=(1, 4), elem=None, **kind):
    """A static tensor that TOSA has a type for."""
    return p.tensor(elem=elem or p.rng.choice(("f32", "f32", "f16", "bf16")),
                    ranks=ranks, least=1, static=True, **kind)


def call(p, text, inputs, dims, elem, low, high, attributes=""):
    types = ", ".join(v.type for v in inputs)
    names = ", ".join(v.name for v in inputs)
    return p.result(f"tosa.{text} {names}{attributes} : ({types}) -> "
                    f"{tensor_type(dims, elem)}", dims, elem, low, high)


def const(p, elem, numbers):
    """A tosa.const of rank one."""
    text = ", ".join(str(n) for n in numbers)
    kind = f"tensor<{len(numbers)}x{elem}>"
    name = p.fresh("z")
    p.emit(f'{name} = "tosa.const"() <{{values = dense<[{text}]> : {kind}}}> : '
           f"() -> {kind}")
    return Value(name, [Dim(len(numbers))], elem, 0, 0)


def shape(p, numbers):
    """A tosa.const_shape: its name and type."""
    name = p.fresh("n")
    text = ", ".join(map(str, numbers))
    rank = len(numbers)
    p.emit(f"{name} = tosa.const_shape {{values = dense<[{text}]> : "
           f"tensor<{rank}xindex>}} : () -> !tosa.shape<{rank}>")
    return name, f"!tosa.shape<{rank}>"


def zero(p, elem):
    return const(p, elem, ["0.0" if is_float(elem) else 0])


def unary(p):
    op, domain = p.rng.choice(sorted(UNARY.items(), key=lambda i: i[0]))
    x = some(p)
    if domain == "exact" and not x.name.startswith(EXACT):
        x = p.argument(x.dims, x.elem)
    elif isinstance(domain, tuple):
        x = into(p, x, *domain)
    span = x.magnitude
    low, high = RANGES.get(op, (-span - 1, span + 1))
    return call(p, op, [x], x.dims, x.elem, low, high)


def binary(p):
    op = p.rng.choice(("add", "sub", "mul", "maximum", "minimum", "pow"))
    elem = "i32" if op != "pow" and p.chance(0.2) else None
    x = some(p, elem=elem)
    dims = [Dim(1) if p.chance(0.2) else d for d in x.dims]
    y = same_shape(p, dims, x.elem)
    if not is_float(x.elem):
        low, high = int_range(x.elem)
    elif op == "pow":
        x, y = into(p, x, 0.25, 8), into(p, y, -2, 2)
        low, high = 0.01, 64
    else:
        corners = [(a, b) for a in (x.low, x.high) for b in (y.low, y.high)]
        ends = [{"add": a + b, "sub": a - b, "mul": a * b, "maximum": max(a, b),
                 "minimum": min(a, b)}[op] for a, b in corners]
        low, high = min(ends), max(ends)
        if max(abs(low), abs(high)) > 20 * LIMITS[x.elem]:
            raise Refused("beyond the type")
    inputs = [x, y]
    if op == "mul":
        inputs.append(const(p, "i8", [0]))
    return call(p, op, inputs, x.dims, x.elem, low, high)


def clamp(p):
    x = some(p)
    return call(p, "clamp", [x], x.dims, x.elem, -1, 6, f" {{min_val = -1.0 : "
                f"{x.elem}, max_val = 6.0 : {x.elem}}}")


def reduce(p):
    op = p.rng.choice(("sum", "max", "min"))
    elem = "i32" if p.chance(0.2) else None
    x = some(p, elem=elem)
    axis = p.rng.randrange(x.rank)
    dims = list(x.dims)
    dims[axis] = Dim(1)
    low, high = x.low, x.high
    if not x.is_float():
        low, high = int_range("i32")
    elif op == "sum":
        low, high = sum_range(low, high, x.dims[axis].size)
    return call(p, f"reduce_{op}", [x], dims, x.elem, low, high,
                f" {{axis = {axis} : i32}}")


def argmax(p):
    x = p.argument(p.shape(p.rng.randint(1, 3), least=1, static=True), "f32")
    axis = p.rng.randrange(x.rank)
    dims = [d for i, d in enumerate(x.dims) if i != axis]
    return call(p, "argmax", [x], dims, "i32", 0, x.dims[axis].size,
                f" {{axis = {axis} : i32}}")


def transpose(p):
    x = some(p)
    order = list(range(x.rank))
    p.rng.shuffle(order)
    text = ", ".join(map(str, order))
    return call(p, "transpose", [x], [x.dims[i] for i in order], x.elem, x.low,
                x.high, f" {{perms = array<i32: {text}>}}")


def reshape(p):
    x = some(p)
    total = count(x.dims)
    first = p.rng.choice([f for f in (1, 2, 3, 4, 5, 8) if total % f == 0])
    dims = [Dim(first), Dim(total // first)]
    name, kind = shape(p, [d.size for d in dims])
    return p.result(f"tosa.reshape {x.name}, {name} : ({x.type}, {kind}) -> "
                    f"{tensor_type(dims, x.elem)}", dims, x.elem, x.low, x.high)


def slice_(p):
    x = some(p)
    starts = [p.rng.randrange(d.size) for d in x.dims]
    sizes = [p.rng.randint(1, d.size - s) for d, s in zip(x.dims, starts)]
    (a, at), (b, bt) = shape(p, starts), shape(p, sizes)
    dims = [Dim(s) for s in sizes]
    return p.result(f"tosa.slice {x.name}, {a}, {b} : ({x.type}, {at}, {bt})"
                    f" -> {tensor_type(dims, x.elem)}", dims, x.elem, x.low,
                    x.high)


def pad(p):
    x = some(p, (1, 3))
    amounts = [p.rng.choice((0, 1, 2)) for _ in range(2 * x.rank)]
    name, kind = shape(p, amounts)
    value = const(p, x.elem, ["1.0"])
    dims = [Dim(d.size + amounts[2 * i] + amounts[2 * i + 1])
            for i, d in enumerate(x.dims)]
    return p.result(f"tosa.pad {x.name}, {name}, {value.name} : ({x.type}, "
                    f"{kind}, {value.type}) -> {tensor_type(dims, x.elem)}",
                    dims, x.elem, min(x.low, 1), max(x.high, 1))


def tile(p):
    x = some(p, (1, 3))
    counts = [p.rng.choice((1, 1, 2, 3)) for _ in x.dims]
    dims = [Dim(d.size * c) for d, c in zip(x.dims, counts)]
    if count(dims) > 1 << 14:
        raise Refused("too large")
    name, kind = shape(p, counts)
    return p.result(f"tosa.tile {x.name}, {name} : ({x.type}, {kind}) -> "
                    f"{tensor_type(dims, x.elem)}", dims, x.elem, x.low, x.high)


def concat(p):
    x = some(p)
    axis = p.rng.randrange(x.rank)
    y = same_shape(p, x.dims, x.elem)
    dims = list(x.dims)
    dims[axis] = Dim(2 * x.dims[axis].size)
    return call(p, "concat", [x, y], dims, x.elem, min(x.low, y.low),
                max(x.high, y.high), f" {{axis = {axis} : i32}}")


def matmul(p):
    elem = p.rng.choice(("f32", "f16", "bf16", "i8"))
    b, m, n, k = (p.dim(least=1, most=48, static=True) for _ in range(4))
    b = Dim(min(b.size, 4))
    check_steps(p, b, m, n, k)
    x, y = factor_like(p, elem, [b, m, k]), factor_like(p, elem, [b, k, n])
    total = "i32" if elem == "i8" else p.rng.choice((elem, "f32")) if (
        elem == "f16") else "f32" if elem == "bf16" else elem
    return call(p, "matmul", [x, y, zero(p, elem), zero(p, elem)], [b, m, n],
                total, *product_range(x, y, k.size, total))


def conv2d(p):
    depthwise = p.chance(0.3)
    n, c, f = p.rng.randint(1, 2), p.rng.randint(1, 8), p.rng.randint(1, 8)
    window = [p.rng.choice((1, 2, 3)) for _ in range(2)]
    pads = [p.rng.randint(0, 1) for _ in range(4)]
    stride = [1, 1]
    space = [p.rng.randint(4, 14) for _ in range(2)]
    for i in range(2):
        if p.chance(0.3):  # the division has to come out even
            stride[i] = 2
            space[i] += (space[i] + pads[2 * i] + pads[2 * i + 1] -
                         window[i]) % 2
    out = [(space[i] + pads[2 * i] + pads[2 * i + 1] - window[i]) // stride[i]
           + 1 for i in range(2)]
    x = factor_like(p, "f32", [Dim(n), Dim(space[0]), Dim(space[1]), Dim(c)])
    filter_ = ([Dim(window[0]), Dim(window[1]), Dim(c), Dim(1)] if depthwise
               else [Dim(f), Dim(window[0]), Dim(window[1]), Dim(c)])
    w = factor_like(p, "f32", filter_)
    channels = c if depthwise else f
    b = same_shape(p, [Dim(channels)], "f32")
    dims = [Dim(n), Dim(out[0]), Dim(out[1]), Dim(channels)]
    numbers = {"pad": pads, "stride": stride, "dilation": [1, 1]}
    text = ", ".join(f"{k} = array<i64: {', '.join(map(str, v))}>"
                     for k, v in numbers.items())
    return call(p, "depthwise_conv2d" if depthwise else "conv2d",
                [x, w, b, zero(p, "f32"), zero(p, "f32")], dims, "f32",
                *product_range(x, w, count(filter_), "f32"),
                f" {{acc_type = f32, {text}}}")


def max_pool(p):
    k = p.rng.choice((1, 2, 3))
    out = [p.rng.randint(1, 7) for _ in range(2)]
    space = [Dim(o + k - 1) for o in out]
    n, c = p.dim(least=1, most=2, static=True), p.dim(least=1, most=8,
                                                     static=True)
    elem = p.rng.choice(("f32", "f16", "i8"))
    x = factor_like(p, elem, [n, *space, c])
    return call(p, "max_pool2d", [x], [n, Dim(out[0]), Dim(out[1]), c], elem,
                x.low, x.high, f" {{kernel = array<i64: {k}, {k}>, pad = "
                "array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}")


def avg_pool(p):
    k = p.rng.choice((1, 2, 3))
    out = [p.rng.randint(1, 7) for _ in range(2)]
    space = [Dim(o + k - 1) for o in out]
    n, c = p.dim(least=1, most=2, static=True), p.dim(least=1, most=8,
                                                     static=True)
    elem = p.rng.choice(("f32", "f16"))
    x = factor_like(p, elem, [n, *space, c])
    return call(p, "avg_pool2d", [x, zero(p, elem), zero(p, elem)],
                [n, Dim(out[0]), Dim(out[1]), c], elem, x.low, x.high,
                f" {{acc_type = f32, kernel = array<i64: {k}, {k}>, pad = "
                "array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}")


def bitwise(p):
    """Logic on integers or booleans."""
    elem = p.rng.choice(("i32", "i8", "i1"))
    x = some(p, elem=elem)
    y = same_shape(p, x.dims, elem)
    kind = "logical" if elem == "i1" else "bitwise"
    op = p.rng.choice(("and", "or", "xor", "not"))
    inputs = [x] if op == "not" else [x, y]
    return call(p, f"{kind}_{op}", inputs, x.dims, elem, *int_range(elem))


def select(p):
    x = some(p)
    y = same_shape(p, x.dims, x.elem)
    a = p.argument(x.dims, "f32")
    b = p.argument([Dim(1)] * x.rank, "f32")
    op = p.rng.choice(("greater", "greater_equal", "equal"))
    c = call(p, op, [a, b], x.dims, "i1", 0, 1)
    return call(p, "select", [c, x, y], x.dims, x.elem, min(x.low, y.low),
                max(x.high, y.high))


def gather(p):
    n, k, c, w = (p.dim(least=1, most=16, static=True) for _ in range(4))
    x = factor_like(p, p.rng.choice(("f32", "f16")), [n, k, c])
    ids = index_tensor(p, [n, w], k.size, "i32")
    return call(p, "gather", [x, ids], [n, w, c], x.elem, x.low, x.high)


def cast(p):
    x = p.argument(p.shape(p.rng.randint(1, 3), least=1, static=True),
                   p.rng.choice(("f32", "i32", "f16", "i8")))
    elem = p.rng.choice([e for e in ("f32", "i32", "i8", "f16") if e != x.elem])
    return call(p, "cast", [x], x.dims, elem, x.low, x.high)


BUILDERS = {unary: 4, binary: 5, clamp: 1, reduce: 3, argmax: 1, transpose: 2,
            reshape: 2, slice_: 1, pad: 1, tile: 1, concat: 1, matmul: 3,
            conv2d: 2, max_pool: 1, avg_pool: 1, bitwise: 1,
            select: 1, gather: 1, cast: 1}
