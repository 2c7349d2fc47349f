# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops of the fusion dialect, with random attributes."""

from . import scalars
from .core import Dim, Refused, Value, count, int_range, tensor_type
from .pointwise import into, operand, same_shape
from .reductions import check_steps, factor_like, product_range, sum_range
from .scalars import TensorEmitter

FLOAT = ("f32", "f16", "bf16", "f64")


def some(p, ranks=(1, 4), elem=None, **kind):
    return p.tensor(elem=elem, ranks=ranks, least=kind.pop("least", 1), **kind)


def signature(inputs, *results):
    types = [tensor_type(dims, elem) for dims, elem in results]
    ins = ", ".join(v.type if v.dims is not None else v.elem for v in inputs)
    outs = types[0] if len(types) == 1 else f"({', '.join(types)})"
    return f"({ins}) -> {outs}"


def activation(p):
    x = p.tame(some(p, (0, 4), least=0), 30)
    name = p.rng.choice(("relu", "relu6", "sigmoid", "log_sigmoid", "silu",
                         "mish", "hard_swish", "hard_sigmoid", "gelu",
                         "gelu tanh", "softplus", "elu", "selu", "leaky_relu"))
    number = {"hard_sigmoid": ("alpha", (0.2, 0.25)),
              "softplus": ("beta", (2.0, 0.5)), "elu": ("alpha", (0.5, 2.0)),
              "leaky_relu": ("slope", (0.2, 0.01))}.get(name)
    attributes = ""
    if number and p.chance(0.5):
        attributes = (f" {{{number[0]} = {p.rng.choice(number[1])} : f64}}")
    low, high = {"relu": (0, max(x.high, 0)), "relu6": (0, 6),
                 "sigmoid": (0, 1), "hard_sigmoid": (0, 1),
                 "log_sigmoid": (x.low - 1, 0),
                 "softplus": (0, max(x.high, 0) + 2)}.get(
                     name, (-2 + min(x.low, 0) * 0.3, max(x.high, 0) * 1.1 + 1))
    return p.result(f"fusion.{name} {x.name}{attributes} : {x.type}", x.dims,
                    x.elem, low, high)


