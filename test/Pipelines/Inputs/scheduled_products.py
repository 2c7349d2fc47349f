#!/usr/bin/env python3
#===- scheduled_products.py - Products with a schedule of the test's own ---===#
#
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
#
# Writes programs around a product twice, plain and as one kernel with a given
# schedule, compiles the kernel and compares its results on the emulator with
# the reference's of the plain program, at both extremes of asynchrony. What
# the kernel must consist of is checked in its tile program.
#
#===------------------------------------------------------------------------===#

import os
import re
import sys

from emulated import compile_and_verify, run

PAIR = "(m, n)"


def tensor(element, *sizes):
    return "tensor<" + "".join(f"{size}x" for size in sizes) + element + ">"


def element_of(type_):
    return type_[:-1].split("x")[-1]


def generic(name, inputs, result, code, dims="m, n", to=PAIR):
    """An elementwise operation; inputs are (name, type, map), code a list of
    operations on %i0, %i1, ... that ends with %y."""
    maps = ", ".join(f"affine_map<({dims}) -> {map_}>"
                     for map_ in [i[2] for i in inputs] + [to])
    arguments = ", ".join(f"%i{k}: {element_of(i[1])}"
                          for k, i in enumerate(inputs))
    kinds = ", ".join(['"parallel"'] * len(dims.split(",")))
    return f"""
  %{name}.e = tensor.empty() : {result}
  %{name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      ins({", ".join("%" + i[0] for i in inputs)} : {", ".join(i[1] for i in inputs)})
      outs(%{name}.e : {result}) {{
  ^bb1({arguments}, %o: {element_of(result)}):
    {(chr(10) + "    ").join(code)}
    linalg.yield %y : {element_of(result)}
  }} -> {result}"""


def reduction(name, dims, kinds, inputs, result, init, code):
    maps = ", ".join(f"affine_map<({dims}) -> {i[2]}>" for i in inputs)
    arguments = ", ".join(f"%i{k}: {element_of(i[1])}"
                          for k, i in enumerate(inputs))
    element = element_of(result[0])
    return f"""
  %{name}.z = arith.constant {init} : {element}
  %{name}.e = tensor.empty() : {result[0]}
  %{name}.f = linalg.fill ins(%{name}.z : {element}) outs(%{name}.e : {result[0]}) -> {result[0]}
  %{name} = linalg.generic {{indexing_maps = [{maps}, affine_map<({dims}) -> {result[1]}>], iterator_types = [{kinds}]}}
      ins({", ".join("%" + i[0] for i in inputs)} : {", ".join(i[1] for i in inputs)})
      outs(%{name}.f : {result[0]}) {{
  ^bb1({arguments}, %o: {element}):
    {(chr(10) + "    ").join(code)}
    linalg.yield %y : {element}
  }} -> {result[0]}"""


def product(name, a, b, m, n, a_map="(m, k)", b_map="(n, k)"):
    wide = ["%wide0 = arith.extf %i0 : bf16 to f32",
            "%wide1 = arith.extf %i1 : bf16 to f32"]
    return reduction(name, "m, n, k", '"parallel", "parallel", "reduction"',
                     [(*a, a_map), (*b, b_map)],
                     (tensor("f32", m, n), PAIR), "0.0",
                     wide + ["%both = arith.mulf %wide0, %wide1 : f32",
                             "%y = arith.addf %o, %both : f32"])


