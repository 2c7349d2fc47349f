# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise ops, in all spellings."""

import math

from . import scalars
from .core import (Dim, LIMITS, Refused, SMALL_FLOATS, Value, affine_map,
                   int_range, is_float, tensor_type)
from .scalars import BodyEmitter, Operand, TensorEmitter

EXACT = ("%x",)  # names of inputs begin so; they are free of rounding

# Named linalg ops of one and two tensors, with what the operand may be.
NAMED_UNARY = {
    "abs": (-1e9, 1e9), "ceil": None, "floor": None, "round": None,
    "erf": (-1e4, 1e4), "exp": (-6, 4), "log": (0.125, 1e4),
    "negf": (-1e9, 1e9), "reciprocal": (0.25, 1e4), "rsqrt": (0.0625, 1e4),
    "sqrt": (0.0625, 1e4), "square": (-16, 16), "tanh": (-1e4, 1e4)}
NAMED_BINARY = ("add", "sub", "mul", "div", "max", "min", "powf")


def operand(value):
    return Operand(value.name, value.elem, value.low, value.high,
                   value.name.startswith(EXACT))


def same_shape(p, dims, elem=None):
    """Another tensor of the same sizes."""
    def accept(v):
        return (v.dims is not None and len(v.dims) == len(dims) and
                (v.elem == elem if elem else v.elem != "index") and
                all(a.same(b) for a, b in zip(v.dims, dims)))
    return p.tame(p.pick(accept, lambda: p.argument(
        dims, elem or p.rng.choice(("f32", "f16", "bf16", "i32", "i8")))))


def any_tensor(p, **kind):
    """A tensor of any type, floats more often."""
    elem = None
    if p.chance(0.2):
        elem = p.int_type()
    elif p.chance(0.05):
        elem = p.rng.choice(SMALL_FLOATS)
    return p.tensor(elem=elem, **kind)


def result_type(p, value):
    """What an elementwise op of the value results in."""
    if p.chance(0.7) and value.elem not in SMALL_FLOATS:
        return value.elem
    return p.rng.choice(("f32", "f32", "bf16", "f16", "i32", "i8", "i64",
                         "f8E4M3FN", "f8E5M2", "i1"))


def tensor_arithmetic(p):
    """arith and math ops on whole tensors."""
    x = any_tensor(p, ranks=(0, 4))
    others = [same_shape(p, x.dims) for _ in range(p.rng.randint(0, 2))]
    e = TensorEmitter(p, x.dims)
    r = scalars.expression(e, [operand(v) for v in (x, *others)],
                           p.rng.randint(1, 4),
                           None if p.chance(0.7) else result_type(p, x))
    if r.name.startswith("%x"):
        raise Refused("nothing was computed")
    return p.keep(Value(r.name, x.dims, r.elem, r.low, r.high))


def generic(p):
    """linalg.generic over parallel loops; inputs broadcast and permuted."""
    x = any_tensor(p, ranks=(0, 4))
    rank = x.rank
    loops = list(x.dims)
    extra = p.rng.randint(0, 1) if rank < 4 else 0
    for _ in range(extra):
        dim = p.dim(least=1, most=16)
        loops.insert(p.rng.randint(0, len(loops)), dim)
    if _product(loops) > 1 << 15:
        raise Refused("too large")
    # Where each dimension of x is among the loops.
    places = _places(x.dims, loops)
    inputs, maps = [x], [[f"d{i}" for i in places]]
    for _ in range(p.rng.randint(0, 2)):
        chosen = p.rng.sample(range(len(loops)),
                              p.rng.randint(0, len(loops)))
        if p.chance(0.6):
            chosen.sort()
        dims = [loops[i] for i in chosen]
        ones = [p.chance(0.08) for _ in chosen]  # of size one, read at 0
        if any(ones):
            dims = [Dim(1) if one else d for one, d in zip(ones, dims)]
            inputs.append(same_shape(p, dims))
            maps.append(["0" if one else f"d{i}"
                         for one, i in zip(ones, chosen)])
            continue
        y = (x if p.chance(0.1) and [d.size for d in dims] == x.sizes and
             all(a.same(b) for a, b in zip(dims, x.dims))
             else same_shape(p, dims))
        inputs.append(y)
        maps.append([f"d{i}" for i in chosen])
    order = list(range(len(loops)))
    if p.chance(0.3):
        p.rng.shuffle(order)
    return structured(p, loops, inputs, maps, order)