def rope(p):
    x = some(p, (2, 4))
    if x.dims[-1].dynamic or x.dims[-1].size % 2:
        x = p.argument([*x.dims[:-1], Dim(2 * p.rng.randint(1, 16))], x.elem)
    axis = p.rng.randint(0, x.rank - 2)
    half = Dim(x.dims[-1].size // 2)
    dims = [x.dims[axis], half]
    if axis > 0 and p.chance(0.3):
        dims = [x.dims[0], *dims]
    elem = p.rng.choice((x.elem, "f32"))
    cos, sin = same_shape(p, dims, elem), same_shape(p, dims, elem)
    span = x.magnitude * (cos.magnitude + sin.magnitude)
    kind = "interleaved " if p.chance(0.5) else ""
    return p.result(f"fusion.rope {kind}{x.name}, {cos.name}, {sin.name} "
                    f"seq_axis({axis}) : {x.type}, {cos.type}, {sin.type}",
                    x.dims, x.elem, -span, span)


def dropout(p):
    x = some(p, (1, 4), least=0)
    seed = p.scalar_argument("i64")
    chance = p.rng.choice((0.1, 0.5, 0.25, 0.0))
    return p.result(f"fusion.dropout {x.name}, {seed.name} "
                    f"probability({chance}) op_id({p.rng.randint(0, 9)}) : "
                    f"{x.type}", x.dims, x.elem, x.low / (1 - chance),
                    x.high / (1 - chance))


def softmax(p):
    x = some(p)
    name = p.rng.choice(("softmax", "softmax", "log_softmax"))
    span = x.high - x.low + 12
    return p.result(f"fusion.{name} {x.name} axis({p.rng.randrange(x.rank)}) : "
                    f"{x.type}", x.dims, x.elem,
                    *((0, 1) if name == "softmax" else (-span, 0)))


def _scale_bias(p, dims, elem):
    """scale and bias of a norm, either or none: the values and their text."""
    inputs, text = [], ""
    for name in ("scale", "bias"):
        if p.chance(0.6):
            value = same_shape(p, dims, p.rng.choice((elem, "f32")))
            inputs.append(value)
            text += f" {name}({value.name})"
    return inputs, text


def norm(p):
    """layer_norm, rms_norm."""
    name = p.rng.choice(("layer_norm", "rms_norm"))
    x = some(p, (1, 4), least=2)
    axis = p.rng.randrange(x.rank)
    inputs, text = _scale_bias(p, x.dims[axis:], x.elem)
    eps = p.rng.choice(("1.0e-5", "1.0e-3", "0.1"))
    return p.result(
        f"fusion.{name} {x.name}{text} axis({axis}) eps({eps}) : "
        f"{signature([x, *inputs], (x.dims, x.elem))}", x.dims, x.elem, -30, 30)


def channel_norm(p):
    """group_norm, instance_norm, batch_norm, batch_norm_training."""
    name = p.rng.choice(("group_norm", "instance_norm", "batch_norm",
                         "batch_norm_training"))
    x = some(p, (3, 4) if "batch" not in name else (2, 4), least=2)
    channels = x.dims[1]
    eps = p.rng.choice(("1.0e-5", "1.0e-3"))
    if name == "instance_norm":
        inputs, text = _scale_bias(p, [channels], x.elem)
        text += f" eps({eps})"
    elif name == "group_norm":
        inputs, text = _scale_bias(p, [channels], x.elem)
        if channels.dynamic:
            raise Refused("dynamic channels")
        groups = p.rng.choice([g for g in range(1, channels.size + 1)
                               if channels.size % g == 0])
        text += f" groups({groups}) eps({eps})"
    else:
        axis = p.rng.randrange(x.rank)
        channels = x.dims[axis]
        inputs, text = _scale_bias(p, [channels], x.elem)
        text += f" channel_axis({axis}) eps({eps})"
    if name == "batch_norm":
        mean = same_shape(p, [channels], p.rng.choice((x.elem, "f32")))
        variance = same_shape(p, [channels], p.rng.choice((x.elem, "f32")))
        variance = into(p, variance, 0.25, 1e3)
        return p.result(
            f"fusion.{name} {x.name}, {mean.name}, {variance.name}{text} : " +
            signature([x, mean, variance, *inputs], (x.dims, x.elem)), x.dims,
            x.elem, -60, 60)
    if name != "batch_norm_training":
        return p.result(f"fusion.{name} {x.name}{text} : " +
                        signature([x, *inputs], (x.dims, x.elem)), x.dims,
                        x.elem, -30, 30)
    wide = "f64" if x.elem == "f64" else "f32"
    group = p.fresh("r")
    p.emit(f"{group}:3 = fusion.{name} {x.name}{text} : " + signature(
        [x, *inputs], (x.dims, x.elem), ([channels], wide), ([channels], wide)))
    p.keep(Value(f"{group}#1", [channels], wide, x.low, x.high))
    p.keep(Value(f"{group}#2", [channels], wide, 0, x.magnitude ** 2))
    return p.keep(Value(f"{group}#0", x.dims, x.elem, -30, 30))


def attention(p, x=None):
    elem = p.rng.choice(("f32", "f16", "bf16", "bf16"))
    batch = [p.dim(least=1, most=3) for _ in range(p.rng.randint(0, 1))]
    groups, share = p.rng.choice((1, 2, 3)), p.rng.choice((1, 1, 2))
    heads = Dim(groups * share)
    s, t = p.dim(least=1, most=65), p.dim(least=1, most=65)
    d, width = p.dim(least=1, most=64, static=True), p.dim(least=1, most=64)
    check_steps(p, *batch, heads, s, t, d)
    q = factor_like(p, elem, [*batch, heads, s, d])
    k = factor_like(p, elem, [*batch, Dim(groups), t, d])
    v = factor_like(p, elem, [*batch, Dim(groups), t, width])
    inputs, text = [q, k, v], f"{q.name}, {k.name}, {v.name}"
    scores = [*batch, heads, s, t]
    if p.chance(0.2):
        rank = p.rng.randint(1, len(scores))
        m = same_shape(p, [Dim(1) if p.chance(0.3) else dim
                           for dim in scores[-rank:]], "i1")
        inputs.append(m)
        text += f" mask({m.name})"
    if p.chance(0.3):
        rank = p.rng.randint(1, len(scores))
        b = same_shape(p, [Dim(1) if p.chance(0.3) else dim
                           for dim in scores[-rank:]],
                       p.rng.choice((elem, "f32")))
        inputs.append(b)
        text += f" bias({b.name})"
    attributes = []
    if p.chance(0.12):
        seed = p.scalar_argument("i64")
        inputs.append(seed)
        text += f" seed({seed.name})"
        attributes += ["dropout = 0.25 : f64", "op_id = 3 : i64"]
    if p.chance(0.35):
        kind = ("top_left" if t.size < s.size or p.chance(0.5) else
                "bottom_right")
        text += f" causal({kind})"
    if p.chance(0.4):
        attributes.append(f"scale = {p.rng.choice((0.125, 0.25, 0.5))} : f64")
    braces = f" {{{', '.join(attributes)}}}" if attributes else ""
    region = ""
    if p.chance(0.2):
        places = ", ".join(f"%i{n}: index" for n in range(len(scores)))
        way = p.rng.randrange(2)
        body = ("  %y = math.tanh %s : f32" if way else
                f"  %a = arith.index_cast %i{len(scores) - 1} : index to i32\n"
                "  %b = arith.sitofp %a : i32 to f32\n"
                f"  %w = arith.constant 0.0625 : f32\n"
                "  %c = arith.mulf %b, %w : f32\n"
                "  %y = arith.subf %s, %c : f32")
        region = (f" {{\n^bb0(%s: f32, {places}):\n{body}\n"
                  "  fusion.yield %y : f32\n}")
    dims = [*batch, heads, s, width]
    return p.result(f"fusion.attention {text}{braces} : " + signature(
        inputs, (dims, elem)) + region, dims, elem, v.low, v.high)


def cross_entropy(p):
    reduction = p.rng.choice(("none", "mean", "sum"))
    x = some(p, (2, 3))
    axis = p.rng.randrange(x.rank)
    classes = x.dims[axis]
    if classes.dynamic:
        raise Refused("classes")
    dims = [d for i, d in enumerate(x.dims) if i != axis]
    target = index_tensor(p, dims, classes.size, p.rng.choice(("i32", "i64")))
    attributes = []
    if p.chance(0.4):
        attributes.append(f"ignore_index = {p.rng.choice((-100, 0, 1))} : i64")
    if p.chance(0.4):
        attributes.append("label_smoothing = 0.1 : f64")
    braces = f" {{{', '.join(attributes)}}}" if attributes else ""
    result = dims if reduction == "none" else []
    high = x.high - x.low + 8
    if reduction == "sum":
        high *= count(dims)
        if x.elem == "f16" and high > 1000:
            raise Refused("the sum may overflow")
    return p.result(f"fusion.cross_entropy {reduction} {x.name}, {target.name} "
                    f"axis({axis}){braces} : " + signature(
                        [x, target], (result, x.elem)), result, x.elem, 0, high)


def linear_cross_entropy(p):
    reduction = p.rng.choice(("none", "mean", "sum"))
    elem = p.rng.choice(("f32", "bf16", "f16"))
    n, k = p.dim(least=1, most=65), p.dim(least=1, most=64)
    classes = p.dim(least=2, most=65, static=True)
    x = factor_like(p, elem, [n, k])
    w = factor_like(p, elem, [classes, k])
    target = index_tensor(p, [n], classes.size, p.rng.choice(("i32", "i64")))
    inputs, text = [x, w, target], ""
    if p.chance(0.5):
        b = same_shape(p, [classes], elem)
        inputs.append(b)
        text = f" bias({b.name})"
    result = [n] if reduction == "none" else []
    if reduction == "sum" and elem == "f16":
        raise Refused("the sum may overflow")
    return p.result(
        f"fusion.linear_cross_entropy {reduction} {x.name}, {w.name}, "
        f"{target.name}{text} : " + signature(inputs, (result, elem)), result,
        elem, 0, 300)


def index_tensor(p, dims, size, elem):
    """Integers in [0, size)."""
    x = same_shape(p, dims, elem)
    if 0 <= x.low and x.high < size:
        return x
    e = TensorEmitter(p, dims)
    y = scalars._op(e, "arith.remui", (operand(x), e.constant(size, elem)),
                    elem, 0, size - 1)
    return p.keep(Value(y.name, dims, elem, 0, size - 1))


def gather(p):
    elem = p.rng.choice(("i32", "i64", "i8", "i1", "f8E4M3FN")) if (
        p.chance(0.2)) else None
    x = some(p, (1, 3), elem)
    axis = p.rng.randrange(x.rank)
    if x.dims[axis].dynamic:
        raise Refused("dynamic")
    indices = index_tensor(p, p.shape(p.rng.randint(0, 2), least=1, most=33),
                           x.dims[axis].size, p.rng.choice(("i32", "i64")))
    dims = [*x.dims[:axis], *indices.dims, *x.dims[axis + 1:]]
    if count(dims) > p.max_elements:
        raise Refused("too large")
    return p.result(f"fusion.gather {x.name}, {indices.name} axis({axis}) : " +
                    signature([x, indices], (dims, x.elem)), dims, x.elem,
                    x.low, x.high)


def scan(p):
    kind = p.rng.choice(("sum", "sum", "max", "recurrence", "int"))
    elem = {"int": "i32"}.get(kind) or p.rng.choice(("f32", "f32", "f64"))
    x = some(p, (1, 3), elem)
    axis = p.rng.randrange(x.rank)
    size = x.dims[axis].size
    mode = (" exclusive" if p.chance(0.3) else "") + (
        " reverse" if p.chance(0.3) else "")
    if kind == "recurrence":
        factor = into(p, same_shape(p, x.dims, elem), -0.9, 0.9)
        one, zero = p.scalar(1.0, elem), p.scalar(0.0, elem)
        group = p.fresh("r")
        p.emit(f"{group}:2 = fusion.scan{mode} ins({factor.name}, {x.name} : "
               f"{x.type}, {x.type}) inits({one}, {zero} : {elem}, {elem}) "
               f"axis({axis}) -> {x.type}, {x.type} {{\n"
               f"^bb0(%a1: {elem}, %b1: {elem}, %a2: {elem}, %b2: {elem}):\n"
               f"  %aa = arith.mulf %a1, %a2 : {elem}\n"
               f"  %cc = arith.mulf %a2, %b1 : {elem}\n"
               f"  %bb = arith.addf %cc, %b2 : {elem}\n"
               f"  fusion.yield %aa, %bb : {elem}, {elem}\n}}")
        return p.keep(Value(f"{group}#1", x.dims, elem, 10 * x.low,
                            10 * x.high))
    op, start = {"sum": ("arith.addf", 0.0), "max": ("arith.maximumf", -1e4),
                 "int": ("arith.addi", 0)}[kind]
    low, high = (sum_range(x.low, x.high, size) if kind == "sum" else
                 int_range(elem) if kind == "int" else (-1e4, x.high))
    init = p.scalar(start, elem)
    return p.result(
        f"fusion.scan{mode} ins({x.name} : {x.type}) inits({init} : {elem}) "
        f"axis({axis}) -> {x.type} {{\n^bb0(%a: {elem}, %b: {elem}):\n"
        f"  %s = {op} %a, %b : {elem}\n  fusion.yield %s : {elem}\n}}", x.dims,
        elem, low, high)


def _space(p, layout, batch, channels, space):
    return ([batch, channels, *space] if layout == "nchw" else
            [batch, *space, channels])


def _array(name, numbers):
    return f"{name} = array<i64: {', '.join(map(str, numbers))}>"


def conv(p):
    layout = p.rng.choice(("nchw", "nhwc"))
    rank = p.rng.choice((1, 2, 2, 2, 3))
    elem = p.rng.choice(("f32", "f32", "f16", "bf16", "i8"))
    transposed = elem != "i8" and p.chance(0.25)
    groups = p.rng.choice((1, 1, 1, 2, 3))
    c, f = p.rng.randint(1, 6) * groups, p.rng.randint(1, 6) * groups
    window = [p.rng.choice((1, 2, 3, 3)) for _ in range(rank)]
    stride = [p.rng.randint(1, 2) for _ in range(rank)]
    dilation = [p.rng.choice((1, 1, 2)) for _ in range(rank)]
    padding = [p.rng.randint(0, 1) for _ in range(2 * rank)]
    space, out = [], []
    for i in range(rank):
        reach = dilation[i] * (window[i] - 1) + 1
        extent = p.rng.randint(reach, reach + (20, 10, 5)[rank - 1])
        padded = padding[2 * i] + padding[2 * i + 1]
        size = ((extent - 1) * stride[i] + reach - padded if transposed else
                (extent + padded - reach) // stride[i] + 1)
        if size < 1:
            raise Refused("nothing is left")
        space.append(Dim(extent))
        out.append(Dim(size))
    batch = p.dim(least=1, most=3)
    x = factor_like(p, elem, _space(p, layout, batch, Dim(c), space))
    first, second = (c, f // groups) if transposed else (f, c // groups)
    w = factor_like(p, elem, _space(p, layout, Dim(first), Dim(second),
                                    [Dim(k) for k in window]))
    inputs, text = [x, w], ""
    total = "i32" if elem == "i8" else elem
    if p.chance(0.5):
        b = same_shape(p, [Dim(f)], "i32" if elem == "i8" else
                       p.rng.choice((elem, "f32")))
        inputs.append(b)
        text = f" bias({b.name})"
    attributes = [_array("strides", stride), _array("dilations", dilation),
                  _array("padding", padding), f"groups = {groups} : i64"]
    attributes = [a for a in attributes if p.chance(0.95) or "groups" in a]
    if len(attributes) < 4:
        attributes = [_array("strides", stride), _array("dilations", dilation),
                      _array("padding", padding), f"groups = {groups} : i64"]
    dims = _space(p, layout, batch, Dim(f), out)
    if count(dims) * count(w.dims) > 4 * p.max_steps:
        raise Refused("too many products")
    name = f"fusion.conv {layout} " + ("transposed " if transposed else "")
    terms = count(w.dims) // max(first, 1)
    return p.result(f"{name}{x.name}, {w.name}{text} "
                    f"{{{', '.join(attributes)}}} : " +
                    signature(inputs, (dims, total)), dims, total,
                    *product_range(x, w, terms, total))


def pool(p):
    layout = p.rng.choice(("nchw", "nhwc"))
    rank = p.rng.choice((1, 2, 2, 3))
    kind = p.rng.choice(("max", "avg"))
    elem = p.rng.choice(("f32", "f16", "bf16", "f32")) if (
        kind == "avg" or p.chance(0.7)) else p.rng.choice(("i8", "i32"))
    window = [p.rng.choice((1, 2, 3)) for _ in range(rank)]
    stride = [p.rng.randint(1, 2) for _ in range(rank)]
    padding = [p.rng.randint(0, min(1, w - 1)) for w in window for _ in (0, 1)]
    space, out = [], []
    for i in range(rank):
        extent = p.rng.randint(window[i], window[i] + (20, 10, 5)[rank - 1])
        space.append(Dim(extent))
        out.append(Dim((extent + padding[2 * i] + padding[2 * i + 1] -
                        window[i]) // stride[i] + 1))
    batch, channels = p.dim(least=1, most=3), p.dim(least=1, most=17)
    x = factor_like(p, elem, _space(p, layout, batch, channels, space))
    attributes = [_array("strides", stride), _array("padding", padding)]
    if kind == "avg" and p.chance(0.4):
        attributes.insert(0, "count_include_pad")
    dims = _space(p, layout, batch, channels, out)
    return p.result(f"fusion.pool {kind} {layout} {x.name} window {window} "
                    f"{{{', '.join(attributes)}}} : " +
                    signature([x], (dims, elem)), dims, elem, x.low, x.high)


def quantize(p):
    """Quantises a tensor, and often dequantises it again."""
    x = some(p, (1, 3), p.rng.choice(("f32", "f16", "bf16")))
    form = p.rng.choice(("int8", "uint8", "int4", "uint4", "float8"))
    last = x.dims[-1]
    if "4" in form and (last.dynamic or last.size % 2):
        x = p.argument([*x.dims[:-1], Dim(2 * p.rng.randint(1, 32))], x.elem)
    way = p.rng.randrange(3)
    attributes = ""
    scale_dims = []
    axis = p.rng.randrange(x.rank)
    if way == 1:
        attributes = f" {{axis = {axis} : i64}}"
        scale_dims = [x.dims[axis]]
    elif way == 2:
        size = x.dims[axis].size
        if x.dims[axis].dynamic:
            raise Refused("dynamic groups")
        group = p.rng.choice([g for g in range(1, size + 1) if size % g == 0])
        attributes = f" {{axis = {axis} : i64, group_size = {group} : i64}}"
        scale_dims = [*x.dims]
        scale_dims[axis] = Dim(size // group)
    scale = into(p, same_shape(p, scale_dims, p.rng.choice((x.elem, "f32"))),
                 0.25, 16)
    inputs, text = [x, scale], f" scale({scale.name})"
    zero = None
    if form != "float8" and p.chance(0.5):
        zero = same_shape(p, scale_dims, p.rng.choice(("i8", "i32")))
        if zero.low < -200 or zero.high > 200:
            zero = p.argument(scale_dims, "i8")
        inputs.append(zero)
        text += f" zero_point({zero.name})"
    elem = p.rng.choice(("f8E4M3FN", "f8E5M2")) if form == "float8" else "i8"
    dims = x.dims
    if "4" in form:
        dims = [*x.dims[:-1], Dim(x.dims[-1].size // 2)]
    stored = p.result(f"fusion.quantize {form} {x.name}{text}{attributes} : " +
                      signature(inputs, (dims, elem)), dims, elem,
                      *(int_range("i8") if elem == "i8" else (-50, 50)))
    if p.chance(0.3):
        return stored
    out = p.rng.choice(("f32", "f16", "bf16"))
    others = [stored, scale] + ([zero] if zero else [])
    return p.result(
        f"fusion.dequantize {form} {stored.name}{text}{attributes} : " +
        signature(others, (x.dims, out)), x.dims, out, -300 * 16, 300 * 16)


def dequantized_weight(p):
    """A product whose weight is stored in few bits."""
    m, n, k = p.dim(least=1, most=64), p.dim(least=1, most=64), Dim(
        2 * p.rng.randint(1, 32))
    form = p.rng.choice(("int4", "int8", "uint4", "float8"))
    stored = [n, Dim(k.size // 2)] if "4" in form else [n, k]
    elem = p.rng.choice(("f16", "bf16", "f32"))
    w = factor_like(p, "f8E4M3FN" if form == "float8" else "i8", stored)
    scale = into(p, same_shape(p, [n], elem), 0.25, 4)
    weight = p.result(
        f"fusion.dequantize {form} {w.name} scale({scale.name}) "
        "{axis = 0 : i64} : " + signature([w, scale], ([n, k], elem)), [n, k],
        elem, -32, 32)
    x = factor_like(p, elem, [m, k])
    check_steps(p, m, n, k)
    out = p.filled([m, n], "f32", 0)
    kind = tensor_type([m, n], "f32")
    maps = ("[affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,"
            " affine_map<(m, n, k) -> (m, n)>]")
    return p.result(f"linalg.matmul indexing_maps = {maps} ins({x.name}, "
                    f"{weight.name} : {x.type}, {weight.type}) outs({out} : "
                    f"{kind}) -> {kind}", [m, n], "f32",
                    *product_range(x, weight, k.size, "f32"))


def grouped_matmul(p):
    elem = p.rng.choice(("f32", "bf16", "f16", "i8", "f8E4M3FN"))
    groups, rows = p.rng.randint(1, 5), p.dim(least=1, most=65)
    k, n = p.dim(least=1, most=64), p.dim(least=1, most=64)
    check_steps(p, rows, k, n)
    x = factor_like(p, elem, [rows, k])
    flip = p.chance(0.4)
    w = factor_like(p, elem, [Dim(groups), n, k] if flip else
                    [Dim(groups), k, n])
    cuts = sorted(p.rng.randint(0, rows.size) for _ in range(groups + 1))
    if p.chance(0.7):
        cuts[0], cuts[-1] = 0, rows.size
    offsets = p.fresh("g")
    p.emit(f"{offsets} = arith.constant dense<{cuts}> : "
           f"tensor<{groups + 1}xi32>")
    if p.chance(0.5):
        raw = p.argument([Dim(groups + 1)], "i32")
        e = TensorEmitter(p, raw.dims)
        zero = e.constant(0, "i32")
        none = scalars._op(e, "arith.muli", (operand(raw), zero), "i32", 0, 0)
        new = p.fresh("g")
        p.emit(f"{new} = arith.addi {none.name}, {offsets} : {raw.type}")
        offsets = new
    table = Value(offsets, [Dim(groups + 1)], "i32", 0, rows.size)
    result = "i32" if elem == "i8" else p.rng.choice((elem, "f32"))
    if elem == "f8E4M3FN":
        result = "f32"
    inputs, text = [x, w, table], ""
    if p.chance(0.5):
        b = same_shape(p, [Dim(groups), n], "i32" if elem == "i8" else "f32")
        inputs.append(b)
        text = f" bias({b.name})"
    return p.result(
        f"fusion.grouped_matmul {x.name}, {w.name} offsets({offsets}){text}"
        f"{' transposed' if flip else ''} : " +
        signature(inputs, ([rows, n], result)), [rows, n], result,
        *product_range(x, w, k.size, result))


BUILDERS = {activation: 5, rope: 2, dropout: 2, softmax: 3, norm: 4,
            channel_norm: 3, attention: 3, cross_entropy: 2,
            linear_cross_entropy: 1, gather: 2, scan: 2, conv: 3, pool: 2,
            quantize: 2, dequantized_weight: 1, grouped_matmul: 1}
