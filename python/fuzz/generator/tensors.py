# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops of the tensor dialect, and linalg's transpose, broadcast, pack."""

from .core import Dim, Refused, count, is_float, literal, tensor_type
from .pointwise import any_tensor, same_shape


def transpose(p):
    x = any_tensor(p, ranks=(1, 4))
    order = list(range(x.rank))
    p.rng.shuffle(order)
    dims = [x.dims[i] for i in order]
    kind = tensor_type(dims, x.elem)
    return p.result(f"linalg.transpose ins({x.name} : {x.type}) "
                    f"outs({p.empty(dims, x.elem)} : {kind}) permutation = "
                    f"{order}", dims, x.elem, x.low, x.high)


def broadcast(p):
    x = any_tensor(p, ranks=(0, 3))
    dims = list(x.dims)
    added = []
    for _ in range(p.rng.randint(1, min(2, 4 - x.rank))):
        at = p.rng.randint(0, len(dims))
        dims.insert(at, p.dim(most=16))
        added = [i + (i >= at) for i in added] + [at]
    if count(dims) > p.max_elements:
        raise Refused("too large")
    kind = tensor_type(dims, x.elem)
    return p.result(f"linalg.broadcast ins({x.name} : {x.type}) "
                    f"outs({p.empty(dims, x.elem)} : {kind}) dimensions = "
                    f"{sorted(added)}", dims, x.elem, x.low, x.high)


def pad(p):
    """tensor.pad with a constant, static or dynamic amounts."""
    x = any_tensor(p, ranks=(1, 3))
    low = [p.rng.choice((0, 0, 1, 2)) for _ in x.dims]
    high = [p.rng.choice((0, 0, 1, 3)) for _ in x.dims]
    dims = [d if not a + b else Dim(d.size + a + b, d.dynamic)
            for d, a, b in zip(x.dims, low, high)]
    number = p.rng.choice((0, 0, 1, -2)) if x.elem != "i1" else 0
    value = p.scalar(number, x.elem)
    indices = ", ".join(f"%{c}: index" for c in "abcd"[:x.rank])
    return p.result(
        f"tensor.pad {x.name} low{low} high{high} {{\n^bb0({indices}):\n"
        f"  tensor.yield {value} : {x.elem}\n}} : {x.type} to "
        f"{tensor_type(dims, x.elem)}", dims, x.elem, min(x.low, number),
        max(x.high, number))


