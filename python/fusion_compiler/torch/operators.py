# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages as operators of PyTorch's dispatcher, by torch.library."""

import ast
import keyword
import operator as python
import re

import torch

from fusion_compiler import tensors
from fusion_compiler.errors import BadTensorType, BadTensorValue, FusionError

# --- Sizes -------------------------------------------------------------------

_INFIX = {ast.Add: python.add, ast.Sub: python.sub, ast.Mult: python.mul,
          ast.Eq: python.eq, ast.NotEq: python.ne, ast.Lt: python.lt,
          ast.LtE: python.le}
_FUNCTIONS = {"floordiv": python.floordiv, "mod": python.mod,
              "ceildiv": lambda one, other: -(-one // other),
              "min": torch.sym_min, "max": torch.sym_max}


def evaluate(expression, symbols):
    """A size as packages write it, "ceildiv(rows + 2, 4)", of {name: int or
    SymInt}."""
    names = sorted(symbols, key=len, reverse=True)
    # Names are the program's, with dots or whatever it likes.
    plain = re.sub("|".join(rf"(?<![\w.]){re.escape(name)}(?![\w.])"
                            for name in names) or r"(?!)",
                   lambda match: f"_{names.index(match[0])}", expression)

    def value(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name):
            return symbols[names[int(node.id[1:])]]
        if isinstance(node, ast.BinOp):
            return _INFIX[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.Compare):
            return _INFIX[type(node.ops[0])](value(node.left),
                                             value(node.comparators[0]))
        if isinstance(node, ast.BoolOp):
            first = value(node.values[0])
            is_and = isinstance(node.op, ast.And)
            return value(node.values[1]) if bool(first) == is_and else first
        return _FUNCTIONS[node.func.id](*map(value, node.args))

    try:
        return value(ast.parse(plain, mode="eval").body)
    except (SyntaxError, KeyError, ValueError, AttributeError) as error:
        raise FusionError.of(
            "FUS-1309", f"a result's size is {expression!r}, which PyTorch "
            "cannot be told", "call the package itself") from error


# --- Operators ---------------------------------------------------------------

def _argument_names(entry):
    names = []
    for number, spec in enumerate(entry.inputs):
        good = (spec.name.isidentifier() and not keyword.iskeyword(spec.name)
                and spec.name not in names)
        names.append(spec.name if good else f"arg{number}")
    return names


def _kind(spec):
    """The type of a schema for an input by value."""
    if spec.dtype == "i1":
        return "bool"
    return "SymInt" if spec.dtype.startswith("i") else "float"


def _schema(entry, names, overwritten):
    arguments = [
        f"{_kind(spec)} {name}" if spec.by_value else
        f"Tensor(a{number}!) {name}" if number in overwritten else
        f"Tensor {name}"
        for number, (name, spec) in enumerate(zip(names, entry.inputs))]
    results = ["Tensor"] * len(_returned(entry))
    # Of none and of several the parentheses count.
    returned = results[0] if len(results) == 1 else f"({', '.join(results)})"
    return f"({', '.join(arguments)}) -> {returned}"


def _returned(entry):
    """The numbers of the outputs that are no input's memory."""
    return [number for number, spec in enumerate(entry.outputs)
            if spec.overwrites is None]


def _results(values):
    """What an operator of as many results returns."""
    if not values:
        return None
    return values[0] if len(values) == 1 else tuple(values)


class _Operator:
    """One entry as the functions that torch.library asks for."""

    def __init__(self, package, entry):
        self.package, self.name = package, entry.name
        self.inputs, self.outputs = entry.inputs, entry.outputs
        self.returned = _returned(entry)
        self.launchers = {}

    def run(self, *values):
        device = tensors.device_name(self._device(values))
        launch = self.launchers.get(device)
        if launch is None:
            entry = self.package.on(device).entries[self.name]
            launch = self.launchers[device] = entry.launcher()
        results = launch(list(values))
        return _results([results[number] for number in self.returned])

    def fake(self, *values):
        """Tensors without elements of the results' sizes."""
        symbols = {}
        for number, (spec, value) in enumerate(zip(self.inputs, values)):
            if spec.by_value:
                symbols[spec.name or f"arg{number}"] = value
            else:
                self._read_sizes(number, spec, value, symbols)
        device = self._device(values)
        return _results([torch.empty(
            [size if isinstance(size, int) else evaluate(size, symbols)
             for size in self.outputs[number].dims],
            dtype=tensors.torch_dtype(self.outputs[number].dtype),
            device=device) for number in self.returned])

    def _device(self, values):
        return next((value.device for spec, value in zip(self.inputs, values)
                     if not spec.by_value), torch.device("cpu"))

    def _read_sizes(self, number, spec, value, symbols):
        """Adds the named sizes of an input; what a call would refuse is
        refused while a program is traced."""
        what = f"{self.name}, argument {number} ({spec.name})"
        dtype = tensors.torch_dtype(spec.dtype)
        if value.dtype != dtype:
            raise BadTensorType.because(
                f"{what}: expected {dtype}, got {value.dtype}",
                f"pass .to({dtype})")
        if value.dim() != len(spec.dims):
            raise BadTensorValue.because(
                f"{what}: expected {len(spec.dims)} dimensions, got "
                f"{value.dim()}", "pass a tensor of that rank")
        for size, actual in zip(spec.dims, value.shape):
            expected = symbols.setdefault(size, actual) if isinstance(
                size, str) else size
            torch._check(actual == expected, lambda a=actual, e=expected: (
                f"{what}: a dimension of {a}, expected {e}"))


def operator(name, package, entry=None):
    """Registers a package as an operator, "library::name", and returns it: a
    function of tensors and numbers, `torch.ops.library.name` as well.

    It runs on CUDA tensors where they are and on CPU tensors in the emulator,
    and is part of what torch.compile, whatever its backend, and torch.export
    trace: the shapes of its results are known from the package's sizes, known
    or not. An exported program that was saved can be loaded by a process that
    has registered the operator. Arguments that the entry overwrites are
    written to, and are no results. `entry` is the name of one of several.

    What is returned is a `torch.library.CustomOpDef`: `register_autograd`
    gives it a gradient. Raises ValueError for a name without a library, and
    TypeError where an entry has to be chosen.
    """
    entries = package.on("emulator").entries
    if entry is None and len(entries) != 1:
        raise TypeError("the package has several entries; choose one: entry=, "
                        f"of {', '.join(entries)}")
    chosen = entries[entry] if entry else next(iter(entries.values()))
    names = _argument_names(chosen)
    overwritten = {spec.overwrites for spec in chosen.outputs} - {None}
    own = _Operator(package, chosen)
    registered = torch.library.custom_op(
        name, own.run, mutates_args={names[i] for i in overwritten},
        schema=_schema(chosen, names, overwritten))
    registered.register_fake(own.fake)
    return registered
