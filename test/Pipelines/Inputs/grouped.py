#!/usr/bin/env python3
#===- grouped.py - Products of rows in groups ----------------------------===#
#
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
#
# Writes products of rows in groups, compiles them and compares results on the
# emulator with the reference's, at both extremes of asynchrony. Where tiles of
# groups are expected, the tile program has to find them.
#
# grouped.py FOLDER TARGET KIND N K (kn|nk) TYPE OFFSET,OFFSET,... ROWS
#     [--by=(tiles|loops)]
#
# KIND: plain, bias, silu (bias and activation), swiglu (two products and a
# gate), scales (a factor for each group, picked by fusion.gather), residual,
# gather (rows of a table, picked by index, as input).
#
#===----------------------------------------------------------------------===#

import argparse
import os
import re
import sys

from emulated import compile_and_verify, run


def tensor(element, *sizes):
    return "tensor<" + "".join(f"{size}x" for size in sizes) + element + ">"


class Program:
    def __init__(self, options):
        self.options = options
        self.lines = []
        self.arguments = []

    def add(self, line):
        self.lines.append("  " + line)

    def argument(self, name, type_):
        self.arguments.append(f"%{name}: {type_}")

    def product(self, name, weight, bias=False):
        o = self.options
        sizes = [o.k, o.n] if o.order == "kn" else [o.n, o.k]
        w = tensor(o.type, o.groups, *sizes)
        self.argument(weight, w)
        types = [tensor(o.type, o.rows, o.k), w, tensor("i32", o.groups + 1)]
        if bias:
            types.append(tensor(o.type, o.groups, o.n))
            self.argument("bias", types[-1])
        self.add(f"%{name} = fusion.grouped_matmul %x, %{weight} offsets(%o) "
                 + ("bias(%bias) " if bias else "")
                 + ("transposed " if o.order == "nk" else "")
                 + f": ({', '.join(types)}) -> {self.sums}")

    def elementwise(self, name, op, *operands):
        self.add(f"%{name} = {op} {', '.join(operands)} : {self.sums}")

    def silu(self, name, value):
        self.add(f"%{name} = fusion.silu %{value} : {self.sums}")

    def text(self):
        o = self.options
        self.sum = "i32" if o.type == "i8" else (
            "f64" if o.type == "f64" else "f32")
        self.sums = tensor(self.sum, o.rows, o.n)
        x = tensor(o.type, o.rows, o.k)
        if o.kind == "gather":
            table, indices = tensor(o.type, 100, o.k), tensor("i32", o.rows)
            self.argument("table", table)
            self.argument("rows", indices)
            self.add(f"%x = fusion.gather %table, %rows axis(0) : "
                     f"({table}, {indices}) -> {x}")
        else:
            self.argument("x", x)
        offsets = tensor("i32", o.groups + 1)
        self.add(f"%o = arith.constant dense<[{o.offsets}]> : {offsets}")
        results = []
        if o.kind in ("bias", "silu"):
            self.product("p", "w", bias=True)
            value = "p"
            if o.kind == "silu":
                self.silu("s", "p")
                value = "s"
        elif o.kind == "swiglu":
            self.product("g", "w")
            self.product("u", "v")
            self.silu("s", "g")
            self.elementwise("y", "arith.mulf", "%s", "%u")
            value = "y"
        else:
            self.product("p", "w")
            value = "p"
        if o.kind == "residual":
            self.argument("r", self.sums)
            self.elementwise("y", "arith.addf", "%p", "%r")
            value = "y"
        if o.kind == "scales":
            groups, scales = tensor("i32", o.rows), tensor("f32", o.groups)
            rows = tensor("f32", o.rows)
            self.argument("scales", scales)
            self.add(f"%rg = fusion.row_groups %o : {offsets} -> {groups}")
            self.add(f"%sr = fusion.gather %scales, %rg axis(0) : "
                     f"({scales}, {groups}) -> {rows}")
            self.add(f"%e = tensor.empty() : {self.sums}")
            self.add(f"%sb = linalg.broadcast ins(%sr : {rows}) "
                     f"outs(%e : {self.sums}) dimensions = [1]")
            self.elementwise("y", "arith.mulf", "%p", "%sb")
            value = "y"
        result = self.sums
        if o.type in ("bf16", "f16"):
            result = tensor(o.type, o.rows, o.n)
            self.add(f"%t = arith.truncf %{value} : {self.sums} to {result}")
            value = "t"
        results = [(value, result)]
        names = ", ".join(f"%{v}" for v, _ in results)
        types = ", ".join(t for _, t in results)
        return "\n".join(
            [f"func.func @main({', '.join(self.arguments)}) -> ({types}) {{",
             *self.lines, f"  return {names} : {types}", "}", ""])


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("target")
    parser.add_argument("kind", choices=["plain", "bias", "silu", "swiglu",
                                         "scales", "residual", "gather"])
    parser.add_argument("n", type=int)
    parser.add_argument("k", type=int)
    parser.add_argument("order", choices=["kn", "nk"])
    parser.add_argument("type")
    parser.add_argument("offsets", help="such as 0,5,9")
    parser.add_argument("rows", type=int)
    parser.add_argument("--by", choices=["tiles", "loops"], default="tiles")
    options = parser.parse_args()
    options.groups = options.offsets.count(",")
    return options


def main():
    options = parse_arguments()
    os.makedirs(options.folder, exist_ok=True)
    base = os.path.join(options.folder, "grouped")
    with open(base + ".mlir", "w") as file:
        file.write(Program(options).text())
    compile_ = ["fusion-compile", base + ".mlir", f"--target={options.target}"]
    run(compile_ + ["--compile-to=tile", "-o", base + ".tile.mlir"])
    with open(base + ".tile.mlir") as file:
        tiles = file.read()
    found = len(re.findall(r"fusion_tile\.find_group", tiles))
    if (found > 0) != (options.by == "tiles"):
        sys.exit(f"{found} searches for groups in the tile program:\n{tiles}")
    compile_and_verify(compile_, base, int_range="-100:99")


main()
