# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions, contractions, windows: all that combines elements."""

import math

from . import scalars
from .core import (Dim, LIMITS, Refused, SMALL_FLOATS, Value, affine_map,
                   count, int_range, is_float, tensor_type)
from .pointwise import EXACT, any_tensor, same_shape
from .scalars import BodyEmitter, Operand

# Combiners: (op on floats, op on integers, start on floats, on integers).
COMBINERS = {
    "sum": ("arith.addf", "arith.addi", 0.0, 0),
    "max": ("arith.maximumf", "arith.maxsi", -10000.0, -100),
    "min": ("arith.minimumf", "arith.minsi", 10000.0, 100),
    "number": ("arith.maxnumf", "arith.maxui", -10000.0, 0),
    "product": ("arith.mulf", "arith.muli", 1.0, 1),
}
BOOLEAN = {"any": ("arith.ori", 0), "all": ("arith.andi", 1),
           "parity": ("arith.xori", 0)}


def sum_range(low, high, terms):
    """Where a sum of so many numbers is expected, from their range."""
    middle, half = (low + high) / 2, (high - low) / 2
    spread = 1.2 * math.sqrt(max(terms, 1)) * half
    most = middle * terms + spread
    least = low * terms if low >= 0 else middle * terms - spread
    return least, most


def wide(elem):
    """The type that sums of the type are made in by careful programs."""
    if is_float(elem):
        return "f64" if elem == "f64" else "f32"
    return elem


def start_value(p, dims, elem, number):
    """What a reduction starts from: one number, or (for sums) a tensor."""
    return p.filled(dims, elem, number)


def _combine(p, kind, value, terms, elem):
    """The op, the start and the range of the result of a reduction."""
    floats = is_float(elem)
    if elem == "i1":
        op, start = BOOLEAN[p.rng.choice(sorted(BOOLEAN))]
        return op, start, 0, 1
    op_f, op_i, start_f, start_i = COMBINERS[kind]
    if not floats:
        low, high = int_range(elem)
        return op_i, start_i, low, high
    if kind == "sum":
        return op_f, start_f, *sum_range(value.low, value.high, terms)
    if kind == "product":
        return op_f, start_f, -1, 1
    if elem == "f16":
        start_f = math.copysign(1000.0, start_f)
    return (op_f, start_f, min(value.low, value.high), max(value.low,
                                                           value.high))


def generic_reduction(p):
    """linalg.generic that reduces any of its loops, of computed elements."""
    x = any_tensor(p)
    if x.elem in SMALL_FLOATS:
        raise Refused("8-bit floats are not summed")
    loops = list(x.dims)
    reduced = p.rng.sample(range(len(loops)), p.rng.randint(1, len(loops)))
    kept = [i for i in range(len(loops)) if i not in reduced]
    terms = count([loops[i] for i in reduced])
    order = list(range(len(loops)))
    if p.chance(0.3):
        p.rng.shuffle(order)  # loops in another order than x's dimensions
    inputs, maps = [x], [list(range(len(loops)))]
    if p.chance(0.3):
        chosen = sorted(p.rng.sample(range(len(loops)),
                                     p.rng.randint(0, len(loops))))
        inputs.append(same_shape(p, [loops[i] for i in chosen]))
        maps.append(chosen)
    e = BodyEmitter(p)
    names, operands = [], []
    for value in inputs:
        name = p.fresh("a")
        names.append(f"{name}: {value.elem}")
        operands.append(Operand(name, value.elem, value.low, value.high,
                                value.name.startswith(EXACT)))
    elem = (wide(x.elem) if p.chance(0.75) or not is_float(x.elem)
            else x.elem)
    if len(inputs) > 1 or p.chance(0.3):
        r = scalars.expression(e, operands, p.rng.randint(1, 3), elem)
    else:
        r = scalars.cast(e, operands[0], elem)
    if p.chance(0.3):
        p.rng.shuffle(kept)
    results = []
    for _ in range(2 if p.chance(0.12) else 1):
        kind = p.rng.choices(("sum", "max", "min", "number", "product"),
                             (8, 3, 2, 1, 0 if is_float(elem) else 1))[0]
        op, start, low, high = _combine(p, kind, r, terms, elem)
        state = p.fresh("o")
        pair = (r.name, state) if p.chance(0.5) else (state, r.name)
        new = e.emit(f"{op} {pair[0]}, {pair[1]} : {elem}")
        results.append((state, new, start, low, high))
    # Rename loops: loop number order[i] runs along dimension i of x.
    expressions = [[f"d{order[i]}" for i in m] for m in maps]
    dims = [loops[i] for i in kept]
    target = [f"d{order[i]}" for i in kept]
    if p.chance(0.25):  # reduced dimensions stay, of size one
        kept = range(len(loops))
        dims = [Dim(1) if i in reduced else loops[i] for i in kept]
        target = ["0" if i in reduced else f"d{order[i]}" for i in kept]
    expressions += [target] * len(results)
    iterators = [None] * len(loops)
    for i, loop in enumerate(order):
        iterators[loop] = '"reduction"' if i in reduced else '"parallel"'
    return _emit_generic(p, len(loops), inputs, expressions, iterators, e.lines,
                         names, dims, elem, results)


