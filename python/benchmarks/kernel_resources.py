#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Registers and shared memory of the kernels that benchmarks are made of.

    kernel_resources.py [--suite=gemm,fused] [--only=REGEX] [--part=2/3]
                        [--target=sm_90a] [--compiler-dir=build/bin]
                        [--table=FILE.md] [--median=PERCENT]
                        [--drawn=SEED/FAMILY/NUMBER,...]

Compiles each case, has ptxas assemble each different kernel, and prints those
that spill, have a stack frame or draw a remark (C75xx) from ptxas. Then it
prints how far predicted registers are from those that ptxas gives a thread when
nothing limits them. --table writes every kernel with a product to a Markdown
table; --median fails when the median error of the registers is larger, or when
shared memory is off by more than 4 %. The exit status is 1 when something is
wrong, 2 without ptxas.

--drawn takes drawn programs of 16 to 1024 MiB instead (drawn.py): shared memory
of their kernels without products has to be what is predicted, to the byte. A
seed and a family with a number behind a colon, SEED/FAMILY:20, are the first 20.
Registers are those of the kernel as it is launched, where there is ptxas.
"""

import argparse
import pathlib
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from drawing import draws  # noqa: E402
from tensorcore import corpus, resources  # noqa: E402


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    corpus.add_arguments(parser, "case")
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--median", type=float, metavar="PERCENT")
    parser.add_argument("--drawn", default="", metavar="NAMES")
    return parser.parse_args()


def name_drawn(text):
    """SEED/FAMILY:20 is the first twenty."""
    for name in text.split(","):
        stem, _, count = name.partition(":")
        if count:
            yield from (f"{stem}/{number}" for number in range(int(count)))
        else:
            yield name


def check_drawn(options):
    limits = draws.Limits(16 << 20, 1024 << 20, 1e13)
    rows, wrong = [], 0
    with tempfile.TemporaryDirectory() as directory:
        assembler = None
        if resources.find_assembler():
            assembler = resources.Assembler(options.target, directory)
        for name in name_drawn(options.drawn):
            program = draws.draw(name, limits)
            try:
                kernels = resources.examine_loops(
                    program.mlir, options.compiler_dir / "fusion-compile",
                    options.target, assembler, directory)
            except resources.ToolError as message:
                print(f"{name}: {message}")
                wrong += 1
                continue
            rows += [(name, kernel) for kernel in kernels]
    for name, kernel in rows:
        if kernel.shared != kernel.predicted_shared:
            print(f"{name}: kernel {kernel.name} has {kernel.shared} bytes of "
                  f"shared memory, not {kernel.predicted_shared} as predicted")
            wrong += 1
    print(f"{len(rows)} kernels without products, {wrong} wrong")
    for row in [row for row in rows if row[1].assembled]:
        row[1].needed = row[1].assembled.registers
    errors = [abs(error(kernel)) for _, kernel in rows if kernel.needed]
    if errors:
        print("predicted registers are off by "
              f"{statistics.median(errors):.1%} in the median, "
              f"{max(errors):.1%} at most")
    if options.table:
        write_table(options.table, rows)
    return 1 if wrong or not rows else 0


def error(kernel):
    """Relative error of the predicted registers."""
    return kernel.predicted_registers / kernel.needed - 1


def write_table(path, rows):
    lines = ["| case | schedule | registers | predicted | error | at launch | "
             "shared | predicted |",
             "|---|---|---|---|---|---|---|---|"]
    for case, kernel in rows:
        lines.append(
            f"| {case} | {kernel.schedule.tag() if kernel.schedule else '-'} | "
            f"{kernel.needed} | {kernel.predicted_registers} | "
            f"{error(kernel) if kernel.needed else 0:+.0%} | "
            f"{kernel.assembled.registers if kernel.assembled else '-'} | "
            f"{kernel.shared} | "
            f"{kernel.predicted_shared} |")
    path.write_text("\n".join(lines) + "\n")


def main():
    options = parse_arguments()
    if options.drawn:
        return check_drawn(options)
    if not resources.find_assembler():
        print("kernel_resources.py: error: there is no ptxas", file=sys.stderr)
        return 2
    try:
        cases, part = corpus.select(options)
    except ValueError as message:
        print(f"kernel_resources.py: error: {message}", file=sys.stderr)
        return 2
    rows, count, wrong = [], 0, 0
    with tempfile.TemporaryDirectory() as directory:
        assembler = resources.Assembler(options.target, directory)
        for case in cases[part]:
            try:
                kernels = resources.examine(
                    case.program.text(), options.compiler_dir /
                    "fusion-compile", assembler, directory)
            except resources.ToolError as message:
                print(f"{case.name}: {message}")
                wrong += 1
                continue
            for kernel in kernels:
                count += 1
                found = resources.complaints(kernel, options.median is not None)
                wrong += bool(found)
                for complaint in found:
                    print(f"{case.name}: kernel {kernel.name} {complaint}")
                if kernel.needed:
                    rows.append((case.name, kernel))
    print(f"{count} kernels, {len(assembler.known)} assembled, {wrong} wrong")
    if options.table:
        write_table(options.table, rows)
    for kind in ("wgmma", "mma_sync"):
        errors = [abs(error(kernel)) for _, kernel in rows
                  if kernel.schedule.kind == kind]
        if not errors:
            continue
        median = statistics.median(errors)
        print(f"{kind}: predicted registers are off by {median:.1%} in the "
              f"median, {max(errors):.1%} at most ({len(errors)} kernels)")
        if options.median is not None and median > options.median / 100:
            print(f"more than {options.median} % are too much")
            wrong += 1
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