class Case:
    """A program with one kernel. `found` are pairs of a regular expression and
    how often the tile program must have it."""

    def __init__(self, arguments, body, results, axes, warps, mma, found):
        self.arguments, self.body, self.results = arguments, body, results
        self.axes, self.warps, self.mma, self.found = axes, warps, mma, found

    def reference(self):
        types = ", ".join(type_ for _, type_ in self.results)
        names = ", ".join("%" + name for name, _ in self.results)
        arguments = ", ".join(f"%{n}: {t}" for n, t in self.arguments)
        return (f"func.func @main({arguments}) -> ({types}) {{{self.body}\n"
                f"  return {names} : {types}\n}}\n")

    def kernel(self):
        types = ", ".join(type_ for _, type_ in self.results)
        names = ", ".join("%" + name for name, _ in self.results)
        count = len(self.results)
        axes = ", ".join(f"#fusion.axis<{axis}>" for axis in self.axes)
        outer = ", ".join(f"%g{i}: {t}"
                          for i, (_, t) in enumerate(self.arguments))
        inner = ", ".join(f"%{n}: {t}" for n, t in self.arguments)
        return (f"func.func @main({outer}) -> ({types}) {{\n"
                f"  %r:{count} = fusion.kernel @kernel ins("
                + ", ".join(f"%g{i}" for i in range(len(self.arguments)))
                + " : " + ", ".join(t for _, t in self.arguments)
                + f") -> ({types}) attributes {{schedule = "
                f"#fusion.schedule<contraction, axes = [{axes}], warps = "
                f"{self.warps}, mma = #fusion.mma<wgmma, {self.mma}>>}} {{\n"
                f"^bb0({inner}):{self.body}\n  fusion.yield {names} : {types}\n"
                "  }\n  return "
                + ", ".join(f"%r#{i}" for i in range(count))
                + f" : {types}\n}}\n")


def add_residual(m, n):
    code = ["%t0 = arith.extf %i1 : bf16 to f32",
            "%t1 = arith.addf %i0, %t0 : f32",
            "%t2 = arith.addf %t1, %i2 : f32",
            "%y = arith.truncf %t2 : f32 to bf16"]
    return generic("s", [("p", tensor("f32", m, n), PAIR),
                         ("r", tensor("bf16", m, n), PAIR),
                         ("c", tensor("f32", n), "(n)")],
                   tensor("bf16", m, n), code)


def cast(name, source, sizes, code, element="bf16"):
    return generic(name, [(source[0], source[1], "(r, k)")],
                   tensor(element, *sizes), code, "r, k", "(r, k)")


# What products read.
A_IN_REGISTERS = r"fusion_tile\.mma_async [^:]*: tensor<"
B_IN_REGISTERS = r"fusion_tile\.mma_async [^:]*: !fusion_tile\.buffer<.*, tensor<.* -> "
TWO_BUFFERS = r"fusion_tile\.mma_async [^:]*: !fusion_tile\.buffer<.*, !fusion_tile\.buffer<"

# Groups that take turns.
TURNS = [("fusion_tile.group_number", 1), (r"groups = [23] : i64", 1)]

# Groups that have rows of one tile each: own buffers of the rows' operand.
ROWS = [("fusion_tile.group_buffer", 1), (r"groups = 3 : i64", 1),
        (r"fusion_tile.make_ring at \d+ groups 3", 1)]

# Two accumulators of one tile.
PARTS = [("fusion_tile.mma_async", 2)]

# Sums that blocks of the grid hand to each other.
STREAM = [("fusion_tile.publish", 1), ("fusion_tile.collect", 1)]

# Sums that neighbouring blocks exchange, a part for each.
APART = [("fusion_tile.grid_reduce", 1), ("together = ", 1)]

# Stages that all blocks of a cluster release.
MULTICAST = [("fusion_tile.make_ring .*multicast", 1), ("fusion_tile.drain", 1)]

TO_BF16 = ["%y = arith.truncf %i0 : f32 to bf16"]
INT_TO_BF16 = ["%y = arith.sitofp %i0 : i8 to bf16"]
NEGATE = ["%y = arith.negf %i0 : bf16"]


def epilogue(axes, warps, mma, found, m=192, n=256, k=160, rows_of_b=False):
    """A bias and a residual; rows are no multiple of the tile's."""
    b = (n, k) if rows_of_b else (k, n)
    x, w = ("x", tensor("bf16", m, k)), ("w", tensor("bf16", *b))
    body = (product("p", x, w, m, n,
                    b_map="(n, k)" if rows_of_b else "(k, n)")
            + add_residual(m, n))
    return Case([x, w, ("r", tensor("bf16", m, n)), ("c", tensor("f32", n))],
                body, [("s", tensor("bf16", m, n))], axes, warps, mma, found)


