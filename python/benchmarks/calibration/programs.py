# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs that a chip is calibrated by: small ones, each of which one term
of a kernel's time decides, and drawn ones, in which several meet.

A chain of operations is there twice, short and long: what the difference takes
is the rate of the operation, whatever the rest of the kernel costs.
"""

import dataclasses
import math

from drawing import draws

BYTES = {"f32": 4, "bf16": 2, "f16": 2, "i32": 4, "i64": 8}
FAMILIES = ("pointwise", "reduce", "norm", "softmax", "scan")


@dataclasses.dataclass
class Probe:
    """A program, what it is for, and the bytes of its arguments and results.
    Of a chain: the operations of all elements."""
    name: str
    kind: str
    mlir: str
    read_bytes: int = 0
    write_bytes: int = 0
    operations: float = 0.0


def tensor(shape, dtype):
    return f"tensor<{'x'.join(map(str, (*shape, dtype)))}>"


def byte_count(shape, dtype):
    return math.prod(shape) * BYTES[dtype]


def function(name, kind, arguments, result, lines, operations=0.0):
    """A program of `arguments` [(shape, type)] that returns %r."""
    heads = ", ".join(f"%x{i}: {tensor(*argument)}"
                      for i, argument in enumerate(arguments))
    body = "\n".join(f"  {line}" for line in lines)
    text = (f"func.func @main({heads}) -> {tensor(*result)} {{\n{body}\n"
            f"  return %r : {tensor(*result)}\n}}\n")
    return Probe(name, kind, text, sum(byte_count(*a) for a in arguments),
                 byte_count(*result), operations)


def pointwise(name, kind, shape, dtype, count=1):
    """A relu of one operand, or a sum of several."""
    own = tensor(shape, dtype)
    lines = [f"%r = fusion.relu %x0 : {own}"]
    if count > 1:
        names = [f"%x{i}" for i in range(count)]
        lines, last = [], names[0]
        for i, operand in enumerate(names[1:], 1):
            value = "%r" if i == count - 1 else f"%s{i}"
            lines.append(f"{value} = arith.addf {last}, {operand} : {own}")
            last = value
    return function(name, kind, [(shape, dtype)] * count, (shape, dtype), lines)


def chain(name, elements, dtype, constants, steps, length):
    """`steps` (lines with {x} for what there is, {y} for what comes, {t} for
    the type) `length` times, each operation on every element."""
    shape = (elements,)
    own = tensor(shape, dtype)
    lines = [f"%c{i} = arith.constant dense<{value}> : {own}"
             for i, value in enumerate(constants)]
    last, number = "%x0", 0
    for turn in range(length):
        for at, step in enumerate(steps):
            number += 1
            is_last = turn == length - 1 and at == len(steps) - 1
            value = "%r" if is_last else f"%v{number}"
            lines.append(step.format(x=last, y=value, t=own))
            last = value
    return function(f"{name}-{length}", f"chain {name}", [(shape, dtype)],
                    (shape, dtype), lines,
                    float(elements) * length * len(steps))


def narrowed(elements, length):
    """f32 narrowed and widened again, with a sum between."""
    wide, narrow = tensor((elements,), "f32"), tensor((elements,), "bf16")
    lines = [f"%c = arith.constant dense<1.0> : {wide}"]
    last = "%x0"
    for turn in range(length):
        value = "%r" if turn == length - 1 else f"%w{turn}"
        lines += [f"%n{turn} = arith.truncf {last} : {wide} to {narrow}",
                  f"%e{turn} = arith.extf %n{turn} : {narrow} to {wide}",
                  f"{value} = arith.addf %e{turn}, %c : {wide}"]
        last = value
    return function(f"convert-{length}", "chain convert",
                    [((elements,), "f32")], ((elements,), "f32"), lines,
                    float(elements) * length)


def chains(elements):
    fma = ["{y} = math.fma {x}, %c0, %c1 : {t}"]
    exp2 = ["{y} = math.exp2 {x} : {t}", "{y} = arith.subf {x}, %c0 : {t}"]
    division = ["{y} = arith.divf %c0, {x} : {t}"]
    integer = ["{y} = arith.xori {x}, %c0 : {t}",
               "{y} = arith.addi {x}, %c1 : {t}"]
    for length in (128, 256):
        yield chain("fma", elements, "f32", (0.5, 0.25), fma, length)
    for length in (16, 48):
        yield chain("exp2", elements, "f32", (1.0,), exp2, length)
        yield chain("divide", elements, "f32", (1.5,), division, length)
    for length in (48, 144):
        yield chain("integer", elements, "i32", (0x5bd1e995, 0x3c6ef372),
                    integer, length)
    for length in (32, 96):
        yield narrowed(elements, length)


def reduced(name, kind, shape, dims, dtype="f32"):
    """A maximum over dimensions: every byte is read, few are written."""
    kept = [size for i, size in enumerate(shape) if i not in dims]
    result, lowest = tensor(kept, dtype), {"f32": "0xFF800000",
                                           "bf16": "0xFF80"}[dtype]
    lines = [
        f"%i = arith.constant {lowest} : {dtype}",
        f"%e = tensor.empty() : {result}",
        f"%f = linalg.fill ins(%i : {dtype}) outs(%e : {result}) -> {result}",
        f"%r = linalg.reduce {{ arith.maximumf }} ins(%x0 : "
        f"{tensor(shape, dtype)}) outs(%f : {result}) "
        f"dimensions = [{', '.join(map(str, dims))}]"]
    return function(name, kind, [(shape, dtype)], (kept, dtype), lines)


def repeated(name, kind, shape, dtype="f32"):
    """The sum of a column and a row, to each element: hardly anything is read,
    and every byte is written."""
    rows, columns = shape
    own = tensor(shape, dtype)
    lines = [f"%e = tensor.empty() : {own}"]
    for i, (size, other) in enumerate(((rows, 1), (columns, 0))):
        lines.append(f"%b{i} = linalg.broadcast ins(%x{i} : "
                     f"{tensor((size,), dtype)}) outs(%e : {own}) "
                     f"dimensions = [{other}]")
    lines.append(f"%r = arith.addf %b0, %b1 : {own}")
    return function(name, kind, [((rows,), dtype), ((columns,), dtype)],
                    (shape, dtype), lines)


def rowwise(op, name, kind, shape, dtype="f32"):
    own, axis = tensor(shape, dtype), len(shape) - 1
    line = {"softmax": f"%r = fusion.softmax %x0 axis({axis}) : {own}",
            "layer_norm": f"%r = fusion.layer_norm %x0 axis({axis}) "
                          f"eps(1.0e-05) : ({own}) -> {own}"}[op]
    return function(name, kind, [(shape, dtype)], (shape, dtype), [line])


def scanned(name, shape, axis, dtype="f32"):
    own = tensor(shape, dtype)
    lines = [f"%i = arith.constant 0.0 : {dtype}",
             f"%r = fusion.scan ins(%x0 : {own}) inits(%i : {dtype}) "
             f"axis({axis}) -> {own} {{",
             f"^bb0(%a: {dtype}, %b: {dtype}):",
             f"  %s = arith.addf %a, %b : {dtype}",
             f"  fusion.yield %s : {dtype}", "}"]
    return function(name, "scan", [(shape, dtype)], (shape, dtype), lines)


def one_by_one(scale):
    """Probes of one term each. `scale` divides the sizes of large ones."""
    large = (1 << 28) // scale  # 1 GiB of float32
    rows = max(64, 65536 // scale)
    for size in (256, 4096, 65536):
        yield pointwise(f"tiny-{size}", "launch", (size,), "f32")
    yield reduced("read-rows", "read", (rows, 4096), [1])
    yield reduced("read-rows-bf16", "read", (rows, 8192), [1], "bf16")
    yield reduced("read-columns", "read", (rows, 4096), [0])
    yield repeated("write", "write", (rows, 4096))
    yield repeated("write-bf16", "write", (rows, 8192), "bf16")
    yield pointwise("copy", "mixed", (large,), "f32")
    yield pointwise("copy-bf16", "mixed", (large,), "bf16")
    yield pointwise("add", "mixed", (large // 2,), "f32", count=2)
    yield pointwise("add-five", "mixed", (large // 8,), "f32", count=5)
    for shift in (8, 6, 4, 3):
        yield pointwise(f"waves-{shift}", "waves", (large >> shift,), "f32")
    yield from chains(max(1024, (1 << 24) // scale))
    for op in ("softmax", "layer_norm"):
        for columns in (64, 256, 1024, 4096, 16384):
            count = max(8, (1 << 26) // scale // columns)
            yield rowwise(op, f"{op}-{columns}", "rows", (count, columns))
        yield rowwise(op, f"{op}-bf16", "rows",
                      (max(8, (1 << 16) // scale), 2048), "bf16")
        for count, columns in ((4096, 50000), (512, 200001)):
            yield rowwise(op, f"{op}-swept-{columns}", "swept",
                          (max(4, count // scale), columns))
        for count, columns in ((1, 50000), (4, 60000), (16, 100000),
                               (2, 1000000), (64, 250000), (8, 2000000)):
            yield rowwise(op, f"{op}-spread-{count}x{columns}", "spread",
                          (count, max(1024, columns // scale)))
    for shape, axis in (((4096, 16384), 1), ((16384, 4096), 0),
                        ((64, 2000, 512), 1), ((3, 5000000), 1)):
        shape = tuple(max(3, size // (scale if i == 0 else 1))
                      for i, size in enumerate(shape))
        yield scanned(f"scan-{'x'.join(map(str, shape))}-{axis}", shape, axis)


def drawn(seed, count, limits):
    """Drawn programs whose arguments may be any numbers."""
    for family in FAMILIES:
        for number in range(count):
            program = draws.draw(f"{seed}/{family}/{number}", limits)
            if any(kind in ("labels", "indices") or dtype.startswith("i")
                   for _, dtype, kind, _ in program.inputs):
                continue
            yield Probe(program.name.replace("/", "-"), f"drawn {family}",
                        f"// {program.description}\n{program.mlir}",
                        program.read_bytes, program.write_bytes)


def everything(seed="calibration", count=6, scale=1):
    """All programs; `scale` makes them smaller, for tests."""
    limits = draws.Limits(0 if scale > 1 else 16 << 20, (512 << 20) // scale, 0)
    return [*one_by_one(scale), *drawn(seed, count, limits)]
