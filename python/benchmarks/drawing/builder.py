# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A function under construction, written twice: as MLIR and for PyTorch.

Every method appends one operation to both, so that the two cannot differ in
what they compute. The names `f32`, `bf16` and `f16` in the PyTorch text are
element types that whoever runs it provides (runtime.py): the reference is the
same text with all of them float64.
"""

import re

from tensorcore.program import Program, Value

BYTES = {"f32": 4, "bf16": 2, "f16": 2, "i1": 1, "i32": 4, "i64": 8}
# Element-wise functions of one tensor: MLIR, PyTorch, and the largest result
# for arguments up to `s`. All have a bounded slope, so that a rounding before
# them is no larger after them.
UNARY = {
    "relu": ("fusion.relu", "F.relu({})", lambda s: s),
    "gelu": ("fusion.gelu", "F.gelu({})", lambda s: s),
    "gelu_tanh": ("fusion.gelu tanh", "F.gelu({}, approximate='tanh')",
                  lambda s: s),
    "silu": ("fusion.silu", "F.silu({})", lambda s: s),
    "mish": ("fusion.mish", "F.mish({})", lambda s: s),
    "elu": ("fusion.elu", "F.elu({})", lambda s: s),
    "leaky_relu": ("fusion.leaky_relu", "F.leaky_relu({})", lambda s: s),
    "hard_swish": ("fusion.hard_swish", "F.hardswish({})", lambda s: s),
    "softplus": ("fusion.softplus", "F.softplus({})", lambda s: s + 1),
    "log_sigmoid": ("fusion.log_sigmoid", "F.logsigmoid({})",
                    lambda s: s + 1),
    "sigmoid": ("fusion.sigmoid", "torch.sigmoid({})", lambda s: 1),
    "tanh": ("math.tanh", "torch.tanh({})", lambda s: 1),
    "erf": ("math.erf", "torch.erf({})", lambda s: 1),
    "sin": ("math.sin", "torch.sin({})", lambda s: 1),
    "cos": ("math.cos", "torch.cos({})", lambda s: 1),
    "atan": ("math.atan", "torch.atan({})", lambda s: 1.6),
    "abs": ("math.absf", "torch.abs({})", lambda s: s),
    "neg": ("arith.negf", "-{}", lambda s: s),
}
BINARY = {
    "add": ("arith.addf", "{} + {}", lambda s, t: s + t),
    "sub": ("arith.subf", "{} - {}", lambda s, t: s + t),
    "mul": ("arith.mulf", "{} * {}", lambda s, t: s * t),
    "max": ("arith.maximumf", "torch.maximum({}, {})", max),
    "min": ("arith.minimumf", "torch.minimum({}, {})", max),
}
_LARGEST = {"f32": "0x7F800000", "f16": "0x7C00", "bf16": "0x7F80"}
_LEAST = {"f32": "0xFF800000", "f16": "0xFC00", "bf16": "0xFF80"}
_NAME = re.compile(r"\bv\d+(?:_\d+)?\b")


def infinity(dtype, sign):
    """Plus or minus infinity as MLIR writes it."""
    return (_LARGEST if sign > 0 else _LEAST)[dtype]


def byte_count(shape, dtype):
    count = BYTES[dtype]
    for size in shape:
        count *= size
    return count


def word(value):
    """The PyTorch variable of a value."""
    name = value.name[1:].replace("#", "_")
    return name if name[0].isalpha() else f"v{name}"


class Builder(Program):
    """Methods return the resulting Value; element-wise ones take operands of
    one shape and one element type."""

    def __init__(self):
        super().__init__("main")
        self._torch = []   # (variable, expression)
        self._spans = {}   # name: about the largest magnitude
        self._scalar_names = set()
        self._slices = {}  # name of an argument: [bytes that a slice touches]

    # Arguments and text.

    def tensor(self, shape, dtype, draw="normal", scale=1.0):
        """A new argument. `draw` and `scale`: how runtime.py draws it."""
        value = self.argument(f"x{len(self.inputs)}", shape, dtype, draw, scale)
        self._spans[value.name] = 5.0 * scale
        return value

    def seed(self):
        """A scalar argument of type i64."""
        value = self.tensor((), "i64", "seed")
        self._scalar_names.add(value.name)
        return value

    def text(self):
        text = super().text()
        for name in self._scalar_names:
            text = text.replace(f"{name}: tensor<i64>", f"{name}: i64")
        return text

    def source(self):
        """The PyTorch function. A variable ends with its last use."""
        last = {}
        for at, (_, expression) in enumerate(self._torch):
            for used in _NAME.findall(expression):
                last[used] = at
        kept = {word(v) for v in self.results}
        lines = [f"def program({', '.join(word(a) for a in self._arguments)}):"]
        for at, (name, expression) in enumerate(self._torch):
            lines.append(f"    {name} = {expression}")
            gone = [n for n, end in last.items() if end == at and n not in kept]
            if gone:
                lines.append(f"    del {', '.join(gone)}")
        results = ", ".join(word(v) for v in self.results)
        return "\n".join([*lines, f"    return ({results},)", ""])

    def both(self, text, shape, dtype, expression, span=5.0):
        """Appends an operation: its MLIR, and its PyTorch expression."""
        value = self._op(text, shape, dtype)
        return self.say(value, expression, span)

    def say(self, value, expression, span=5.0):
        """Gives PyTorch's expression of a value that MLIR has already."""
        self._torch.append((word(value), expression))
        self._spans[value.name] = span
        return value

    def part(self, group, number, shape, dtype, expression, span=5.0):
        """Result `number` of the operation of several results `group`."""
        value = Value(f"{group}#{number}", tuple(shape), dtype)
        return self.say(value, expression, span)

    def many(self, text, count):
        """Appends an operation of several results; `part` names each."""
        group = f"%{self._next()}"
        self._lines.append(f"{group}:{count} = {text}")
        return group

    def span(self, value):
        return self._spans.get(value.name, 5.0)

    # Element-wise operations.

    def apply(self, name, x):
        op, torch, span = UNARY[name]
        return self.both(f"{op} {x.name} : {x.type}", x.shape, x.dtype,
                         torch.format(word(x)), span(self.span(x)))

    def join(self, name, x, y):
        """A binary operation; a product that might overflow f16 is a sum."""
        if name == "mul" and self.span(x) * self.span(y) > 1000:
            name = "add"
        op, torch, span = BINARY[name]
        value = self.binary(op, x, y)
        return self.say(value, torch.format(word(x), word(y)),
                        span(self.span(x), self.span(y)))

    def scaled(self, x, factor):
        value = self.mul(x, self.constant(factor, x))
        return self.say(value, f"{word(x)} * {factor!r}",
                        self.span(x) * abs(factor))

    def shifted(self, x, number):
        value = self.add(x, self.constant(number, x))
        return self.say(value, f"{word(x)} + {number!r}",
                        self.span(x) + abs(number))

    def cast(self, x, dtype):
        if x.dtype == dtype:
            return x
        return self.say(self.convert(x, dtype), f"{word(x)}.to({dtype})",
                        self.span(x))

    def where(self, mask, x, y):
        return self.both(
            f"arith.select {mask.name}, {x.name}, {y.name} : {mask.type}, "
            f"{x.type}", x.shape, x.dtype,
            f"torch.where({word(mask)}, {word(x)}, {word(y)})",
            max(self.span(x), self.span(y)))

    def positive(self, x):
        """Where x > 0: for arguments, whose sign no rounding changes."""
        zero = self.constant(0.0, x)
        return self.both(f"arith.cmpf ogt, {x.name}, {zero.name} : {x.type}",
                         x.shape, "i1", f"{word(x)} > 0")

    def spread(self, x, shape, dims):
        """Repeats `x` along `dims` of `shape`."""
        if not dims:
            return x
        ones = [1 if i in dims else n for i, n in enumerate(shape)]
        return self.say(self.broadcast(x, shape, dims),
                        f"{word(x)}.reshape({ones}).expand({list(shape)})",
                        self.span(x))

    # Reductions.

    def total(self, x, dims, out="f32"):
        """The sum along `dims`, made in f32, as `out`."""
        value = self.reduce(self.convert(x, "f32"), dims)
        value = self.convert(value, out)
        return self.say(value, f"{word(x)}.sum({tuple(dims)}, dtype={out})")

    def extreme(self, x, dims, sign):
        """The largest (sign 1) or least element along `dims`."""
        value = self.reduce(x, dims, "arith.maximumf" if sign > 0 else
                            "arith.minimumf", infinity(x.dtype, -sign))
        name = "amax" if sign > 0 else "amin"
        return self.say(value, f"torch.{name}({word(x)}, {tuple(dims)})",
                        self.span(x))

    # What the function moves.

    def slice_bytes(self, x, sizes, strides):
        """Notes that a slice of an argument, if x is one, touches these."""
        width = min(strides[-1], max(32 // BYTES[x.dtype], 1)) if sizes else 1
        self._slices.setdefault(x.name, []).append(
            byte_count(sizes, x.dtype) * width)

    def read_bytes(self):
        """Bytes of the arguments, each once; of one that is only sliced, what
        its slices touch in whole sectors of 32 bytes."""
        total = 0
        for argument in self._arguments:
            size = byte_count(argument.shape, argument.dtype)
            users = [line for line in self._lines
                     if re.search(rf"{argument.name}\b", line)]
            if all("tensor.extract_slice" in line for line in users):
                size = min(size, sum(self._slices.get(argument.name, [])))
            total += size
        return total

    def write_bytes(self):
        return sum(byte_count(v.shape, v.dtype) for v in self.results)