def _emit_generic(p, loops, inputs, expressions, iterators, lines, names, dims,
                  elem, results):
    """Writes a linalg.generic that reduces; results are (state, new value,
    start, low, high)."""
    kind = tensor_type(dims, elem)
    spaces = [start_value(p, dims, elem, r[2]) for r in results]
    states = [f"{r[0]}: {elem}" for r in results]
    maps = ", ".join(affine_map(loops, m) for m in expressions)
    group = p.fresh("r")
    many = f":{len(results)}" if len(results) > 1 else ""
    types = ", ".join([kind] * len(results))
    p.emit(f"{group}{many} = linalg.generic {{indexing_maps = [{maps}], "
           f"iterator_types = [{', '.join(iterators)}]}} "
           f"ins({', '.join(v.name for v in inputs)} : "
           f"{', '.join(v.type for v in inputs)}) "
           f"outs({', '.join(spaces)} : {types}) {{\n"
           f"^bb0({', '.join(names + states)}):\n" + "\n".join(lines) +
           f"\n  linalg.yield {', '.join(r[1] for r in results)} : "
           f"{', '.join([elem] * len(results))}\n}} -> " +
           (f"({types})" if many else types))
    values = [p.keep(Value(f"{group}#{i}" if many else group, dims, elem, r[3],
                           r[4])) for i, r in enumerate(results)]
    return values[-1]


def reduce_op(p):
    """linalg.reduce, in its short or long form."""
    elem = p.rng.choice(("i32", "i64", "i8", "i1")) if p.chance(0.15) else None
    x = p.tensor(elem=elem)
    dims = sorted(p.rng.sample(range(x.rank), p.rng.randint(1, x.rank)))
    kept = [d for i, d in enumerate(x.dims) if i not in dims]
    kind = p.rng.choices(("sum", "max", "min"), (5, 2, 1))[0]
    terms = count([x.dims[i] for i in dims])
    op, start, low, high = _combine(p, kind, x, terms, x.elem)
    if x.is_float() and max(abs(low), abs(high)) > LIMITS[x.elem] * 20:
        raise Refused("the sum may overflow")
    out = start_value(p, kept, x.elem, start)
    kind = tensor_type(kept, x.elem)
    if p.chance(0.5):
        text = (f"linalg.reduce {{ {op} }} ins({x.name} : {x.type}) "
                f"outs({out} : {kind}) dimensions = {dims}")
    else:
        a, b, c = p.fresh("a"), p.fresh("o"), p.fresh("s")
        text = (f"linalg.reduce ins({x.name} : {x.type}) outs({out} : {kind}) "
                f"dimensions = {dims} ({a}: {x.elem}, {b}: {x.elem}) {{\n"
                f"  {c} = {op} {a}, {b} : {x.elem}\n"
                f"  linalg.yield {c} : {x.elem}\n}}")
    return p.result(text, kept, x.elem, low, high)


