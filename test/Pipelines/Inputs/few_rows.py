#!/usr/bin/env python3
#===- few_rows.py - Products with few rows and quantised weights ---------===#
#
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
#
# Writes products of a few rows with weights of 8 or 4 bits, compiles them and
# compares results on the emulator with the reference's, at both extremes of
# asynchrony. That the warps of a block share the depth, who feeds them, and that
# weights are unpacked in pairs, is checked in the tile program and in the PTX.
#
# few_rows.py FOLDER (i8|u8|i4) M N K (nk|kn) (bf16|f16) [GROUP]
#
#===----------------------------------------------------------------------===#

import os
import re
import sys

from emulated import compile_and_verify, run


def tensor(element, *sizes):
    return "tensor<" + "".join(f"{size}x" for size in sizes) + element + ">"


def weight(kind, shape, element, axis, group):
    """Arguments of the weight and the operations that unpack it to %b."""
    whole = tensor(element, *shape)
    if kind == "i4":
        stored = tensor("i8", shape[0], shape[1] // 2)
        sizes = list(shape)
        sizes[axis] //= group
        factors = tensor(element, *sizes)
        return (f"%w: {stored}, %s: {factors}",
                f"%b = fusion.dequantize int4 %w scale(%s) {{axis = {axis} : i64, "
                f"group_size = {group} : i64}} : ({stored}, {factors}) -> {whole}")
    stored = tensor("i8", *shape)
    sign = "si" if kind == "i8" else "ui"
    return f"%w: {stored}", f"%b = arith.{sign}tofp %w : {stored} to {whole}"


def program(kind, m, n, k, order, element, group):
    shape = (n, k) if order == "nk" else (k, n)
    argument, unpack = weight(kind, shape, element, order.index("k"), group)
    whole, sums = tensor(element, *shape), tensor("f32", m, n)
    x, y = tensor(element, m, k), tensor(element, m, n)
    maps = ", ".join(f"affine_map<(m, n, k) -> ({map_})>"
                     for map_ in ("m, k", ", ".join(order), "m, n"))
    return f"""func.func @main(%x: {x}, {argument}) -> {y} {{
  {unpack}
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {sums}
  %f = linalg.fill ins(%zero : f32) outs(%e : {sums}) -> {sums}
  %p = linalg.matmul indexing_maps = [{maps}]
      ins(%x, %b : {x}, {whole}) outs(%f : {sums}) -> {sums}
  %y = arith.truncf %p : {sums} to {y}
  return %y : {y}
}}
"""


def main():
    folder, kind, m, n, k, order, element = sys.argv[1:8]
    group = int(sys.argv[8]) if len(sys.argv) > 8 else 0
    m, n, k = int(m), int(n), int(k)
    os.makedirs(folder, exist_ok=True)
    base = os.path.join(folder, "_".join(sys.argv[2:]))
    with open(base + ".mlir", "w", encoding="utf-8") as file:
        file.write(program(kind, m, n, k, order, element, group))
    compile_ = ["fusion-compile", base + ".mlir", "--target=sm_90a"]
    tile = run(compile_ + ["--compile-to=tile", "-o", "-"])
    if not re.search(r"fusion_tile\.dot .* -> tensor<[48]x\d+x\d+xf32", tile):
        sys.exit(f"{base}: warps do not share the depth")
    produced = m <= 32 if kind == "i4" else m <= 16 and order == "kn"
    if ("fusion_tile.specialize" in tile) != (produced and "scf.for" in tile):
        sys.exit(f"{base}: fed by the wrong warps")
    ptx = run(compile_ + ["--compile-to=ptx", "-o", "-"])
    # A conversion of one integer at a time is the sign of a missed pair.
    if re.search(r"cvt\.rn\.(bf16|f16|f32)\.[su]", ptx):
        sys.exit(f"{base}: weights are converted singly")
    compile_and_verify(compile_, base, "-128:128")
    print("verified")


main()