def _window(p, dim):
    """Offset, size and stride of a slice of a size, and its result."""
    if dim.dynamic or dim.size == 0 or p.chance(0.35):
        return 0, dim, 1
    stride = p.rng.choice((1, 1, 1, 2, 3))
    size = p.rng.randint(1, max(1, (dim.size + stride - 1) // stride))
    offset = p.rng.randint(0, dim.size - (size - 1) * stride - 1)
    return offset, Dim(size), stride


def _places(p, windows, dims):
    """The text of offsets, sizes and strides; some offsets as SSA values."""
    offsets, sizes = [], []
    for (offset, size, _), _ in zip(windows, dims):
        offsets.append(p.index(offset) if p.chance(0.1) else str(offset))
        sizes.append(p.size_of(size) if size.dynamic else str(size.size))
    strides = [str(stride) for _, _, stride in windows]
    return (f"[{', '.join(offsets)}] [{', '.join(sizes)}] "
            f"[{', '.join(strides)}]")


def extract_slice(p):
    """tensor.extract_slice: strided, and now and then of smaller rank."""
    x = any_tensor(p, ranks=(1, 4), least=1)
    windows = [_window(p, d) for d in x.dims]
    dims = [size for _, size, _ in windows]
    kept = [d for d in dims if d.dynamic or d.size != 1 or p.chance(0.6)]
    return p.result(
        f"tensor.extract_slice {x.name}{_places(p, windows, x.dims)} : "
        f"{x.type} to {tensor_type(kept, x.elem)}", kept, x.elem, x.low, x.high)


def insert_slice(p):
    """tensor.insert_slice of some tensor into another."""
    x = any_tensor(p, ranks=(1, 4), least=1)
    windows = [_window(p, d) for d in x.dims]
    dims = [size for _, size, _ in windows]
    kept = [d for d in dims if d.dynamic or d.size != 1 or p.chance(0.7)]
    y = same_shape(p, kept, x.elem)
    return p.result(
        f"tensor.insert_slice {y.name} into {x.name}"
        f"{_places(p, windows, x.dims)} : {y.type} into {x.type}", x.dims,
        x.elem, min(x.low, y.low), max(x.high, y.high))


def concat(p):
    """tensor.concat of two to six tensors."""
    x = any_tensor(p, ranks=(1, 4))
    axis = p.rng.randrange(x.rank)
    parts = [x]
    for _ in range(p.rng.choice((1, 1, 1, 2, 3, 5))):
        dims = list(x.dims)
        if p.chance(0.4) and not dims[axis].dynamic:
            dims[axis] = p.dim(static=True, most=32)
        parts.append(same_shape(p, dims, x.elem))
    total = sum(part.dims[axis].size for part in parts)
    dims = list(x.dims)
    dims[axis] = Dim(total, any(part.dims[axis].dynamic for part in parts))
    if count(dims) > p.max_elements:
        raise Refused("too large")
    return p.result(
        f"tensor.concat dim({axis}) {', '.join(v.name for v in parts)} : "
        f"({', '.join(v.type for v in parts)}) -> {tensor_type(dims, x.elem)}",
        dims, x.elem, min(v.low for v in parts), max(v.high for v in parts))


def collapse_shape(p):
    x = any_tensor(p, ranks=(1, 4))
    groups = [[0]]
    for i in range(1, x.rank):
        if p.chance(0.6):
            groups[-1].append(i)
        else:
            groups.append([i])
    dims = []
    for group in groups:
        parts = [x.dims[i] for i in group]
        dims.append(parts[0] if len(parts) == 1 else
                    Dim(count(parts), any(d.dynamic for d in parts)))
    if all(not d.dynamic and d.size == 1 for d in x.dims) and p.chance(0.5):
        groups, dims = [], []
    return p.result(f"tensor.collapse_shape {x.name} {groups} : {x.type} into "
                    f"{tensor_type(dims, x.elem)}", dims, x.elem, x.low, x.high)


def _split(p, dim):
    """Sizes whose product is a size; a dynamic one stays whole."""
    if dim.dynamic:
        return [Dim(1), dim] if p.chance(0.3) else [dim]
    factors = [f for f in (1, 2, 3, 4, 5, 8, 16) if dim.size % f == 0]
    if p.chance(0.4) or dim.size == 0:
        return [dim]
    first = p.rng.choice(factors)
    parts = [Dim(first), Dim(dim.size // first)]
    p.rng.shuffle(parts)
    return parts


def expand_shape(p):
    x = any_tensor(p, ranks=(0, 3))
    groups, dims = [], []
    for dim in x.dims:
        parts = _split(p, dim)
        if len(dims) + len(parts) > 5:
            parts = [dim]
        groups.append(list(range(len(dims), len(dims) + len(parts))))
        dims += parts
    if not x.dims:
        dims = [Dim(1)] * p.rng.randint(1, 2)
    sizes = ", ".join(p.size_of(d) if d.dynamic else str(d.size) for d in dims)
    return p.result(
        f"tensor.expand_shape {x.name} {groups} output_shape [{sizes}] : "
        f"{x.type} into {tensor_type(dims, x.elem)}", dims, x.elem, x.low,
        x.high)


def cast(p):
    """tensor.cast of a static size to a dynamic one."""
    x = any_tensor(p, ranks=(1, 4))
    if not p.options.get("dynamic", True):
        raise Refused("no dynamic sizes")
    dims = [Dim(d.size, True) if p.chance(0.5) else d for d in x.dims]
    return p.result(f"tensor.cast {x.name} : {x.type} to "
                    f"{tensor_type(dims, x.elem)}", dims, x.elem, x.low, x.high)


def reshape(p):
    """tensor.reshape with sizes from constants and tensor.dim."""
    x = any_tensor(p, ranks=(1, 3))
    dims = [part for d in x.dims for part in _split(p, d)][:6]
    if count(dims) != count(x.dims) or len(dims) > 5:
        raise Refused("too many dimensions")
    if p.chance(0.3) and not any(d.dynamic for d in x.dims):
        dims = [Dim(count(x.dims))]
    sizes = ", ".join(p.size_of(d) for d in dims)
    kind = f"tensor<{len(dims)}xindex>"
    shape = p.fresh("n")
    p.emit(f"{shape} = tensor.from_elements {sizes} : {kind}")
    return p.result(f"tensor.reshape {x.name}({shape}) : ({x.type}, {kind}) -> "
                    f"{tensor_type(dims, x.elem)}", dims, x.elem, x.low, x.high)


def affine_size(p):
    """A tensor whose size affine.apply computes of another one's."""
    x = p.tensor(rank=0, ranks=(0, 0))
    sizes = [d for v in p.values for d in v.dims if d.dynamic]
    if not sizes:
        raise Refused("no dynamic size")
    old = p.rng.choice(sizes)
    factor = p.rng.choice((2, 3))
    name = p.fresh("d")
    p.emit(f"{name} = affine.apply affine_map<()[s0] -> (s0 * {factor})>()"
           f"[{p.size_of(old)}]")
    new = Dim(old.size * factor, True)
    new.source = name
    kind = tensor_type([new], x.elem)
    return p.result(f"linalg.broadcast ins({x.name} : {x.type}) "
                    f"outs({p.empty([new], x.elem)} : {kind}) dimensions = [0]",
                    [new], x.elem, x.low, x.high)


def splat(p):
    """A number that the caller passes, everywhere."""
    elem = p.rng.choice(("f32", "f32", "f16", "i32", "f64"))
    number = p.scalar_argument(elem)
    dims = p.shape(p.rng.randint(1, 3))
    sizes = ", ".join(p.dynamic_sizes(dims))
    return p.result(f"tensor.splat {number.name}{f'[{sizes}]' if sizes else ''}"
                    f" : {tensor_type(dims, elem)}", dims, elem, number.low,
                    number.high)


def generate(p):
    """tensor.generate: a function of the indices."""
    elem = p.rng.choice(("f32", "f16", "i32", "bf16"))
    dims = p.shape(p.rng.randint(1, 3))
    if not dims:
        raise Refused("no dimensions")
    names = ["%ga", "%gb", "%gc"][:len(dims)]
    at = p.rng.choice(names)
    body = [f"  %gi = arith.index_cast {at} : index to i32"]
    result = "%gi"
    if is_float(elem):
        body.append(f"  %gf = arith.sitofp %gi : i32 to {elem}")
        result = "%gf"
    sizes = ", ".join(p.dynamic_sizes(dims))
    return p.result(
        f"tensor.generate {sizes} {{\n^bb0("
        f"{', '.join(f'{n}: index' for n in names)}):\n" + "\n".join(body) +
        f"\n  tensor.yield {result} : {elem}\n}} : {tensor_type(dims, elem)}",
        dims, elem, 0, max([d.size for d in dims]))


def constant(p):
    """A dense constant of several numbers."""
    elem = p.rng.choice(("f32", "f32", "bf16", "i32", "i8", "f64"))
    size = p.rng.choice((1, 2, 3, 5, 8, 16))
    numbers = [p.rng.randint(-4, 4) * (0.5 if is_float(elem) else 1)
               for _ in range(size)]
    dims = [Dim(size)]
    text = ", ".join(literal(n, elem) for n in numbers)
    return p.result(f"arith.constant dense<[{text}]> : "
                    f"{tensor_type(dims, elem)}", dims, elem, -4, 4)


def from_elements(p):
    """Elements that are read from other tensors, put together."""
    x = any_tensor(p, ranks=(0, 3), least=1)
    names = []
    for _ in range(p.rng.randint(1, 3)):
        places = ", ".join(p.index(p.rng.randrange(d.size)) for d in x.dims)
        name = p.fresh("s")
        p.emit(f"{name} = tensor.extract {x.name}[{places}] : {x.type}")
        names.append(name)
    dims = [Dim(len(names))]
    return p.result(f"tensor.from_elements {', '.join(names)} : "
                    f"{tensor_type(dims, x.elem)}", dims, x.elem, x.low, x.high)


def extract_in_body(p):
    """linalg.generic that reads a tensor at an index of its own."""
    x = p.tensor(ranks=(1, 2), least=1)
    if any(d.dynamic for d in x.dims):
        raise Refused("dynamic")
    ids = same_shape(p, [p.dim(least=1, most=32)], "i32")
    size = x.dims[0].size
    dims = ids.dims
    elem = x.elem
    lines = ["  %ei = arith.index_cast %ea : i32 to index",
             f"  %en = arith.remui %ei, {p.index(size)} : index"]
    places = ["%en"]
    if x.rank == 2:
        lines.append("  %ec = linalg.index 0 : index")
        lines.append(f"  %ed = arith.remui %ec, {p.index(x.dims[1].size)} : "
                     "index")
        places.append("%ed")
    kind = tensor_type(dims, elem)
    one = "affine_map<(d0) -> (d0)>"
    return p.result(
        f"linalg.generic {{indexing_maps = [{one}, {one}], iterator_types = "
        f"[\"parallel\"]}} ins({ids.name} : {ids.type}) "
        f"outs({p.empty(dims, elem)} : {kind}) {{\n^bb0(%ea: i32, %eo: {elem}):"
        "\n" + "\n".join(lines) + f"\n  %ev = tensor.extract {x.name}"
        f"[{', '.join(places)}] : {x.type}\n  linalg.yield %ev : {elem}\n}} -> "
        f"{kind}", dims, elem, x.low, x.high)


def pack(p):
    """linalg.pack into tiles, and back."""
    x = p.tensor(ranks=(2, 2), rank=2, static=True, least=1)
    tiles = []
    for d in x.dims:
        tiles.append(p.rng.choice([t for t in (1, 2, 3, 4, 8)
                                   if d.size % t == 0]))
    dims = [Dim(d.size // t) for d, t in zip(x.dims, tiles)]
    dims += [Dim(t) for t in tiles]
    kind = tensor_type(dims, x.elem)
    layout = (f"inner_dims_pos = [0, 1] inner_tiles = {tiles}")
    packed = p.result(f"linalg.pack {x.name} {layout} into "
                      f"{p.empty(dims, x.elem)} : {x.type} -> {kind}", dims,
                      x.elem, x.low, x.high)
    if p.chance(0.5):
        return packed
    return p.result(f"linalg.unpack {packed.name} {layout} into "
                    f"{p.empty(x.dims, x.elem)} : {kind} -> {x.type}", x.dims,
                    x.elem, x.low, x.high)


def copy(p):
    x = p.tensor()
    space = p.empty(x.dims, x.elem)
    return p.result(f"linalg.copy ins({x.name} : {x.type}) outs({space} : "
                    f"{x.type}) -> {x.type}", x.dims, x.elem, x.low, x.high)


BUILDERS = {transpose: 4, broadcast: 3, pad: 3, extract_slice: 4,
            insert_slice: 3, concat: 3, collapse_shape: 3, expand_shape: 3,
            cast: 1, reshape: 1, affine_size: 1, splat: 1, generate: 1,
            constant: 1, from_elements: 1, extract_in_body: 1, pack: 1, copy: 1}