def argmax(p):
    """The greatest or least element along some dimensions and what belongs to
    it: its place, or the element of a second tensor."""
    elem = p.rng.choice(("f32", "f16", "i32"))
    x = p.tensor(elem=elem, ranks=(1, 3), least=1)
    if not x.name.startswith(EXACT):
        x = p.argument(x.dims, x.elem)
    axes = sorted(p.rng.sample(range(x.rank),
                               p.rng.randint(1, min(x.rank, 2))))
    kept = [i for i in range(x.rank) if i not in axes]
    dims = [x.dims[i] for i in kept]
    floats = x.is_float()
    greatest = p.chance(0.7)
    limit = (-1000 if greatest else 1000) if floats else \
        (-1 if greatest else x.high + 1)
    best = p.filled(dims, x.elem, limit)
    place = p.filled(dims, "i64" if p.chance(0.5) else "i32", 0)
    integer = "i64" if "i64" in p.lines[-1] else "i32"
    # What belongs to an element: a function of its place, or another tensor's.
    other = p.argument(x.dims, "i32") if integer == "i32" and p.chance(0.3) \
        else None
    loops = [f"d{i}" for i in range(x.rank)]
    maps = [affine_map(x.rank, loops)] * (2 if other else 1)
    maps += [affine_map(x.rank, [loops[i] for i in kept])] * 2
    kinds = ", ".join(f'"{"reduction" if i in axes else "parallel"}"'
                      for i in range(x.rank))
    kind, index = tensor_type(dims, x.elem), tensor_type(dims, integer)
    body, high = [], 0
    if other:
        body.append("%j = arith.addi %w, %w : i32")
        low, high = 2 * other.low, 2 * other.high
    else:
        low, high = 0, x.dims[axes[-1]].size
        body += [f"%i = linalg.index {axes[-1]} : index",
                 f"%j = arith.index_cast %i : index to {integer}"]
    compare, signed, op = ("arith.cmpf", "o", "imumf") if floats else \
        ("arith.cmpi", "s", "si")
    word = "gt" if greatest else "lt"
    form = p.rng.choice(("first", "last", "kept", "combined", "nan"))
    chooses = "%in, %m", "%j, %at"
    if form == "last":
        body.append(f"%g = {compare} {signed}{word[0]}e, %in, %m : {x.elem}")
    elif form == "kept":
        # The condition says that the element kept so far stays.
        chooses = "%m, %in", "%at, %j"
        body.append(f"%g = {compare} {'u' if floats else 's'}{word[0]}e, "
                    f"%m, %in : {x.elem}")
    elif form == "nan" and floats:
        body += [f"%h = arith.cmpf u{word}, %in, %m : {x.elem}",
                 f"%o = arith.cmpf ord, %m, %m : {x.elem}",
                 "%g = arith.andi %h, %o : i1"]
    else:
        body.append(f"%g = {compare} {signed}{word}, %in, %m : {x.elem}")
    if form == "combined":
        name = ("max" if greatest else "min") + op
        body.append(f"%n = arith.{name} %in, %m : {x.elem}")
    else:
        body.append(f"%n = arith.select %g, {chooses[0]} : {x.elem}")
    body.append(f"%p = arith.select %g, {chooses[1]} : {integer}")
    group = p.fresh("r")
    sources = [x] + ([other] if other else [])
    names = ", ".join(f"%{n}: {v.elem}" for n, v in zip(("in", "w"), sources))
    p.emit(f"{group}:2 = linalg.generic {{indexing_maps = [{', '.join(maps)}], "
           f"iterator_types = [{kinds}]}} "
           f"ins({', '.join(v.name for v in sources)} : "
           f"{', '.join(v.type for v in sources)}) "
           f"outs({best}, {place} : {kind}, {index}) {{\n"
           f"^bb0({names}, %m: {x.elem}, %at: {integer}):\n  " +
           "\n  ".join(body) +
           f"\n  linalg.yield %n, %p : {x.elem}, {integer}\n"
           f"}} -> ({kind}, {index})")
    p.keep(Value(f"{group}#0", dims, x.elem, min(x.low, limit),
                 max(x.high, limit)))
    return p.keep(Value(f"{group}#1", dims, integer, min(low, 0), max(high, 0)))