def gated(warps, mma, found, slices=4):
    m, n, k = 192, 128, 160
    x = ("x", tensor("bf16", m, k))
    w, v = ("w", tensor("bf16", n, k)), ("gate", tensor("bf16", n, k))
    both = [("p", tensor("f32", m, n), PAIR), ("q", tensor("f32", m, n), PAIR)]
    body = (product("p", x, w, m, n) + product("q", x, v, m, n)
            + generic("s", both, tensor("bf16", m, n),
                      ["%t0 = math.tanh %i0 : f32", "%t1 = arith.mulf %t0, %i1 : f32",
                       "%y = arith.truncf %t1 : f32 to bf16"]))
    return Case([x, w, v], body, [("s", tensor("bf16", m, n))],
                axes(128, 64), warps, mma,
                [("fusion_tile.mma_async", 2), ("fusion_tile.slice", slices)] + found)


def softmax(warps, mma, found):
    """Rows are reduced whole, stored by chunks, beside their sums."""
    m, n, k = 192, 128, 160
    x, w = ("x", tensor("bf16", m, k)), ("w", tensor("bf16", n, k))
    p, e = ("p", tensor("f32", m, n), PAIR), ("e", tensor("f32", m, n), PAIR)
    rows = '"parallel", "reduction"'
    row = (tensor("f32", m), "(m)")
    body = (product("p", x, w, m, n)
            + reduction("t", "m, n", rows, [p], row, "0xFF800000",
                        ["%y = arith.maximumf %o, %i0 : f32"])
            + generic("e", [p, ("t", *row)], tensor("f32", m, n),
                      ["%t0 = arith.subf %i0, %i1 : f32", "%y = math.exp %t0 : f32"])
            + reduction("l", "m, n", rows, [e], row, "0.0",
                        ["%y = arith.addf %o, %i0 : f32"])
            + generic("s", [e, ("l", *row)], tensor("bf16", m, n),
                      ["%t0 = arith.divf %i0, %i1 : f32",
                       "%y = arith.truncf %t0 : f32 to bf16"]))
    return Case([x, w], body, [("s", tensor("bf16", m, n)), ("l", row[0])],
                ["grid, tile = 128", "full, tile = 128", "loop, tile = 64"],
                warps, mma, [("fusion_tile.async_store ", 4)] + found)


def norm(warps, mma, found, m=320, n=256, columns=64, rows=128):
    """Layer norm of a product with a residual. A panel of blocks has a row."""
    k = 160
    x, w = ("x", tensor("bf16", m, k)), ("w", tensor("bf16", n, k))
    r, g = ("r", tensor("bf16", m, n)), ("g", tensor("bf16", n))
    square, row = tensor("f32", m, n), (tensor("f32", m), "(m)")
    kinds = '"parallel", "reduction"'
    body = (product("p", x, w, m, n)
            + generic("h", [("p", square, PAIR), (*r, PAIR)], square,
                      ["%t0 = arith.extf %i1 : bf16 to f32",
                       "%y = arith.addf %i0, %t0 : f32"])
            + reduction("t", "m, n", kinds, [("h", square, PAIR)], row, "0.0",
                        ["%y = arith.addf %o, %i0 : f32"])
            + generic("d", [("h", square, PAIR), ("t", *row)], square,
                      [f"%t0 = arith.constant {1 / n} : f32",
                       "%t1 = arith.mulf %i1, %t0 : f32",
                       "%y = arith.subf %i0, %t1 : f32"])
            + reduction("v", "m, n", kinds, [("d", square, PAIR)], row, "0.0",
                        ["%t0 = arith.mulf %i0, %i0 : f32",
                         "%y = arith.addf %o, %t0 : f32"])
            + generic("s", [("d", square, PAIR), ("v", *row), (*g, "(n)")],
                      tensor("bf16", m, n),
                      [f"%t0 = arith.constant {1 / n} : f32",
                       "%t1 = arith.constant 1.0 : f32",
                       "%t2 = arith.mulf %i1, %t0 : f32",
                       "%t3 = arith.addf %t2, %t1 : f32",
                       "%t4 = math.rsqrt %t3 : f32",
                       "%t5 = arith.mulf %i0, %t4 : f32",
                       "%t6 = arith.extf %i2 : bf16 to f32",
                       "%t7 = arith.mulf %t5, %t6 : f32",
                       "%y = arith.truncf %t7 : f32 to bf16"]))
    return Case([x, w, r, g], body, [("s", tensor("bf16", m, n))],
                [f"grid, tile = {rows}", f"full, tile = {columns}",
                 "loop, tile = 64"], warps, mma,
                [("fusion_tile.panel_reduce", 2), ("fusion_tile.panel_leave", 1)] + found)


