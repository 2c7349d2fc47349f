# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of the compiler's own in graphs of PyTorch.

torch-mlir does not know them, but it lets calls of functions be. So each
becomes a call of a function that is only declared (`declare`), whose attribute
says what it stands for; `write` puts that in the place of the calls, once the
program around them is linalg.
"""

import re

from fusion_compiler.errors import FusionError
from fusion_compiler.importing import philox

# The attribute of a declared function: the name of the operation that a call
# stands for, and the operands of it that are numbers.
_ATTRIBUTE = "fusion.stands_for"


def _dropout(result, type_, operands, first, probability):
    seed = f"%seed_of_{result[1:]}"
    return [f"{seed} = tensor.extract {operands[1]}[] : tensor<i64>",
            f"{result} = fusion.dropout {operands[0]}, {seed} "
            # MLIR wants a point in a number.
            f"probability({float(probability):.17e}) op_id(0) : {type_}"]


def _random_bits(result, type_, operands, first):
    return philox.bits(result, type_, *operands, first)


# {name of an operation: lines of MLIR for it, of the name and type of its
# result, its operands, the first one's type and its numbers}
_TEXTS = {"torch.fusion.dropout": _dropout,
          "torch.fusion.random_bits": _random_bits}

_DECLARED = re.compile(
    rf'^ *func\.func private @(?P<name>[\w.]+)\(.*{re.escape(_ATTRIBUTE)} = '
    r'"(?P<meaning>[^"]*)".*\n', re.M)
_CALL = re.compile(
    r"^(?P<indent> *)(?P<result>%\w+) = (?:func\.)?call @(?P<name>[\w.]+)"
    r"\((?P<operands>[^)]*)\) : \((?P<first>tensor<[^>]*>)[^)]*\) -> "
    r"(?P<type>tensor<[^>]*>)(?P<place>[^\n]*)$", re.M)


def _number(value):
    """The number that a value of the torch dialect is; None for a tensor."""
    owner = value.owner
    if not hasattr(owner, "name"):  # An argument of the function.
        return None
    if owner.name in ("torch.constant.float", "torch.constant.int"):
        return owner.attributes["value"].value
    return None


def _operations(block):
    """The operations of a block that torch-mlir does not know, but we do."""
    for one in block.operations:
        operation = one.operation
        if (operation.name == "torch.operator"
                and operation.attributes["name"].value in _TEXTS):
            yield operation


def declare(ir, module):
    """Makes calls of the operations of `_TEXTS` in a module of torch-mlir's,
    whose Python bindings are `ir`. Raises FUS-1307 for numbers that are not
    constant."""
    for function in list(module.body.operations):
        for operation in list(_operations(function.regions[0].blocks[0])):
            _declare(ir, module, operation)


def _declare(ir, module, operation):
    name = operation.attributes["name"].value
    numbers = [_number(value) for value in operation.operands]
    tensors = [value for value, number in zip(operation.operands, numbers)
               if number is None]
    if any("vtensor" not in str(value.type) for value in tensors):
        raise FusionError.of("FUS-1307", f"{name} of a number that is computed",
                             "leave the operation to PyTorch")
    meaning = " ".join([name, *(repr(n) for n in numbers if n is not None)])
    symbol = f"{name}.{len(module.body.operations)}"
    result = operation.results[0]
    with operation.location:
        signature = ir.FunctionType.get([one.type for one in tensors],
                                        [result.type])
        ir.Operation.create(
            "func.func", regions=1, attributes={
                "sym_name": ir.StringAttr.get(symbol),
                "sym_visibility": ir.StringAttr.get("private"),
                "function_type": ir.TypeAttr.get(signature),
                _ATTRIBUTE: ir.StringAttr.get(meaning)},
            ip=ir.InsertionPoint.at_block_begin(module.body))
        call = ir.Operation.create(
            "func.call", results=[result.type], operands=tensors,
            attributes={"callee": ir.FlatSymbolRefAttr.get(symbol)},
            ip=ir.InsertionPoint(operation))
    result.replace_all_uses_with(call.results[0])
    operation.erase()


def declared(text):
    """Whether MLIR text calls what `declare` declared."""
    return _ATTRIBUTE in text


def write(text):
    """The text of a program on tensors with the operations in the place of
    the calls."""
    meanings = {match.group("name"): match.group("meaning").split()
                for match in _DECLARED.finditer(text)}

    def expand(match):
        if match.group("name") not in meanings:
            return match.group(0)
        name, *numbers = meanings[match.group("name")]
        operands = match.group("operands").split(", ")
        lines = _TEXTS[name](match.group("result"), match.group("type"),
                             operands, match.group("first"), *numbers)
        # Where a region or a block begins no operation ends.
        return "\n".join(
            match.group("indent") + line
            + ("" if line.endswith(("{", ":")) else match.group("place"))
            for line in lines)

    return _CALL.sub(expand, _DECLARED.sub("", text))
