# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random arithmetic: on elements in the body of an op, or on whole tensors.

The same expressions are written for both by an emitter, which says what a type
looks like and where a line goes. To add a function, add a row to a table.
"""

import math

from .core import LIMITS, SMALL_FLOATS, int_range, is_float, bits, literal

INFINITY = math.inf


class Operand:
    """A number of an expression: its SSA name, type and expected range."""

    __slots__ = ("name", "elem", "low", "high", "exact")

    def __init__(self, name, elem, low, high, exact=False):
        self.name, self.elem = name, elem
        self.low, self.high = min(low, high), max(low, high)
        # Free of rounding: a discontinuous function of it has one right result.
        self.exact = exact


class BodyEmitter:
    """Writes scalars into the body of an op."""

    def __init__(self, program):
        self.program = program
        self.rng = program.rng
        self.lines = []

    def type(self, elem):
        return elem

    def emit(self, text):
        name = self.program.fresh("s")
        self.lines.append(f"  {name} = {text}")
        return name

    def constant(self, number, elem):
        if self.program.chance(0.5):
            name = self.program.scalar(number, elem)
        else:
            name = self.emit(f"arith.constant {literal(number, elem)}" +
                             ("" if elem == "i1" else f" : {elem}"))
        return Operand(name, elem, number, number, exact=True)


class TensorEmitter:
    """Writes ops on whole tensors of one shape."""

    def __init__(self, program, dims):
        self.program = program
        self.rng = program.rng
        self.dims = dims

    def type(self, elem):
        return "tensor<" + "".join(f"{dim}x" for dim in self.dims) + elem + ">"

    def emit(self, text):
        name = self.program.fresh()
        self.program.emit(f"{name} = {text}")
        return name

    def constant(self, number, elem):
        value = self.program.constant(self.dims, elem, number)
        return Operand(value.name, elem, number, number, exact=True)


def _op(e, op, operands, elem, low, high, exact=False):
    """op of operands that all have the type of the result."""
    names = ", ".join(operand.name for operand in operands)
    return Operand(e.emit(f"{op} {names} : {e.type(elem)}"), elem, low, high,
                   exact)


def cast(e, x, elem):
    """x as another type, in the range of that type."""
    if x.elem == elem:
        return x
    if is_float(x.elem) and is_float(elem):
        x = bounded(e, x, -LIMITS[elem], LIMITS[elem])
        wider = bits(elem) > bits(x.elem)
        if bits(elem) == bits(x.elem):  # f16 and bf16, or the two of 8 bits
            x, wider = cast(e, x, "f32"), False
        op = "arith.extf" if wider else "arith.truncf"
        exact = x.exact and wider
    elif is_float(elem):
        signed = x.elem != "i1" and e.rng.random() < 0.7
        if x.elem != "i1" and (x.low < -100 or x.high > 100):
            mask = e.constant(15, x.elem)
            x = _op(e, "arith.andi", (x, mask), x.elem, 0, 15, x.exact)
        signed = signed or x.low < 0
        op = "arith.sitofp" if signed else "arith.uitofp"
        exact = x.exact
    elif is_float(x.elem):
        if x.elem in SMALL_FLOATS:
            x = cast(e, x, "f32")
        if elem == "i1":
            return compare(e, x, e.constant(0, x.elem))
        x = bounded(e, x, -100, 100)
        op = "arith.fptosi"
        exact = x.exact
    else:
        if elem == "i1":
            return compare(e, x, e.constant(1, x.elem))
        if bits(elem) > bits(x.elem):
            op = e.rng.choice(("arith.extsi", "arith.extui"))
            if x.elem == "i1" or x.low < 0:
                op = "arith.extui" if x.elem == "i1" else "arith.extsi"
        else:
            op = "arith.trunci"
            if x.low < int_range(elem)[0] or x.high > int_range(elem)[1]:
                x = Operand(x.name, x.elem, *int_range(elem), x.exact)
        exact = x.exact
    name = e.emit(f"{op} {x.name} : {e.type(x.elem)} to {e.type(elem)}")
    return Operand(name, elem, x.low, x.high, exact)


def bounded(e, x, low, high):
    """x, or a function of it that lies in [low, high]."""
    if low <= x.low and x.high <= high:
        return x
    way = e.rng.randrange(3)
    span = max(abs(x.low), abs(x.high))
    if way == 0 and low <= -1 and high >= 1 and x.elem not in SMALL_FLOATS:
        return _op(e, "math.tanh", (x,), x.elem, -1, 1)
    if way == 1 and low < 0 < high and span < 1e6:
        factor = 2.0 ** math.floor(math.log2(min(-low, high) / span))
        if factor > 1e-3:
            return _op(e, "arith.mulf", (x, e.constant(factor, x.elem)), x.elem,
                       x.low * factor, x.high * factor, x.exact)
    if x.low < low:
        x = _op(e, "arith.maximumf", (x, e.constant(low, x.elem)), x.elem, low,
                max(low, x.high), x.exact)
    if x.high > high:
        x = _op(e, "arith.minimumf", (x, e.constant(high, x.elem)), x.elem,
                min(high, x.low), high, x.exact)
    return x


def positive(e, x, least=0.25):
    """A number of at least `least` that depends on x."""
    if x.low >= least:
        return x
    way = e.rng.randrange(3)
    shift = e.constant(e.rng.choice((0.25, 0.5, 1.0, 2.0)), x.elem)
    if way == 0:
        y = bounded(e, x, -4, 4)
        y = _op(e, "math.exp", (y,), x.elem, math.exp(y.low), math.exp(y.high))
    elif way == 1:
        y = bounded(e, x, -12, 12)
        y = _op(e, "arith.mulf", (y, y), x.elem, 0,
                max(y.low ** 2, y.high ** 2))
    else:
        y = _op(e, "math.absf", (x,), x.elem, 0, max(abs(x.low), abs(x.high)),
                x.exact)
    return _op(e, "arith.addf", (y, shift), x.elem, y.low + shift.low,
               y.high + shift.high)


# Functions of one float: name, domain, and the function itself where it is
# monotone, else its range.
FUNCTIONS = [
    ("math.exp", (-6, 4), math.exp),
    ("math.exp2", (-8, 6), lambda x: 2.0 ** x),
    ("math.expm1", (-6, 4), math.expm1),
    ("math.log", (0.125, 1e4), math.log),
    ("math.log2", (0.125, 1e4), math.log2),
    ("math.log10", (0.125, 1e4), math.log10),
    ("math.log1p", (-0.5, 1e4), math.log1p),
    ("math.sqrt", (0.0625, 1e4), math.sqrt),
    ("math.rsqrt", (0.0625, 1e4), lambda x: x ** -0.5),
    ("math.cbrt", (-1e4, 1e4), lambda x: math.copysign(abs(x) ** (1 / 3), x)),
    ("math.tanh", (-1e4, 1e4), math.tanh),
    ("math.sinh", (-3, 3), math.sinh),
    ("math.cosh", (-3, 3), (1, 10.1)),
    ("math.asinh", (-1e4, 1e4), math.asinh),
    ("math.acosh", (1.125, 1e4), math.acosh),
    ("math.atanh", (-0.875, 0.875), math.atanh),
    ("math.sin", (-100, 100), (-1, 1)),
    ("math.cos", (-100, 100), (-1, 1)),
    ("math.tan", (-1.25, 1.25), math.tan),
    ("math.asin", (-0.875, 0.875), math.asin),
    ("math.acos", (-0.875, 0.875), math.acos),
    ("math.atan", (-1e4, 1e4), math.atan),
    ("math.erf", (-1e4, 1e4), math.erf),
    ("math.erfc", (-4, 4), math.erfc),
]
ROUNDINGS = ("math.floor", "math.ceil", "math.round", "math.roundeven",
             "math.trunc")
FLOAT_BINARY = ("arith.addf", "arith.subf", "arith.mulf", "arith.divf",
                "arith.maximumf", "arith.minimumf", "arith.maxnumf",
                "arith.minnumf", "math.copysign", "math.atan2", "math.powf")
INT_BINARY = ("arith.addi", "arith.subi", "arith.muli", "arith.andi",
              "arith.ori", "arith.xori", "arith.maxsi", "arith.minsi",
              "arith.maxui", "arith.minui", "arith.divsi", "arith.divui",
              "arith.remsi", "arith.remui", "arith.ceildivsi",
              "arith.ceildivui", "arith.floordivsi", "arith.shli",
              "arith.shrsi", "arith.shrui")
INT_UNARY = ("math.absi", "math.ctpop", "math.ctlz", "math.cttz")


def unary(e, x):
    """A random function of x, of the same type."""
    if not is_float(x.elem):
        if x.elem == "i1":
            return _op(e, "arith.xori", (x, e.constant(1, "i1")), "i1", 0, 1)
        op = e.rng.choice(INT_UNARY)
        high = (max(abs(x.low), abs(x.high)) if op == "math.absi"
                else bits(x.elem))
        low = int_range(x.elem)[0] if x.low == int_range(x.elem)[0] else 0
        return _op(e, op, (x,), x.elem, low, high, x.exact)
    if e.rng.random() < 0.1:
        return _op(e, "arith.negf", (x,), x.elem, -x.high, -x.low, x.exact)
    if e.rng.random() < 0.1:
        return _op(e, "math.absf", (x,), x.elem, 0,
                   max(abs(x.low), abs(x.high)), x.exact)
    if x.exact and e.rng.random() < 0.2:
        return _op(e, e.rng.choice(ROUNDINGS), (x,), x.elem, x.low - 1,
                   x.high + 1, x.exact)
    if e.rng.random() < 0.15:
        return sigmoid(e, x)
    name, (low, high), function = e.rng.choice(FUNCTIONS)
    if x.elem == "f64" and e.rng.random() < 0.5:
        name, (low, high), function = FUNCTIONS[0]
    x = (positive(e, x, low) if low > 0 else x)
    x = bounded(e, x, low, high)
    ends = (function if isinstance(function, tuple)
            else (function(x.low), function(x.high)))
    return _op(e, name, (x,), x.elem, *ends)


def sigmoid(e, x):
    """1 / (1 + exp(-x)), spelled out, or x times it."""
    x = bounded(e, x, -8, 8)
    one = e.constant(1, x.elem)
    y = _op(e, "arith.negf", (x,), x.elem, -x.high, -x.low)
    y = _op(e, "math.exp", (y,), x.elem, math.exp(y.low), math.exp(y.high))
    y = _op(e, "arith.addf", (one, y), x.elem, y.low + 1, y.high + 1)
    if e.rng.random() < 0.5:
        return _op(e, "arith.divf", (x, y), x.elem, -8, 8)
    return _op(e, "arith.divf", (one, y), x.elem, 0, 1)


def binary(e, x, y, op=None):
    """A random function of two numbers of one type."""
    elem = x.elem
    exact = x.exact and y.exact
    if not is_float(elem):
        return integer_binary(e, x, y, op or e.rng.choice(INT_BINARY))
    if op is None:
        op = e.rng.choices(FLOAT_BINARY, (6, 4, 6, 3, 2, 2, 1, 1, 1, 1, 1))[0]
    corners = [(x.low, y.low), (x.low, y.high), (x.high, y.low),
               (x.high, y.high)]
    if op == "arith.divf" or op == "math.atan2":
        y = positive(e, y)
        if op == "math.atan2":
            return _op(e, op, (x, y), elem, -1.6, 1.6)
        ends = [a / b for a in (x.low, x.high) for b in (y.low, y.high)]
    elif op == "math.powf":
        x, y = bounded(e, positive(e, x), 0.25, 8), bounded(e, y, -2, 2)
        if e.rng.random() < 0.6:  # an exponent with a rule of its own
            y = e.constant(e.rng.choice((1.0, 2.0, 3.0, -1.0, 0.5, -0.5)), elem)
        ends = [a ** b for a in (x.low, x.high) for b in (y.low, y.high)]
    elif op == "arith.mulf":
        ends = [a * b for a, b in corners]
        if x.name == y.name:
            ends = [0, max(ends)]
    elif op == "arith.addf":
        ends = [a + b for a, b in corners]
    elif op == "arith.subf":
        ends = [a - b for a in (x.low, x.high) for b in (y.low, y.high)]
    elif op == "math.copysign":
        # The sign of what rounds to zero is not defined.
        y = positive(e, y) if not y.exact else y
        span = max(abs(x.low), abs(x.high))
        ends = [-span, span]
    elif op in ("arith.maximumf", "arith.maxnumf"):
        ends = [max(x.low, y.low), max(x.high, y.high)]
        return _op(e, op, (x, y), elem, *ends, exact)
    else:
        ends = [min(x.low, y.low), min(x.high, y.high)]
        return _op(e, op, (x, y), elem, *ends, exact)
    result = _op(e, op, (x, y), elem, min(ends), max(ends))
    return bounded(e, result, -LIMITS[elem], LIMITS[elem])


def integer_binary(e, x, y, op):
    """A function of two integers, defined for all of them."""
    elem = x.elem
    low, high = int_range(elem)
    exact = x.exact and y.exact
    if elem == "i1":
        op = e.rng.choice(("arith.andi", "arith.ori", "arith.xori"))
    if op in ("arith.divui", "arith.remui", "arith.ceildivui"):
        y = (e.constant(e.rng.choice((1, 3, -1, 7, 2)), elem)
             if e.rng.random() < 0.4 else
             _op(e, "arith.ori", (y, e.constant(1, elem)), elem, low, high))
    elif "div" in op or "rem" in op:
        if e.rng.random() < 0.5:
            y = e.constant(e.rng.choice((1, 2, 3, 5, 8)), elem)
        else:
            y = _op(e, "arith.andi", (y, e.constant(7, elem)), elem, 0, 7)
            y = _op(e, "arith.addi", (y, e.constant(1, elem)), elem, 1, 8)
    elif "sh" in op:
        y = _op(e, "arith.andi", (y, e.constant(bits(elem) - 1, elem)), elem, 0,
                bits(elem) - 1)
    if op in ("arith.maxsi", "arith.minsi", "arith.addi"):
        ends = {"arith.maxsi": (max(x.low, y.low), max(x.high, y.high)),
                "arith.minsi": (min(x.low, y.low), min(x.high, y.high)),
                "arith.addi": (x.low + y.low, x.high + y.high)}[op]
        if low <= ends[0] and ends[1] <= high:
            low, high = ends
    return _op(e, op, (x, y), elem, low, high, exact)


def compare(e, x, y):
    """x < y or such, an i1."""
    if is_float(x.elem):
        kind = e.rng.choice(("olt", "ogt", "ole", "oge", "une", "ult", "oeq"))
        text = f"arith.cmpf {kind}, {x.name}, {y.name} : {e.type(x.elem)}"
    else:
        kind = e.rng.choice(("slt", "sgt", "eq", "ne", "ule", "uge", "sle"))
        text = f"arith.cmpi {kind}, {x.name}, {y.name} : {e.type(x.elem)}"
    return Operand(e.emit(text), "i1", 0, 1, x.exact and y.exact)


def select(e, condition, x, y):
    where = e.type("i1") + ", " if e.type("i1") != "i1" else ""
    name = e.emit(f"arith.select {condition.name}, {x.name}, {y.name} : "
                  f"{where}{e.type(x.elem)}")
    return Operand(name, x.elem, min(x.low, y.low), max(x.high, y.high),
                   condition.exact and x.exact and y.exact)


def expression(e, operands, steps, elem=None):
    """Joins all operands into one number of type `elem`, at random."""
    rng = e.rng
    pool = list(operands)
    unused = list(operands)
    for _ in range(steps):
        x = unused.pop() if unused and rng.random() < 0.7 else rng.choice(pool)
        way = rng.random()
        if x.elem in SMALL_FLOATS:
            new = cast(e, x, rng.choice(("f32", "f16", "bf16")))
        elif way < 0.4:
            new = unary(e, x)
        elif way < 0.8:
            y = rng.choice(pool) if rng.random() < 0.7 else e.constant(
                rng.choice((-1.25, 0.5, 1, 2, 3)) if is_float(x.elem)
                else rng.choice((0, 1, 3)) if x.elem != "i1" else 1, x.elem)
            new = binary(e, x, cast(e, y, x.elem))
        elif way < 0.9:
            others = [y for y in pool if y.elem == x.elem]
            exact = [y for y in pool if y.exact and y.elem not in SMALL_FLOATS]
            if not exact or x.elem == "i1":
                continue
            a = rng.choice(exact)
            bound = e.constant(1 if not is_float(a.elem) else
                               rng.choice((0, 0.5, 1)), a.elem)
            new = select(e, compare(e, a, bound), x, rng.choice(others))
        elif is_float(x.elem):
            new = cast(e, x, rng.choice(("f32", "f32", "f16", "bf16")))
        else:
            new = cast(e, x, rng.choice(("i32", "i64", "f32")))
        pool.append(new)
        unused = [y for y in unused if y is not x]
    result = pool[-1]
    for x in unused:
        wide = "f32" if result.elem in SMALL_FLOATS else result.elem
        result = binary(e, cast(e, result, wide), cast(e, x, wide))
    return cast(e, result, elem) if elem else result