def structured(p, loops, inputs, maps, order, steps=None):
    """A linalg.generic of parallel loops; results have the loops in `order`."""
    e = BodyEmitter(p)
    operands = []
    names = []
    for value in inputs:
        name = p.fresh("a")
        names.append(f"{name}: {value.elem}")
        operands.append(Operand(name, value.elem, value.low, value.high,
                                value.name.startswith(EXACT)))
    if loops and p.chance(0.12):
        axis = p.rng.randrange(len(loops))
        index = e.emit(f"linalg.index {axis} : index")
        number = e.emit(f"arith.index_cast {index} : index to i32")
        operands.append(Operand(number, "i32", 0, max(loops[axis].size - 1, 0),
                                True))
    if operands and p.chance(0.02):  # holds; importers write such
        text = (f"arith.cmpf oeq, {operands[0].name}, {operands[0].name}"
                if is_float(operands[0].elem) else
                f"arith.cmpi eq, {operands[0].name}, {operands[0].name}")
        holds = e.emit(f"{text} : {operands[0].elem}")
        e.lines.append(f'  cf.assert {holds}, "a NaN"')
    results = []
    for _ in range(2 if p.chance(0.12) else 1):
        results.append(scalars.expression(e, operands,
                                          steps or p.rng.randint(1, 5),
                                          result_type(p, inputs[0])))
    dims = [loops[i] for i in order]
    spaces, kinds, outs = [], [], []
    for r in results:
        spaces.append(p.empty(dims, r.elem))
        kinds.append(tensor_type(dims, r.elem))
        outs.append(f"{p.fresh('o')}: {r.elem}")
    all_maps = maps + [[f"d{i}" for i in order]] * len(results)
    text = ", ".join(affine_map(len(loops), m) for m in all_maps)
    iterators = ", ".join('"parallel"' for _ in loops)
    ins = ""
    if inputs:
        ins = (f" ins({', '.join(v.name for v in inputs)} : "
               f"{', '.join(v.type for v in inputs)})")
    group = p.fresh("r")
    many = f":{len(results)}" if len(results) > 1 else ""
    types = ", ".join(kinds)
    p.emit(f"{group}{many} = linalg.generic {{indexing_maps = [{text}], "
           f"iterator_types = [{iterators}]}}{ins} "
           f"outs({', '.join(spaces)} : {types}) {{\n"
           f"^bb0({', '.join(names + outs)}):\n" + "\n".join(e.lines) +
           f"\n  linalg.yield {', '.join(r.name for r in results)} : "
           f"{', '.join(r.elem for r in results)}\n}} -> " +
           (f"({types})" if many else types))
    values = [p.keep(Value(f"{group}#{i}" if many else group, dims, r.elem,
                           r.low, r.high)) for i, r in enumerate(results)]
    return values[-1]


def linalg_map(p):
    """linalg.map, in its long form."""
    x = any_tensor(p)
    inputs = [x] + [same_shape(p, x.dims) for _ in range(p.rng.randint(0, 2))]
    e = BodyEmitter(p)
    operands, names = [], []
    for value in inputs:
        name = p.fresh("a")
        names.append(f"{name}: {value.elem}")
        operands.append(Operand(name, value.elem, value.low, value.high,
                                value.name.startswith(EXACT)))
    r = scalars.expression(e, operands, p.rng.randint(1, 4), result_type(p, x))
    names.append(f"{p.fresh('o')}: {r.elem}")
    space = p.empty(x.dims, r.elem)
    kind = tensor_type(x.dims, r.elem)
    return p.result(
        f"linalg.map ins({', '.join(v.name for v in inputs)} : "
        f"{', '.join(v.type for v in inputs)}) outs({space} : {kind}) "
        f"({', '.join(names)}) {{\n" + "\n".join(e.lines) +
        f"\n  linalg.yield {r.name} : {r.elem}\n}}", x.dims, r.elem, r.low,
        r.high)


def into(p, value, low, high):
    """The value, or a tensor computed from it in [low, high]."""
    if low <= value.low and value.high <= high:
        return value
    e = TensorEmitter(p, value.dims)
    x = operand(value)
    r = scalars.positive(e, x, low) if low > 0 else x
    r = scalars.bounded(e, r, low, high)
    return p.keep(Value(r.name, value.dims, r.elem, r.low, r.high))