def quantized(warps, mma, found):
    """Rows of 8 bits with a scale each, and the scales."""
    m, n, k = 200, 96, 160
    x, w = ("x", tensor("bf16", m, k)), ("w", tensor("bf16", n, k))
    square, row = tensor("f32", m, n), (tensor("f32", m), "(m)")
    body = (product("p", x, w, m, n)
            + reduction("a", "m, n", '"parallel", "reduction"',
                        [("p", square, PAIR)], row, "0.0",
                        ["%t0 = math.absf %i0 : f32",
                         "%y = arith.maximumf %o, %t0 : f32"])
            + generic("s", [("p", square, PAIR), ("a", *row)],
                      tensor("i8", m, n),
                      ["%t0 = arith.constant 100.0 : f32",
                       "%t1 = arith.constant 1.0 : f32",
                       "%t2 = arith.addf %i1, %t1 : f32",
                       "%t3 = arith.mulf %i0, %t0 : f32",
                       "%t4 = arith.divf %t3, %t2 : f32",
                       "%y = arith.fptosi %t4 : f32 to i8"]))
    return Case([x, w], body, [("s", tensor("i8", m, n)), ("a", row[0])],
                ["grid, tile = 64", "full, tile = 32", "loop, tile = 64"],
                warps, mma,
                [("fusion_tile.panel_reduce", 1), ("fusion_tile.panel_leave", 1)] + found)


def computed(m, axes, warps, mma, both, n, found):
    """The weight comes as int8, the activation, when `both`, as f32."""
    k = 160
    x = ("x", tensor("f32" if both else "bf16", m, k))
    w = ("w", tensor("i8", n, k))
    body = cast("wb", w, (n, k), INT_TO_BF16)
    a = x
    if both:
        body += cast("xb", x, (m, k), TO_BF16)
        a = ("xb", tensor("bf16", m, k))
    body += product("p", a, ("wb", tensor("bf16", n, k)), m, n)
    return Case([x, w], body, [("p", tensor("f32", m, n))], axes, warps, mma,
                found)


def negated():
    m, n, k = 24, 128, 160
    x, w = ("x", tensor("bf16", m, k)), ("w", tensor("bf16", k, n))
    body = (cast("xb", x, (m, k), NEGATE)
            + product("p", ("xb", x[1]), w, m, n, b_map="(k, n)"))
    return Case([x, w], body, [("p", tensor("f32", m, n))],
                ["grid, tile = 16", "grid, tile = 64", "loop, tile = 64"], 4,
                "stages = 3", [(TWO_BUFFERS, 1), (" swapped ", 1)])


def axes(m, n, k=64):
    return [f"grid, tile = {m}", f"grid, tile = {n}", f"loop, tile = {k}"]


