# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What builders build with: sizes, values, and the program under way.

A builder appends operations to a Program whose types fit by construction. Each
value carries the range that its elements are expected to have, so that the next
builder can keep results finite and denominators away from zero.
"""

import math

FLOATS = ("f32", "f16", "bf16", "f64")
SMALL_FLOATS = ("f8E4M3FN", "f8E5M2")
INTS = ("i32", "i64", "i8", "i16", "i1")
# Beyond this magnitude a value is scaled down before it is used again.
LIMITS = {"f64": 1e4, "f32": 1e4, "bf16": 1e4, "f16": 400.0,
          "f8E4M3FN": 60.0, "f8E5M2": 400.0}
# What a program may hold: elements of a tensor, steps of a loop nest, inputs.
MAX_ELEMENTS = 1 << 15
MAX_STEPS = 1 << 18
MAX_ARGUMENTS = 12


class Refused(Exception):
    """A builder cannot go on with what it drew; another one is tried."""


class Dim:
    """One size. A dynamic one is known here and unknown to the compiler."""

    __slots__ = ("size", "dynamic", "name", "source")

    def __init__(self, size, dynamic=False, name=None):
        self.size = size
        self.dynamic = dynamic
        self.name = name
        # Where a dynamic size can be read: (SSA name, type, axis), or an SSA
        # value of type index.
        self.source = None

    def __str__(self):
        return "?" if self.dynamic else str(self.size)

    def same(self, other):
        """Whether both are one size to the compiler as well."""
        return self is other or (not self.dynamic and not other.dynamic and
                                 self.size == other.size)


class Value:
    """A tensor of the program, or a scalar where `dims` is None."""

    __slots__ = ("name", "dims", "elem", "low", "high")

    def __init__(self, name, dims, elem, low, high):
        self.name, self.dims, self.elem = name, dims, elem
        self.low, self.high = low, high

    @property
    def rank(self):
        return len(self.dims)

    @property
    def type(self):
        return tensor_type(self.dims, self.elem)

    @property
    def sizes(self):
        return [dim.size for dim in self.dims]

    @property
    def magnitude(self):
        return max(abs(self.low), abs(self.high))

    def is_float(self):
        return is_float(self.elem)


def is_float(elem):
    return elem[0] != "i"


def bits(elem):
    return {"bf16": 16, "f8E4M3FN": 8, "f8E5M2": 8, "index": 64}.get(
        elem) or int(elem[1:])


def int_range(elem):
    """All values of an integer type; those of i1 are 0 and 1."""
    if elem == "i1":
        return 0, 1
    return -(1 << (bits(elem) - 1)), (1 << (bits(elem) - 1)) - 1


def tensor_type(dims, elem):
    return "tensor<" + "".join(f"{dim}x" for dim in dims) + elem + ">"


def count(dims):
    return math.prod(dim.size for dim in dims)


def literal(number, elem):
    """A constant of the type, as MLIR writes it."""
    if not is_float(elem):
        if elem == "i1":
            return "true" if number else "false"
        half = 1 << (bits(elem) - 1)  # what does not fit wraps
        return str((int(number) + half) % (2 * half) - half)
    text = repr(float(number))
    return text if "." in text.split("e")[0] else text.replace("e", ".0e")


def affine_map(loops, results):
    """An affine map over loops d0, d1, ...; results are its expressions."""
    names = ", ".join(f"d{i}" for i in range(loops))
    return f"affine_map<({names}) -> ({', '.join(results)})>"


class Program:
    """A function under construction, and everything that is drawn for it."""

    def __init__(self, rng, options):
        self.rng = rng
        self.options = options
        self.lines = []
        self.arguments = []  # (Value, attributes of the argument)
        self.values = []
        self.attributes = []  # of the function
        self.used = []  # names of the builders
        self.flags = {}  # of the command line
        self.counter = 0
        # Some programs are large enough for many tiles and tensor copies.
        self.large = self.chance(0.12) and options.get("large", True)
        self.max_elements = MAX_ELEMENTS << (2 if self.large else 0)
        self.max_steps = MAX_STEPS << (4 if self.large else 0)
        self.sizes = self.draw_sizes()
        self.constants = {}

    # Drawing.

    def chance(self, share):
        return self.rng.random() < share

    def draw_sizes(self):
        """A few sizes that the program's tensors share, so that they meet."""
        kinds = [((1,), 2), ((2, 4, 8, 16, 32, 64), 8),
                 ((3, 5, 7, 13, 17, 33, 65), 7), ((128, 96, 129, 100), 2)]
        if self.large:
            kinds += [((256, 192, 128, 64), 10), ((512, 320, 255, 1000), 3)]
        sizes = []
        for _ in range(self.rng.randint(3, 5)):
            kind = self.rng.choices([k for k, _ in kinds],
                                    [w for _, w in kinds])[0]
            sizes.append(Dim(self.rng.choice(kind)))
        if self.options.get("empty", True) and self.chance(0.03):
            sizes.append(Dim(0))
        if self.options.get("dynamic", True) and self.chance(0.3):
            for number in range(self.rng.randint(1, 2)):
                size = self.rng.choice(sizes).size
                name = "mnk"[number] if self.chance(0.7) else None
                sizes.append(Dim(size, dynamic=True, name=name))
        return sizes

    def dim(self, least=0, most=None, static=False, multiple=1):
        """One of the program's sizes with these properties, or a new one."""
        if self.large and most is not None and most > 16:
            most *= 4
        fits = [dim for dim in self.sizes
                if dim.size >= least and (most is None or dim.size <= most)
                and not (static and dim.dynamic) and dim.size % multiple == 0]
        if fits and self.chance(0.9):
            return self.rng.choice(fits)
        high = min(most if most is not None else 16, 16)
        size = self.rng.randint(max(least, 1), max(least, 1, high))
        return Dim(-(-size // multiple) * multiple)

    def shape(self, rank, **kind):
        dims = [self.dim(**kind) for _ in range(rank)]
        while count(dims) > self.max_elements:
            largest = max(range(rank), key=lambda i: dims[i].size)
            if self.chance(0.5):  # or another, so that long rows stay
                largest = self.rng.choice([i for i in range(rank)
                                           if dims[i].size > 1])
            dims[largest] = Dim(self.rng.choice(
                [s for s in (1, 2, 3, 4, 5, 8) if s < dims[largest].size]))
        return dims

    def float_type(self):
        return self.rng.choices(FLOATS, (6, 3, 3, 1))[0]

    def int_type(self):
        return self.rng.choices(("i32", "i64", "i8", "i1", "i16", "i4"),
                                (6, 3, 4, 3, 1, 0.3))[0]

    # Text.

    def fresh(self, prefix="v"):
        self.counter += 1
        return f"%{prefix}{self.counter}"

    def emit(self, text):
        self.lines.append(text)

    def index(self, number):
        """A constant of type index."""
        key = ("index", number)
        if key not in self.constants:
            name = self.fresh("c")
            self.constants[key] = name
            self.emit(f"{name} = arith.constant {number} : index")
        return self.constants[key]

    def scalar(self, number, elem):
        """A scalar constant."""
        key = (elem, number)
        if key not in self.constants:
            name = self.fresh("c")
            self.constants[key] = name
            self.emit(f"{name} = arith.constant "
                      f"{literal(number, elem)}" +
                      ("" if elem == "i1" else f" : {elem}"))
        return self.constants[key]

    def size_of(self, dim):
        """The SSA value of a size."""
        if not dim.dynamic:
            return self.index(dim.size)
        if isinstance(dim.source, tuple):
            name, kind, axis = dim.source
            result = self.fresh("d")
            place = self.index(axis)
            self.emit(f"{result} = tensor.dim {name}, {place} : {kind}")
            dim.source = result
        if dim.source is None:
            raise Refused("a size that no tensor has")
        return dim.source

    def dynamic_sizes(self, dims):
        return [self.size_of(dim) for dim in dims if dim.dynamic]

    # Values.

    def argument(self, dims, elem, low=None, high=None):
        """A new input. Floats are drawn from the normal distribution."""
        if (len(self.arguments) >= MAX_ARGUMENTS or
                count(dims) > self.max_elements):
            raise Refused("too many or too large inputs")
        if low is None:
            low, high = (-5.0, 5.0) if is_float(elem) else (0, 7)
            if elem == "i1":
                high = 1
        value = Value(f"%x{len(self.arguments)}", list(dims), elem, low, high)
        names = []
        for axis, dim in enumerate(dims):
            if dim.dynamic and dim.source is None:
                dim.source = (value.name, value.type, axis)
            if dim.dynamic:
                self.flags[f"arg{len(self.arguments)}.{axis}"] = dim.size
            names.append(dim.name if dim.dynamic and dim.name else "_")
        attributes = ""
        if any(name != "_" for name in names):
            quoted = ", ".join(f'"{name}"' for name in names)
            attributes = f" {{fusion.dims = [{quoted}]}}"
        self.arguments.append((value, attributes))
        self.values.append(value)
        return value

    def scalar_argument(self, elem):
        if len(self.arguments) >= MAX_ARGUMENTS:
            raise Refused("too many inputs")
        value = Value(f"%x{len(self.arguments)}", None, elem, -5.0, 5.0)
        if not is_float(elem):
            value.low, value.high = 0, 7
        self.arguments.append((value, ""))
        return value

    def result(self, text, dims, elem, low, high, keep=True):
        """Appends `%new = text` and returns its value."""
        value = Value(self.fresh(), list(dims), elem, low, high)
        self.emit(f"{value.name} = {text}")
        return self.keep(value) if keep else value

    def keep(self, value):
        """Lets later builders use a value."""
        for axis, dim in enumerate(value.dims):
            if dim.dynamic and dim.source is None:
                dim.source = (value.name, value.type, axis)
        self.values.append(value)
        return value

    def empty(self, dims, elem):
        """Space for a result: `tensor.empty` of the sizes."""
        sizes = ", ".join(self.dynamic_sizes(dims))
        name = self.fresh("e")
        self.emit(f"{name} = tensor.empty({sizes}) : {tensor_type(dims, elem)}")
        return name

    def filled(self, dims, elem, number):
        """A tensor of one number."""
        kind = tensor_type(dims, elem)
        start = self.scalar(number, elem)
        space = self.empty(dims, elem)
        name = self.fresh("f")
        self.emit(f"{name} = linalg.fill ins({start} : {elem}) "
                  f"outs({space} : {kind}) -> {kind}")
        return name

    def pick(self, accept, make=None, fresh=0.15):
        """A value that `accept` takes, often a recent one, or a new one."""
        fits = [value for value in self.values if accept(value)]
        if fits and not (make and self.chance(fresh)):
            recent = fits[-4:]
            return self.rng.choice(recent if self.chance(0.8) else fits)
        if make is None:
            raise Refused("no value fits")
        return make()

    def tensor(self, elem=None, rank=None, ranks=(1, 4), **kind):
        """Some tensor: an existing one of these properties, or an input."""
        floats = ("f64", "f32", "f16", "bf16")

        def accept(value):
            if value.dims is None or (elem and value.elem != elem):
                return False
            if not elem and value.elem not in floats:
                return False
            if rank is not None and value.rank != rank:
                return False
            if not ranks[0] <= value.rank <= ranks[1]:
                return False
            return all(dim.size >= kind.get("least", 0) and
                       dim.size % kind.get("multiple", 1) == 0 and
                       not (kind.get("static") and dim.dynamic)
                       for dim in value.dims)

        def make():
            drawn = rank if rank is not None else self.rng.randint(*ranks)
            return self.argument(self.shape(drawn, **kind),
                                 elem or self.float_type())

        return self.tame(self.pick(accept, make))

    def tame(self, value, bound=None):
        """The value itself, or scaled into the bound where it is beyond."""
        if value.dims is None or not value.is_float():
            return value
        bound = bound or LIMITS[value.elem]
        if value.magnitude <= bound:
            return value
        if value.elem in SMALL_FLOATS:
            raise Refused("8-bit floats are not scaled")
        factor = 2.0 ** math.floor(math.log2(bound / value.magnitude))
        if factor < 1e-4:
            raise Refused("too large a range")
        splat = self.fresh("c")
        number = literal(factor, value.elem)
        self.emit(f"{splat} = " + (
            self.splat_text(value.dims, value.elem, factor)
            if any(d.dynamic for d in value.dims) else
            f"arith.constant dense<{number}> : {value.type}"))
        return self.result(f"arith.mulf {value.name}, {splat} : {value.type}",
                           value.dims, value.elem, value.low * factor,
                           value.high * factor)

    def splat_text(self, dims, elem, number):
        start = self.scalar(number, elem)
        sizes = self.dynamic_sizes(dims)
        places = f"[{', '.join(sizes)}]" if sizes else ""
        return f"tensor.splat {start}{places} : {tensor_type(dims, elem)}"

    def constant(self, dims, elem, number):
        """A tensor of one number, as a constant or a splat."""
        dynamic = any(dim.dynamic for dim in dims)
        text = (self.splat_text(dims, elem, number)
                if dynamic or self.chance(0.3) else
                f"arith.constant dense<{literal(number, elem)}> : "
                f"{tensor_type(dims, elem)}")
        return self.result(text, dims, elem, number, number, keep=False)

    # The whole.

    def overwrite(self, results):
        """Makes some arguments the memory of results of their type."""
        free = list(range(len(results)))
        for place, (value, attributes) in enumerate(self.arguments):
            if value.dims is None or not self.chance(0.2):
                continue
            fits = [i for i in free if results[i].type == value.type and
                    results[i].sizes == value.sizes]
            if not fits:
                continue
            # The last one was computed last, perhaps from the argument.
            free.remove(fits[-1])
            mark = f"fusion.overwritten_by = {fits[-1]}"
            attributes = (f"{attributes[:-1]}, {mark}}}" if attributes
                          else f" {{{mark}}}")
            self.arguments[place] = (value, attributes)

    def text(self, results):
        """The program as MLIR. The first line says how to run it."""
        self.overwrite(results)
        arguments = ", ".join(
            f"{value.name}: " +
            (value.type if value.dims is not None else value.elem) + attributes
            for value, attributes in self.arguments)
        types = ", ".join(value.type for value in results)
        attributes = (f" attributes {{{', '.join(self.attributes)}}}"
                      if self.attributes else "")
        lines = [f"func.func @main({arguments}) -> ({types}){attributes} {{"]
        lines += ["  " + line.replace("\n", "\n  ") for line in self.lines]
        names = ", ".join(value.name for value in results)
        lines += [f"  return {names} : {types}", "}", ""]
        return "\n".join(lines)