def window(p):
    """linalg.generic over a sliding window: a pool or a correlation."""
    x = p.tensor(ranks=(1, 3), least=2)
    axis = p.rng.randrange(x.rank)
    if x.dims[axis].dynamic:
        raise Refused("a window along a dynamic size")
    size = x.dims[axis].size
    width = p.rng.randint(1, min(size, 5))
    stride, dilation = p.rng.randint(1, 3), p.rng.randint(1, 2)
    reach = dilation * (width - 1) + 1
    if reach > size:
        raise Refused("the window is larger than the tensor")
    out = Dim((size - reach) // stride + 1)
    rank = x.rank
    source = [f"d{i}" for i in range(rank)]
    source[axis] = (f"d{axis} * {stride} + d{rank} * {dilation}")
    dims = [out if i == axis else d for i, d in enumerate(x.dims)]
    filter_ = p.argument([Dim(width)], x.elem)
    elem = wide(x.elem) if p.chance(0.7) else x.elem
    e = BodyEmitter(p)
    a, w = Operand("%a", x.elem, x.low, x.high), Operand("%w", x.elem, -5, 5)
    a, w = scalars.cast(e, a, elem), scalars.cast(e, w, elem)
    if p.chance(0.5):
        low, high = sum_range(-5 * x.magnitude, 5 * x.magnitude, width)
        product = e.emit(f"arith.mulf {a.name}, {w.name} : {elem}")
        new, start = e.emit(f"arith.addf %o, {product} : {elem}"), 0.0
    else:
        low, high = x.low - 5, x.high + 5
        product = e.emit(f"arith.addf {a.name}, {w.name} : {elem}")
        new, start = e.emit(f"arith.maximumf %o, {product} : {elem}"), -1000.0
    maps = [source, [f"d{rank}"], [f"d{i}" for i in range(rank)]]
    iterators = ['"parallel"'] * rank + ['"reduction"']
    return _emit_generic(p, rank + 1, [x, filter_], maps, iterators, e.lines,
                         [f"%a: {x.elem}", f"%w: {x.elem}"], dims, elem,
                         [("%o", new, start, low, high)])


def product_types(p, elem=None):
    """Element types of factors and of the sum of a product."""
    factor = elem or p.rng.choices(
        ("f32", "f16", "bf16", "f64", "i8", "f8E4M3FN", "i32"),
        (6, 4, 5, 1, 1, 1, 1))[0]
    if factor in ("i8", "i16"):
        return factor, "i32"
    if factor in SMALL_FLOATS:
        return factor, "f32"
    if factor in ("f16", "bf16") and p.chance(0.75):
        return factor, "f32"
    return factor, factor


def product_range(x, y, depth, elem):
    if not is_float(elem):
        return int_range(elem)
    return sum_range(-x.magnitude * y.magnitude / 3,
                     x.magnitude * y.magnitude / 3, depth)


def factor_like(p, elem, dims):
    """A factor of a product: some tensor of these sizes, or an input."""
    def accept(v):
        return (v.dims is not None and v.elem == elem and
                len(v.dims) == len(dims) and
                all(a.same(b) for a, b in zip(v.dims, dims)))
    return p.tame(p.pick(accept, lambda: p.argument(dims, elem)),
                  bound=50 if is_float(elem) else None)


def check_steps(p, *dims):
    if count(dims) > p.max_steps:
        raise Refused("too many products")


def accumulator(p, dims, elem):
    """What a product is added to: zeros, or now and then a tensor."""
    if p.chance(0.1):
        try:
            return factor_like(p, elem, dims).name
        except Refused:
            pass
    return p.filled(dims, elem, 0)


def matmul(p, x=None):
    """linalg.matmul and its relatives, with operands transposed or batched."""
    elem, total = product_types(p, x.elem if x else None)
    rank = 3 if (x.rank == 3 if x else p.chance(0.3)) else 2
    x = x or p.tensor(elem=elem, rank=rank, ranks=(rank, rank))
    batch, (m, k) = x.dims[:-2], x.dims[-2:]
    x = p.tame(x, 50)
    flip_x = p.chance(0.2)
    if flip_x:
        m, k = k, m
    n = p.dim(least=1, most=128)
    check_steps(p, *batch, m, n, k)
    flip_y = p.chance(0.35)
    y = factor_like(p, elem, [*batch, n, k] if flip_y else [*batch, k, n])
    dims = [*batch, m, n]
    out = accumulator(p, dims, total)
    kind = tensor_type(dims, total)
    low, high = product_range(x, y, k.size, total)
    ins = (f"ins({x.name}, {y.name} : {x.type}, {y.type}) "
           f"outs({out} : {kind}) -> {kind}")
    loops = [f"d{i}" for i in range(len(batch) + 3)]
    b, (dm, dn, dk) = loops[:-3], loops[-3:]
    maps = [[*b, dk, dm] if flip_x else [*b, dm, dk],
            [*b, dn, dk] if flip_y else [*b, dk, dn], [*b, dm, dn]]
    text = ", ".join(affine_map(len(loops), each) for each in maps)
    unit = " {fusion.tf32}" if elem == "f32" and p.chance(0.15) else ""
    if total in ("f16", "bf16") or not is_float(elem):
        unit = ""
    if p.chance(0.15):
        op = f"linalg.contract indexing_maps = [{text}]{unit}"
    elif p.chance(0.2) and x.elem == total:
        return _product_generic(p, x, y, out, text, dims, total, low, high,
                                len(batch))
    else:
        op = "linalg.batch_matmul" if batch else "linalg.matmul"
        if flip_x or flip_y:
            op += f" indexing_maps = [{text}]"
        op += unit
    return p.result(f"{op} {ins}", dims, total, low, high)


def _product_generic(p, x, y, out, maps, dims, elem, low, high, batches):
    """A product as linalg.generic, its operands in either order."""
    kind = tensor_type(dims, elem)
    iterators = ", ".join(['"parallel"'] * (batches + 2) + ['"reduction"'])
    mul, add = (("arith.mulf", "arith.addf") if is_float(elem) else
                ("arith.muli", "arith.addi"))
    a, b, o = p.fresh("a"), p.fresh("a"), p.fresh("o")
    s, t = p.fresh("s"), p.fresh("s")
    factors = f"{a}, {b}" if p.chance(0.5) else f"{b}, {a}"
    return p.result(
        f"linalg.generic {{indexing_maps = [{maps}], iterator_types = "
        f"[{iterators}]}} ins({x.name}, {y.name} : {x.type}, {y.type}) "
        f"outs({out} : {kind}) {{\n^bb0({a}: {elem}, {b}: {elem}, {o}: {elem}):"
        f"\n  {s} = {mul} {factors} : {elem}\n  {t} = {add} {o}, {s} : {elem}\n"
        f"  linalg.yield {t} : {elem}\n}} -> {kind}", dims, elem, low, high)


VECTOR_PRODUCTS = {
    # op: dimensions of the operands and the result, by letter.
    "matvec": ("mk", "k", "m"), "vecmat": ("k", "kn", "n"),
    "dot": ("k", "k", ""),
    "batch_matvec": ("bmk", "bk", "bm"), "batch_vecmat": ("bk", "bkn", "bn"),
    "batch_reduce_matmul": ("bmk", "bkn", "mn"), "mmt4d": ("mkuw", "nkvw",
                                                            "mnuv"),
    "batch_mmt4d": ("bmkuw", "bnkvw", "bmnuv")}


def vector_product(p):
    """Products of other ranks: matvec, dot, mmt4d, batch_reduce_matmul, ..."""
    op, letters = p.rng.choice(sorted(VECTOR_PRODUCTS.items()))
    elem, total = product_types(p)
    if elem in SMALL_FLOATS:
        raise Refused("8-bit floats here are for matmul")
    small = "4d" in op
    sizes = {}
    for letter in "bmnkuvw":
        most = 8 if small or letter == "b" else 64
        sizes[letter] = p.dim(least=1, most=most)
    dims = [[sizes[c] for c in group] for group in letters]
    check_steps(p, *[sizes[c] for c in sorted(set("".join(letters)))])
    x, y = factor_like(p, elem, dims[0]), factor_like(p, elem, dims[1])
    depth = count([sizes[c] for c in sorted(set(letters[0] + letters[1]) -
                                            set(letters[2]))])
    out = accumulator(p, dims[2], total)
    kind = tensor_type(dims[2], total)
    return p.result(
        f"linalg.{op} ins({x.name}, {y.name} : {x.type}, {y.type}) "
        f"outs({out} : {kind}) -> {kind}", dims[2], total,
        *product_range(x, y, depth, total))


def contraction(p):
    """linalg.generic: a sum of products over any of up to five loops."""
    elem = p.rng.choice(("f32", "f32", "f16", "bf16"))
    x = p.tensor(elem=elem, ranks=(1, 4))
    x = p.tame(x, 50)
    loops = list(x.dims)
    shared = [i for i in range(len(loops)) if p.chance(0.6)]
    extra = [p.dim(least=1, most=32) for _ in range(p.rng.randint(0, 2))]
    places = shared + [len(loops) + i for i in range(len(extra))]
    loops += extra
    check_steps(p, *loops)
    if p.chance(0.4):
        p.rng.shuffle(places)
    y = factor_like(p, elem, [loops[i] for i in places])
    both = [i for i in shared]
    reduced = [i for i in both if p.chance(0.6)]
    kept = [i for i in range(len(loops)) if i not in reduced]
    if p.chance(0.3):
        p.rng.shuffle(kept)
    total = "f32" if p.chance(0.7) else elem
    e = BodyEmitter(p)
    a = scalars.cast(e, Operand("%a", elem, x.low, x.high), total)
    b = scalars.cast(e, Operand("%b", elem, y.low, y.high), total)
    if p.chance(0.2):
        a = scalars.bounded(e, scalars.unary(e, a), -50, 50)
    product = e.emit(f"arith.mulf {a.name}, {b.name} : {total}")
    low, high = sum_range(-a_span(a) * a_span(b) / 3, a_span(a) * a_span(b) / 3,
                          count([loops[i] for i in reduced]))
    if max(abs(low), abs(high)) > LIMITS[total] * 20:
        raise Refused("the sum may overflow")
    maps = [[f"d{i}" for i in range(x.rank)], [f"d{i}" for i in places],
            [f"d{i}" for i in kept]]
    iterators = [f'"{"reduction" if i in reduced else "parallel"}"'
                 for i in range(len(loops))]
    new = e.emit(f"arith.addf %o, {product} : {total}")
    return _emit_generic(p, len(loops), [x, y], maps, iterators, e.lines,
                         [f"%a: {elem}", f"%b: {elem}"],
                         [loops[i] for i in kept], total,
                         [("%o", new, 0.0, low, high)])


def a_span(operand):
    return max(abs(operand.low), abs(operand.high))


CONVOLUTIONS = {
    # name: letters of image, filter, result; n batch, c and f channels, m
    # multiplier, hwd space of the image, xyz of the result, ijk of the filter.
    "conv_1d": ("h", "i", "x"), "conv_2d": ("hw", "ij", "xy"),
    "conv_3d": ("hwd", "ijk", "xyz"),
    "conv_1d_ncw_fcw": ("nch", "fci", "nfx"),
    "conv_1d_nwc_wcf": ("nhc", "icf", "nxf"),
    "conv_2d_nchw_fchw": ("nchw", "fcij", "nfxy"),
    "conv_2d_nhwc_hwcf": ("nhwc", "ijcf", "nxyf"),
    "conv_2d_nhwc_fhwc": ("nhwc", "fijc", "nxyf"),
    "conv_2d_ngchw_fgchw": ("ngchw", "fgcij", "ngfxy"),
    "conv_2d_ngchw_gfchw": ("ngchw", "gfcij", "ngfxy"),
    "conv_2d_nhwgc_gfhwc": ("nhwgc", "gfijc", "nxygf"),
    "conv_3d_ncdhw_fcdhw": ("nchwd", "fcijk", "nfxyz"),
    "conv_3d_ndhwc_dhwcf": ("nhwdc", "ijkcf", "nxyzf"),
    "depthwise_conv_1d_ncw_cw": ("nch", "ci", "ncx"),
    "depthwise_conv_1d_nwc_wc": ("nhc", "ic", "nxc"),
    "depthwise_conv_1d_nwc_wcm": ("nhc", "icm", "nxcm"),
    "depthwise_conv_2d_nchw_chw": ("nchw", "cij", "ncxy"),
    "depthwise_conv_2d_nhwc_hwc": ("nhwc", "ijc", "nxyc"),
    "depthwise_conv_2d_nhwc_hwcm": ("nhwc", "ijcm", "nxycm"),
    "depthwise_conv_3d_ncdhw_cdhw": ("nchwd", "cijk", "ncxyz"),
    "depthwise_conv_3d_ndhwc_dhwc": ("nhwdc", "ijkc", "nxyzc"),
    "depthwise_conv_3d_ndhwc_dhwcm": ("nhwdc", "ijkcm", "nxyzcm"),
    "pooling_nchw_max": ("nchw", "ij", "ncxy"),
    "pooling_nchw_sum": ("nchw", "ij", "ncxy"),
    "pooling_ncw_max": ("nch", "i", "ncx"),
    "pooling_ncw_sum": ("nch", "i", "ncx"),
    "pooling_nwc_max": ("nhc", "i", "nxc"),
    "pooling_nwc_min": ("nhc", "i", "nxc"),
    "pooling_nwc_sum": ("nhc", "i", "nxc"),
    "pooling_nhwc_max": ("nhwc", "ij", "nxyc"),
    "pooling_nhwc_min": ("nhwc", "ij", "nxyc"),
    "pooling_nhwc_sum": ("nhwc", "ij", "nxyc"),
    "pooling_nhwc_max_unsigned": ("nhwc", "ij", "nxyc"),
    "pooling_ndhwc_max": ("nhwdc", "ijk", "nxyzc"),
    "pooling_ndhwc_min": ("nhwdc", "ijk", "nxyzc"),
    "pooling_ndhwc_sum": ("nhwdc", "ijk", "nxyzc"),
}


def convolution(p):
    """A named convolution or pool of one to three spatial dimensions."""
    name, (image, filter_, result) = p.rng.choice(sorted(CONVOLUTIONS.items()))
    pool, unsigned = name.startswith("pooling"), name.endswith("unsigned")
    elem, total = product_types(p)
    if pool:
        elem = total = ("i32" if unsigned else p.rng.choice(
            ("f32", "f32", "f16", "bf16", "i32", "i8")))
    if elem in SMALL_FLOATS:
        raise Refused("8-bit floats here are for matmul")
    space = sum(c in "hwd" for c in image)
    strided = name not in ("conv_1d", "conv_2d", "conv_3d")
    sizes, strides, dilations = {}, [], []
    for letter, most in (("n", 2), ("c", 16), ("f", 16), ("g", 3), ("m", 3)):
        sizes[letter] = p.dim(least=1, most=most)
    for at in range(space):
        stride = p.rng.randint(1, 2) if strided else 1
        dilation = p.rng.choice((1, 1, 1, 2)) if strided else 1
        reach = p.rng.choice((1, 2, 3, 3))
        extent = p.dim(least=dilation * (reach - 1) + 1, static=True,
                       most=(40, 20, 9)[space - 1])
        sizes["hwd"[at]], sizes["ijk"[at]] = extent, Dim(reach)
        sizes["xyz"[at]] = Dim((extent.size - dilation * (reach - 1) - 1) //
                               stride + 1)
        strides.append(stride)
        dilations.append(dilation)
    dims = [[sizes[c] for c in group] for group in (image, filter_, result)]
    check_steps(p, *dims[2], *[sizes[c] for c in filter_ if c not in result])
    x = factor_like(p, elem, dims[0])
    if pool:
        y = Value(p.empty(dims[1], elem), dims[1], elem, 0, 0)
        start = 0 if "sum" in name or unsigned else 1000 if "min" in name else (
            -1000)
        if elem == "i8":
            start //= 10
        terms = count(dims[1])
        low, high = ((sum_range(x.low, x.high, terms) if is_float(elem) else
                      int_range(elem)) if "sum" in name else (x.low, x.high))
        out = p.filled(dims[2], total, start)
    else:
        y = factor_like(p, elem, dims[1])
        out = accumulator(p, dims[2], total)
        terms = count([sizes[c] for c in filter_ if c not in "fgm"])
        low, high = product_range(x, y, terms, total)
    kind = tensor_type(dims[2], total)
    attributes = ""
    if strided:
        kind_of = f"vector<{space}xi64>"
        attributes = (f" {{dilations = dense<{dilations}> : {kind_of}, "
                      f"strides = dense<{strides}> : {kind_of}}}")
    return p.result(f"linalg.{name}{attributes} ins({x.name}, {y.name} : "
                    f"{x.type}, {y.type}) outs({out} : {kind}) -> {kind}",
                    dims[2], total, low, high)


def quantized_matmul(p):
    """linalg.quantized_matmul, with zero points."""
    m, n, k = (p.dim(least=1, most=64) for _ in range(3))
    batch = [p.dim(least=1, most=4)] if p.chance(0.3) else []
    check_steps(p, *batch, m, n, k)
    x, y = factor_like(p, "i8", [*batch, m, k]), factor_like(p, "i8",
                                                             [*batch, k, n])
    zeros = [p.scalar(p.rng.randint(-3, 3), "i32") for _ in range(2)]
    out = p.filled([*batch, m, n], "i32", 0)
    kind = tensor_type([*batch, m, n], "i32")
    name = "quantized_batch_matmul" if batch else "quantized_matmul"
    return p.result(
        f"linalg.{name} ins({x.name}, {y.name}, {zeros[0]}, {zeros[1]} : "
        f"{x.type}, {y.type}, i32, i32) outs({out} : {kind}) -> {kind}",
        [*batch, m, n], "i32", *int_range("i32"))


def softmax(p):
    """linalg.softmax."""
    x = p.tensor(ranks=(1, 4), least=1)
    axis = p.rng.randrange(x.rank)
    space = p.empty(x.dims, x.elem)
    return p.result(f"linalg.softmax dimension({axis}) ins({x.name} : {x.type})"
                    f" outs({space} : {x.type}) -> {x.type}", x.dims, x.elem, 0,
                    1)


BUILDERS = {generic_reduction: 5, reduce_op: 3, argmax: 1, window: 2, matmul: 5,
            vector_product: 2, contraction: 3, convolution: 4,
            quantized_matmul: 1, softmax: 1}