CASES = {
    # Rings of the residual and staging, in a grid that walks tiles.
    "persistent": lambda: epilogue(
        axes(128, 256), 8, "stages = 3, columns = 64, group = 2, blocks = 1",
        [("fusion_tile.make_ring", 2), ("fusion_tile.slice", 4), ("fusion_tile.async_store ", 4)]),
    # A sum of one step stands in the loop over tiles, beside its epilogue.
    "single-step": lambda: epilogue(
        axes(64, 128), 4, "stages = 2, columns = 64, blocks = 2",
        [("fusion_tile.make_ring", 2), ("fusion_tile.async_store ", 2), ("scf.for", 3)],
        k=64),
    "single-step-wide": lambda: epilogue(
        axes(128, 128), 8, "stages = 3, columns = 64, blocks = 1",
        [("fusion_tile.make_ring", 2), ("fusion_tile.async_store ", 2), ("scf.for", 3)],
        k=48),
    "one-warpgroup": lambda: epilogue(
        axes(128, 64, 32), 4, "stages = 5, columns = 16, blocks = 5",
        [("fusion_tile.make_ring", 2), ("fusion_tile.slice", 4)]),
    # Warpgroups share the columns of a row: nothing is split.
    "shared-rows": lambda: epilogue(
        axes(64, 256), 8, "stages = 3, columns = 64, blocks = 2",
        [("fusion_tile.slice", 0), ("fusion_tile.specialize", 1)]),
    # Whole tiles of the result do not fit beside three stages.
    "plain-epilogue": lambda: epilogue(
        axes(128, 256), 8, "stages = 4",
        [("fusion_tile.make_ring", 1), ("fusion_tile.async_store ", 0)]),
    "cluster": lambda: epilogue(
        axes(128, 128), 8, "stages = 3, columns = 64, split = 4",
        [("fusion_tile.cluster_reduce", 1)], n=128),
    # Blocks that share the depth without a cluster: one of them has no chunk;
    # parts of several chunks of columns, some of them outside; parts of eight
    # columns; two sums at once.
    "apart": lambda: epilogue(
        axes(128, 128), 8, "stages = 3, split = 4, apart = 1", APART),
    "apart-chunks": lambda: epilogue(
        axes(128, 256), 8,
        "stages = 3, columns = 64, group = 2, split = 2, apart = 1",
        APART + [("fusion_tile.slice", 2), ("fusion_tile.async_store ", 2)], n=400, k=480,
        rows_of_b=True),
    "apart-narrow": lambda: epilogue(
        axes(64, 64), 4, "stages = 4, split = 8, apart = 1", APART, k=992),
    "apart-gated": lambda: gated(8, "stages = 2, split = 2, apart = 1", APART,
                                 slices=0),
    "apart-computed": lambda: computed(
        192, axes(128, 64), 8, "stages = 3, split = 2, apart = 1", True, 128,
        APART),
    "gated": lambda: gated(8, "stages = 2, columns = 32", []),
    "softmax": lambda: softmax(8, "stages = 3, columns = 32",
                               [("fusion_tile.slice", 4)]),
    "int8-few-rows": lambda: computed(
        24, axes(32, 64), 4, "stages = 3, columns = 16", False, 128,
        [(" swapped ", 1), (B_IN_REGISTERS, 1)]),
    "int8-many-rows": lambda: computed(
        192, axes(128, 128), 8, "stages = 3, columns = 64, blocks = 2", False,
        128, [(" swapped ", 1), (B_IN_REGISTERS, 1)]),
    "int8-narrow": lambda: computed(
        192, axes(64, 32), 4, "stages = 3", False, 32,
        [(" swapped ", 0), (TWO_BUFFERS, 1)]),
    "both-computed": lambda: computed(
        192, axes(128, 64), 8, "stages = 3, columns = 32", True, 128,
        [(" swapped ", 0), (A_IN_REGISTERS, 1)]),
    "both-few-rows": lambda: computed(
        24, axes(16, 64), 4, "stages = 3", True, 128,
        [(" swapped ", 1), (B_IN_REGISTERS, 1)]),
    "few-rows-computed": negated,
    # Tiles made up of powers of two, and of several in the last column.
    "parts": lambda: epilogue(
        axes(128, 192), 8, "stages = 3, columns = 64, group = 2, blocks = 1",
        PARTS + [("fusion_tile.slice", 2), ("fusion_tile.async_store ", 3)], n=400),
    "parts-of-rows": lambda: epilogue(
        axes(64, 224), 4, "stages = 2, columns = 32", [("fusion_tile.mma_async", 3)],
        n=232, rows_of_b=True),
    "parts-in-turns": lambda: epilogue(
        axes(64, 192), 4, "stages = 4, columns = 64, blocks = 2, groups = 2",
        TURNS + PARTS, n=400),
    "three-parts": lambda: epilogue(
        axes(128, 176), 8, "stages = 2, columns = 64, blocks = 2",
        [("fusion_tile.mma_async", 3), ("fusion_tile.async_store ", 4)], n=400,
        rows_of_b=True),
    "parts-of-narrow-columns": lambda: epilogue(
        axes(128, 144), 8, "stages = 3, columns = 64",
        PARTS + [("fusion_tile.async_store ", 3)], n=400),
    "parts-of-wider-columns": lambda: epilogue(
        axes(128, 160), 8, "stages = 3, columns = 64",
        PARTS + [("fusion_tile.async_store ", 3)], n=400),
    # Three groups that have 64 rows of a tile each: in a grid that walks tiles,
    # the last of them with a group outside; one tile a block; sums of one step;
    # operands that are computed, by each group for itself.
    "row-groups": lambda: epilogue(
        axes(192, 192), 4,
        "stages = 2, columns = 64, group = 2, blocks = 1, groups = 3",
        ROWS + PARTS + [("fusion_tile.make_ring", 2), ("fusion_tile.async_store ", 3)],
        m=328, n=400, rows_of_b=True),
    "row-groups-one-tile": lambda: epilogue(
        axes(192, 128), 4, "stages = 3, columns = 64, groups = 3",
        ROWS + [("fusion_tile.make_ring", 2), ("fusion_tile.async_store ", 2)], m=400),
    "row-groups-single-step": lambda: epilogue(
        axes(192, 64), 4, "stages = 3, columns = 32, blocks = 2, groups = 3",
        ROWS + [("fusion_tile.make_ring", 2)], m=400, k=64),
    "row-groups-int8": lambda: computed(
        200, axes(192, 64), 4,
        "stages = 3, columns = 32, blocks = 1, groups = 3", False, 128, ROWS),
    "row-groups-both-computed": lambda: computed(
        200, axes(192, 64), 4,
        "stages = 2, columns = 32, blocks = 1, groups = 3", True, 128,
        ROWS[1:]),
    # Blocks of a cluster that load the columns' operand together; the last
    # cluster has blocks without rows.
    "multicast": lambda: epilogue(
        axes(64, 128), 4, "stages = 3, columns = 64, group = 2, multicast = 2",
        MULTICAST + [("fusion_tile.async_load .* multicast ", 1)], m=328),
    "multicast-persistent": lambda: epilogue(
        axes(128, 192), 8,
        "stages = 3, columns = 64, group = 4, blocks = 2, multicast = 2",
        MULTICAST + PARTS + [("fusion_tile.async_load .* multicast ", 2)], m=328,
        n=400, rows_of_b=True),
    "multicast-of-four": lambda: epilogue(
        axes(64, 256), 4, "stages = 2, columns = 64, blocks = 4, multicast = 4",
        MULTICAST, m=328, k=320),
    "multicast-parts-of-four": lambda: epilogue(
        axes(64, 176), 4, "stages = 2, columns = 64, multicast = 4",
        MULTICAST + [("fusion_tile.mma_async", 3)], m=328, n=400, rows_of_b=True),
    # Blocks that share tiles along the depth: 2 of 4 tiles for 3 blocks and a
    # round; 4 tiles for 3 blocks, two of them shared by two; fewer tiles than
    # blocks, so that several blocks have a part of one; a block with parts of
    # three tiles; clusters.
    "stream": lambda: epilogue(
        axes(128, 128), 8,
        "stages = 3, columns = 64, group = 2, blocks = 3, stream = 1",
        STREAM + [("fusion_tile.make_ring", 2), ("fusion_tile.slice", 2),
                  ("fusion_tile.async_store ", 2)], k=320),
    "stream-rounds": lambda: epilogue(
        axes(64, 64, 32), 4,
        "stages = 5, columns = 16, blocks = 5, stream = 3",
        STREAM + [("fusion_tile.make_ring", 2)], m=200),
    "stream-few-tiles": lambda: epilogue(
        axes(128, 256), 8, "stages = 3, columns = 64, blocks = 7, stream = 1",
        STREAM, k=480),
    "stream-one-chunk-each": lambda: epilogue(
        axes(64, 128), 4, "stages = 2, columns = 64, blocks = 4, stream = 1",
        STREAM, k=48, m=320),
    # Blocks that go through tiles below each other in step, and finishing that
    # counts for more than the tiles have chunks.
    "stream-teams": lambda: epilogue(
        axes(64, 128), 4,
        "stages = 3, columns = 64, group = 2, blocks = 4, stream = 7",
        STREAM, m=320),
    "stream-parts": lambda: epilogue(
        axes(128, 192), 8,
        "stages = 3, columns = 64, group = 2, blocks = 5, stream = 1",
        STREAM + PARTS, n=400, k=256),
    "stream-multicast": lambda: epilogue(
        axes(64, 192), 4,
        "stages = 3, columns = 64, blocks = 4, multicast = 2, stream = 2",
        STREAM + MULTICAST, m=328, n=400, k=256, rows_of_b=True),
    "stream-gated": lambda: gated(
        8, "stages = 2, columns = 32, blocks = 3, stream = 1", STREAM),
    "stream-computed": lambda: computed(
        192, axes(128, 64), 8,
        "stages = 3, columns = 32, blocks = 3, stream = 1", True, 128, STREAM),
    # Rows that blocks reduce together: a block for each tile; panels of four
    # that walk tiles, with a residual that is read once, the last tile with few
    # rows; one exchange a tile, by three blocks; two groups in turns.
    "panel": lambda: norm(8, "stages = 3, columns = 32, group = 1",
                          [("fusion_tile.make_ring", 2), ("fusion_tile.slice", 4)], m=192,
                          columns=128),
    "panel-walk": lambda: norm(
        8, "stages = 3, columns = 32, group = 1, blocks = 4",
        [("fusion_tile.make_ring", 2), ("fusion_tile.slice", 2), ("fusion_tile.async_store ", 2)]),
    "panel-two": lambda: norm(
        4, "stages = 3, columns = 64, group = 1, blocks = 8",
        [("fusion_tile.make_ring", 2)], m=600, rows=64),
    "panel-odd": lambda: quantized(
        4, "stages = 3, columns = 32, group = 1, blocks = 3", []),
    "panel-groups": lambda: norm(
        4, "stages = 3, columns = 32, group = 1, blocks = 4, groups = 2",
        TURNS + [("fusion_tile.make_ring", 3)], m=584),
    "panel-groups-odd": lambda: quantized(
        4, "stages = 3, columns = 32, group = 1, blocks = 3, groups = 2",
        TURNS),
    # Groups of warps that take turns: four tiles for two groups, with a
    # residual; three groups, the last with fewer tiles; more groups than tiles.
    "groups": lambda: epilogue(
        axes(128, 128), 4,
        "stages = 3, columns = 64, group = 2, blocks = 1, groups = 2",
        TURNS + [("fusion_tile.make_ring", 3), ("fusion_tile.async_store ", 2)]),
    "three-groups": lambda: epilogue(
        axes(64, 64), 4, "stages = 5, columns = 16, blocks = 2, groups = 3",
        TURNS + [("fusion_tile.make_ring", 3)], k=480),
    "idle-group": lambda: epilogue(
        axes(128, 128), 4, "stages = 4, columns = 32, blocks = 3, groups = 2",
        TURNS),
    "groups-one-chunk": lambda: epilogue(
        axes(64, 64), 4, "stages = 4, columns = 32, blocks = 2, groups = 2",
        TURNS, k=64),
    "groups-of-two": lambda: epilogue(
        axes(128, 128), 8, "stages = 3, columns = 64, blocks = 1, groups = 2",
        TURNS),
    "groups-gated": lambda: gated(
        4, "stages = 3, columns = 32, blocks = 1, groups = 2", TURNS),
    "groups-softmax": lambda: softmax(
        4, "stages = 3, columns = 32, blocks = 1, groups = 2", TURNS),
    "groups-int8": lambda: computed(
        192, axes(128, 64), 4,
        "stages = 3, columns = 64, blocks = 2, groups = 2", False, 128, TURNS),
    "groups-both-computed": lambda: computed(
        192, axes(64, 64), 4,
        "stages = 3, columns = 32, blocks = 1, groups = 2", True, 128, TURNS),
}


def main():
    folder, names = sys.argv[1], sys.argv[2:]
    os.makedirs(folder, exist_ok=True)
    for name in names:
        case = CASES[name]()
        base = os.path.join(folder, name)
        for suffix, text in ((".mlir", case.reference()),
                             (".kernel.mlir", case.kernel())):
            with open(base + suffix, "w", encoding="utf-8") as file:
                file.write(text)
        compile_ = ["fusion-compile", base + ".kernel.mlir", "--target=sm_90a"]
        tile = run(compile_ + ["--compile-to=tile", "-o", "-"])
        for pattern, count in case.found:
            found = len(re.findall(pattern, tile))
            if found != count:
                sys.exit(f"{name}: '{pattern}' {found} times, not {count}")
        compile_and_verify(compile_, base, "-8:8")
        print(name, "verified")


main()