def _named_range(op, x):
    """The range of a named op of one tensor."""
    low, high = x.low, x.high
    ends = {"exp": lambda v: math.exp(v), "log": lambda v: math.log(v),
            "reciprocal": lambda v: 1 / v, "rsqrt": lambda v: v ** -0.5,
            "sqrt": lambda v: v ** 0.5, "negf": lambda v: -v}.get(op)
    if ends:
        return sorted((ends(low), ends(high)))
    if op in ("erf", "tanh"):
        return -1, 1
    span = max(abs(low), abs(high))
    return {"abs": (0, span), "square": (0, span * span)}.get(
        op, (low - 1, high + 1))


def named_unary(p):
    """linalg.exp and such, or linalg.elementwise of that kind."""
    op, domain = p.rng.choice(sorted(NAMED_UNARY.items()))
    x = p.tensor(ranks=(0, 4))
    if domain is None:  # discontinuous
        if not x.name.startswith(EXACT):
            x = p.argument(x.dims, x.elem)
    else:
        x = into(p, x, *domain)
    low, high = _named_range(op, x)
    return _named(p, op, [x], x.dims, x.elem, low, high)


def _named(p, op, inputs, dims, elem, low, high, maps=None):
    space = p.empty(dims, elem)
    kind = tensor_type(dims, elem)
    ins = (f"ins({', '.join(v.name for v in inputs)} : "
           f"{', '.join(v.type for v in inputs)}) outs({space} : {kind})")
    if maps or p.chance(0.3):
        text = ""
        if maps:
            text = (" indexing_maps = [" + ", ".join(
                affine_map(len(dims), m) for m in maps) + "]")
        name = f"{op}_signed" if op in ("max", "min") else op
        return p.result(f"linalg.elementwise kind=#linalg.elementwise_kind<"
                        f"{name}>{text} {ins} -> {kind}", dims, elem, low, high)
    return p.result(f"linalg.{op} {ins} -> {kind}", dims, elem, low, high)


def named_binary(p):
    """linalg.add and such, of equal shapes or with maps that broadcast."""
    op = p.rng.choice(NAMED_BINARY)
    elem = None
    if op != "powf" and p.chance(0.25):
        elem = p.rng.choice(("i32", "i64", "i8"))
    x = p.tensor(elem=elem, ranks=(0, 4))
    maps = None
    if p.chance(0.25) and x.rank:
        chosen = sorted(p.rng.sample(range(x.rank), p.rng.randint(0, x.rank)))
        y = same_shape(p, [x.dims[i] for i in chosen], x.elem)
        whole = [f"d{i}" for i in range(x.rank)]
        maps = [whole, [f"d{i}" for i in chosen], whole]
    else:
        y = same_shape(p, x.dims, x.elem)
    if not is_float(x.elem):
        if op == "div":
            y = _above(p, y)
            op = p.rng.choice(("div", "div_unsigned"))
        return _named(p, op, [x, y], x.dims, x.elem, *int_range(x.elem), maps)
    if op == "div":
        y = into(p, y, 0.25, 1e4)
    if op == "powf":
        x, y = into(p, x, 0.25, 8), into(p, y, -2, 2)
    corners = [(a, b) for a in (x.low, x.high) for b in (y.low, y.high)]
    ends = [{"add": a + b, "sub": a - b, "mul": a * b, "max": max(a, b),
             "min": min(a, b), "div": a / b if b else 0,
             "powf": a ** b if a > 0 else 0}[op] for a, b in corners]
    if max(map(abs, ends)) > LIMITS[x.elem] * 20:
        raise Refused("beyond the type")
    return _named(p, op, [x, y], x.dims, x.elem, min(ends), max(ends), maps)


def _above(p, value):
    """An integer tensor of 1 to 8 from any."""
    e = TensorEmitter(p, value.dims)
    seven = e.constant(7, value.elem)
    y = scalars._op(e, "arith.andi", (operand(value), seven), value.elem, 0, 7)
    y = scalars._op(e, "arith.addi", (y, e.constant(1, value.elem)), value.elem,
                    1, 8)
    return p.keep(Value(y.name, value.dims, y.elem, 1, 8))


def _product(dims):
    result = 1
    for dim in dims:
        result *= dim.size
    return result


def _places(dims, loops):
    """Which loop each dimension of a tensor is; loops have them in order."""
    places, at = [], 0
    for dim in dims:
        while loops[at] is not dim:
            at += 1
        places.append(at)
        at += 1
    return places


BUILDERS = {tensor_arithmetic: 4, generic: 7, linalg_map: 2, named_unary: 2,
            named_binary: 3}
