# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the text of one MLIR function on tensors."""

import dataclasses

_FLOATS = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16, "f8E4M3FN": 8}


@dataclasses.dataclass(frozen=True)
class Value:
    """An SSA value that is a tensor."""
    name: str
    shape: tuple
    dtype: str

    @property
    def type(self):
        return f"tensor<{'x'.join(map(str, (*self.shape, self.dtype)))}>"


@dataclasses.dataclass(frozen=True)
class Input:
    """How an argument is drawn: normal numbers of standard deviation `scale`
    ("normal"), those but at least a half of it ("positive"), integers from
    -127 to 127 ("integers"), any bits ("bits"), or where groups of `scale` rows
    in all begin and end ("offsets")."""
    shape: tuple
    dtype: str
    draw: str
    scale: float


class Program:
    """A function under construction. Methods append operations and return the
    resulting `Value`; element-wise ones take operands of one shape."""

    def __init__(self, name):
        self.name = name
        self.inputs = []
        self.results = []
        self._arguments = []
        self._lines = []
        self._maps = {}
        self._empties = {}
        self._scalars = {}
        self._count = 0

    # Arguments, results, text.

    def argument(self, name, shape, dtype, draw="normal", scale=1.0):
        value = Value(f"%{name}", tuple(shape), dtype)
        self._arguments.append(value)
        self.inputs.append(Input(value.shape, dtype, draw, scale))
        return value

    def give(self, *values):
        """Ends the function: these are its results."""
        self.results = list(values)

    def text(self):
        arguments = ", ".join(f"{a.name}: {a.type}" for a in self._arguments)
        types = ", ".join(v.type for v in self.results)
        names = ", ".join(v.name for v in self.results)
        lines = [f"#{name} = {text}" for text, name in self._maps.items()]
        lines.append(f"func.func @{self.name}({arguments}) -> ({types}) {{")
        lines += [f"  {line}" for line in self._lines]
        return "\n".join([*lines, f"  return {names} : {types}", "}", ""])

    def bytes(self):
        """Bytes of the arguments and results, each counted once."""
        return sum(_bytes(v.shape, v.dtype)
                   for v in (*self._arguments, *self.results))

    # Element-wise operations.

    def constant(self, number, like):
        literal = f"{number:.9e}" if like.dtype in _FLOATS else str(number)
        return self._op(f"arith.constant dense<{literal}> : {like.type}",
                        like.shape, like.dtype)

    def binary(self, op, x, y):
        assert (x.shape, x.dtype) == (y.shape, y.dtype), (op, x, y)
        return self._op(f"{op} {x.name}, {y.name} : {x.type}", x.shape, x.dtype)

    def unary(self, op, x):
        return self._op(f"{op} {x.name} : {x.type}", x.shape, x.dtype)

    def add(self, x, y):
        return self.binary("arith.addf", x, y)

    def sub(self, x, y):
        return self.binary("arith.subf", x, y)

    def mul(self, x, y):
        return self.binary("arith.mulf", x, y)

    def div(self, x, y):
        return self.binary("arith.divf", x, y)

    def maximum(self, x, y):
        return self.binary("arith.maximumf", x, y)

    def select_positive(self, x, y):
        """`y` where x > 0, else 0."""
        assert x.shape == y.shape, (x, y)
        mask = self._op(f"arith.cmpf ogt, {x.name}, "
                        f"{self.constant(0.0, x).name} : {x.type}", x.shape,
                        "i1")
        zero = self.constant(0.0, y)
        return self._op(f"arith.select {mask.name}, {y.name}, {zero.name} : "
                        f"{mask.type}, {y.type}", y.shape, y.dtype)

    def convert(self, x, dtype):
        """To another element type; integers are signed."""
        if x.dtype == dtype:
            return x
        source, target = _FLOATS.get(x.dtype), _FLOATS.get(dtype)
        op = ("arith.sitofp" if source is None else
              "arith.fptosi" if target is None else
              "arith.extf" if target > source else "arith.truncf")
        result = Value("", x.shape, dtype)
        return self._op(f"{op} {x.name} : {x.type} to {result.type}", x.shape,
                        dtype)

    def relu(self, x):
        return self.maximum(x, self.constant(0.0, x))

    def gelu_tanh(self, x):
        cube = self.mul(self.mul(x, x), x)
        bent = self.add(x, self.mul(cube, self.constant(0.044715, x)))
        tanh = self.unary("math.tanh",
                          self.mul(bent, self.constant(0.7978845608, x)))
        gate = self.add(tanh, self.constant(1.0, x))
        return self.mul(self.mul(x, self.constant(0.5, x)), gate)

    def silu(self, x):
        exp = self.unary("math.exp", self.unary("arith.negf", x))
        return self.div(x, self.add(exp, self.constant(1.0, x)))

    # Shapes.

    def broadcast(self, x, shape, dims):
        """Repeats `x` along `dims` of `shape`."""
        out = self.empty(shape, x.dtype)
        return self._op(
            f"linalg.broadcast ins({x.name} : {x.type}) outs({out.name} : "
            f"{out.type}) dimensions = [{', '.join(map(str, dims))}]",
            shape, x.dtype)

    def pad(self, x, low, high):
        """Zeros around `x`."""
        if not any(low) and not any(high):
            return x
        shape = tuple(a + n + b for a, n, b in zip(low, x.shape, high))
        zero = self._scalar(x.dtype)
        result = Value(f"%{self._next()}", shape, x.dtype)
        indices = ", ".join(f"%i{i}: index" for i in range(len(shape)))
        self._lines += [
            f"{result.name} = tensor.pad {x.name} low[{_list(low)}] "
            f"high[{_list(high)}] {{", f"^bb0({indices}):",
            f"  tensor.yield {zero} : {x.dtype}",
            f"}} : {x.type} to {result.type}"]
        return result

    def expand(self, x, groups, shape):
        """Splits dimensions of `x`: `groups` lists those of the result."""
        result = Value("", tuple(shape), x.dtype)
        return self._op(
            f"tensor.expand_shape {x.name} {groups} output_shape "
            f"[{_list(shape)}] : {x.type} into {result.type}", shape, x.dtype)

    def transpose(self, x, order):
        """Dimension i of the result is dimension `order[i]` of `x`."""
        out = self.empty([x.shape[i] for i in order], x.dtype)
        return self._op(
            f"linalg.transpose ins({x.name} : {x.type}) outs({out.name} : "
            f"{out.type}) permutation = [{_list(order)}]", out.shape, x.dtype)

    def empty(self, shape, dtype):
        key = (tuple(shape), dtype)
        if key not in self._empties:
            kind = Value("", tuple(shape), dtype).type
            self._empties[key] = self._op(f"tensor.empty() : {kind}", shape,
                                          dtype)
        return self._empties[key]

    def filled(self, shape, dtype, literal=None):
        zero, out = self._scalar(dtype, literal), self.empty(shape, dtype)
        return self._op(f"linalg.fill ins({zero} : {dtype}) outs({out.name} : "
                        f"{out.type}) -> {out.type}", shape, dtype)

    # Reductions and contractions.

    def reduce(self, x, dims, op="arith.addf", start=None):
        shape = [n for i, n in enumerate(x.shape) if i not in dims]
        init = self.filled(shape, x.dtype, start)
        return self._op(
            f"linalg.reduce {{ {op} }} ins({x.name} : {x.type}) "
            f"outs({init.name} : {init.type}) dimensions = [{_list(dims)}]",
            shape, x.dtype)

    def matmul(self, a, b, accumulator="f32", *, batched=False,
               a_layout="mk", b_layout="kn", attributes=""):
        """A product; the layouts name the dimensions as they lie in memory."""
        batch = "b" if batched else ""
        sizes = {**dict(zip(batch + a_layout, a.shape)),
                 **dict(zip(batch + b_layout, b.shape))}
        maps = [self._map(batch + "mnk", batch + dims)
                for dims in (a_layout, b_layout, "mn")]
        init = self.filled([sizes[d] for d in batch + "mn"], accumulator)
        name = "linalg.batch_matmul" if batched else "linalg.matmul"
        layouts = ("" if (a_layout, b_layout) == ("mk", "kn") else
                   f" indexing_maps = [{', '.join(maps)}]")
        return self._into(name + layouts + attributes, a, b, init)

    def grouped_matmul(self, x, w, offsets, w_layout, bias=None):
        """Rows of `x` times the matrix of their group, in f32."""
        columns = w.shape[1 + w_layout.index("n")]
        operands = [x, w, offsets] + ([bias] if bias else [])
        result = Value("", (x.shape[0], columns), "f32")
        return self._op(
            f"fusion.grouped_matmul {x.name}, {w.name} offsets({offsets.name})"
            + (f" bias({bias.name})" if bias else "")
            + (" transposed" if w_layout == "nk" else "")
            + f" : ({', '.join(v.type for v in operands)}) -> {result.type}",
            result.shape, "f32")

    def conv2d(self, x, w, stride, weights="hwcf"):
        """NHWC convolution without padding. `weights` may be hwcf, fhwc, or
        hwc (depthwise)."""
        name = ("linalg.depthwise_conv_2d_nhwc_hwc" if weights == "hwc" else
                f"linalg.conv_2d_nhwc_{weights}")
        filters = w.shape[weights.index("c" if weights == "hwc" else "f")]
        window = [w.shape[weights.index(d)] for d in "hw"]
        spatial = [(n - k) // stride + 1
                   for n, k in zip(x.shape[1:3], window)]
        init = self.filled((x.shape[0], *spatial, filters), "f32")
        return self._into(
            f"{name} {{strides = dense<{stride}> : tensor<2xi64>, "
            "dilations = dense<1> : tensor<2xi64>}", x, w, init)

    def conv2d_general(self, x, w, stride, dilation, layout, grouped):
        """A convolution without padding: nhwc by fhwc, or nchw by fchw; when
        grouped nhwgc by gfhwc, or ngchw by gfchw."""
        images = {"nhwc": "nhwgc", "nchw": "ngchw"}[layout] if grouped else (
            layout)
        weights = ("g" if grouped else "") + "f" + layout[1:]
        sizes = {**dict(zip(weights, w.shape)), **dict(zip(images, x.shape))}
        for d in "hw":
            span = (w.shape[weights.index(d)] - 1) * dilation + 1
            sizes[d] = (sizes[d] - span) // stride + 1
        sizes["c"] = sizes["f"]
        init = self.filled([sizes[d] for d in images], "f32")
        return self._into(
            f"linalg.conv_2d_{images}_{weights} {{strides = dense<{stride}> : "
            f"tensor<2xi64>, dilations = dense<{dilation}> : tensor<2xi64>}}",
            x, w, init)

    def dequantize(self, x, form, scale, shape, dtype, *, axis, group):
        result = Value("", tuple(shape), dtype)
        return self._op(
            f"fusion.dequantize {form} {x.name} scale({scale.name}) "
            f"{{axis = {axis} : i64, group_size = {group} : i64}} : "
            f"({x.type}, {scale.type}) -> {result.type}", shape, dtype)

    def rope(self, x, cos, sin, axis, interleaved):
        form = "fusion.rope" + (" interleaved" if interleaved else "")
        return self._op(
            f"{form} {x.name}, {cos.name}, {sin.name} seq_axis({axis}) : "
            f"{x.type}, {cos.type}, {sin.type}", x.shape, x.dtype)

    # What the others are made of.

    def _into(self, op, x, y, init):
        return self._op(f"{op} ins({x.name}, {y.name} : {x.type}, {y.type}) "
                        f"outs({init.name} : {init.type}) -> {init.type}",
                        init.shape, init.dtype)

    def _op(self, text, shape, dtype):
        value = Value(f"%{self._next()}", tuple(shape), dtype)
        self._lines.append(f"{value.name} = {text}")
        return value

    def _next(self):
        self._count += 1
        return self._count - 1

    def _scalar(self, dtype, literal=None):
        literal = literal or ("0.0" if dtype in _FLOATS else "0")
        if (dtype, literal) not in self._scalars:
            name = f"%{self._next()}"
            self._lines.append(f"{name} = arith.constant {literal} : {dtype}")
            self._scalars[dtype, literal] = name
        return self._scalars[dtype, literal]

    def _map(self, dims, results):
        text = (f"affine_map<({', '.join(dims)}) -> "
                f"({', '.join(results)})>")
        return "#" + self._maps.setdefault(text, f"map{len(self._maps)}")


def _list(numbers):
    return ", ".join(map(str, numbers))


def _bytes(shape, dtype):
    count = 1
    for size in shape:
        count *= size
    return count * (_FLOATS.get(dtype) or int(dtype[1:])) // 8
