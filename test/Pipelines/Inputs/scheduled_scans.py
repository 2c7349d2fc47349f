#!/usr/bin/env python3
#===- scheduled_scans.py - Scans that blocks of the test's choice share ----===#
#
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
#
# Writes scans twice, plain and as one kernel whose schedule lets blocks walk
# the scanned dimension in rounds, compiles the kernel and compares its results
# on the emulator with the reference's of the plain program, at both extremes of
# asynchrony.
#
#===------------------------------------------------------------------------===#

import os
import re
import sys

from emulated import compile_and_verify, run

SUM = ["%t0 = arith.addf %a0, %b0 : {0}"]
MAX = ["%t0 = arith.maximumf %a0, %b0 : {0}"]
# Not commutative on integers that wrap, so that every order but one shows.
RECURRENCE = ["%t0 = arith.muli %a0, %b0 : {0}",
              "%q = arith.muli %b0, %a1 : {1}",
              "%t1 = arith.addi %q, %b1 : {1}"]
RECURRENCE_F32 = ["%t0 = arith.mulf %a0, %b0 : {0}",
                  "%q = arith.mulf %b0, %a1 : {1}",
                  "%t1 = arith.addf %q, %b1 : {1}"]
WITH_MAX = RECURRENCE + ["%t2 = arith.maximumf %a2, %b2 : {2}"]
LOGARITHMS = ["%m = arith.maximumf %a0, %b0 : {0}",
              "%d = arith.subf %a0, %b0 : {0}",
              "%s = math.absf %d : {0}", "%n = arith.negf %s : {0}",
              "%e = math.exp %n : {0}", "%l = math.log1p %e : {0}",
              "%t0 = arith.addf %m, %l : {0}"]


class Scan:
    """Scans of `states` ((element, init) each) along `dim` of tensors of
    `shape`, one after the other: the first state of each is what the next
    scans."""

    def __init__(self, shape, dim, schedule, states, code, flags="", warps=2,
                 times=1, results=None):
        self.shape, self.dim, self.states, self.code = shape, dim, states, code
        self.flags, self.times = flags, times
        self.results = results or range(len(states))
        axes = ", ".join(f"#fusion.axis<{axis}>" for axis in schedule)
        self.schedule = (f"#fusion.schedule<scan, axes = [{axes}], "
                         f"warps = {warps}>")

    def type(self, state):
        sizes = "".join(f"{size}x" for size in self.shape)
        return f"tensor<{sizes}{self.states[state][0]}>"

    def body(self):
        """The scans of %x0, ..."""
        lines, numbers = [], range(len(self.states))
        elements = [element for element, _ in self.states]
        for i, (element, init) in enumerate(self.states):
            lines.append(f"%init{i} = arith.constant {init} : {element}")
        inputs = [f"%x{i}" for i in numbers]
        types = ", ".join(self.type(i) for i in numbers)
        arguments = ", ".join(f"%{side}{i}: {elements[i]}"
                              for side in "ab" for i in numbers)
        for time in range(self.times):
            code = "\n      ".join(line.format(*elements) for line in self.code)
            yielded = ", ".join(f"%t{i}" for i in numbers)
            inits = ", ".join(f"%init{i}" for i in numbers)
            lines.append(f"""%s{time}:{len(elements)} = fusion.scan {self.flags} ins({", ".join(inputs)} : {types})
        inits({inits} : {", ".join(elements)}) axis({self.dim}) -> {types} {{
    ^bb1({arguments}):
      {code}
      fusion.yield {yielded} : {", ".join(elements)}
    }}""")
            inputs = [f"%s{time}#0"] + inputs[1:]
        return "\n    ".join(lines)

    def outputs(self):
        values = ", ".join(f"%s{self.times - 1}#{i}" for i in self.results)
        return values, ", ".join(self.type(i) for i in self.results)

    def signature(self, name):
        return ", ".join(f"%{name}{i}: {self.type(i)}"
                         for i in range(len(self.states)))

    def reference(self):
        values, types = self.outputs()
        return f"""func.func @main({self.signature("x")}) -> ({types}) {{
    {self.body()}
    return {values} : {types}
}}
"""

    def kernel(self):
        values, types = self.outputs()
        numbers = range(len(self.states))
        inputs = ", ".join(f"%y{i}" for i in numbers)
        input_types = ", ".join(self.type(i) for i in numbers)
        count = len(list(self.results))
        returned = ", ".join(f"%r#{i}" for i in range(count))
        return f"""func.func @main({self.signature("y")}) -> ({types}) {{
  %r:{count} = fusion.kernel @scan ins({inputs} : {input_types}) -> ({types}) attributes {{schedule = {self.schedule}}} {{
  ^bb0({self.signature("x")}):
    {self.body()}
    fusion.yield {values} : {types}
  }}
  return {returned} : {types}
}}
"""


def rows(tile, split):
    return ["grid, tile = 1", f"loop, tile = {tile}, split = {split}"]


def run_of(tile, vector, steps, split):
    return (f"loop, tile = {tile}, vector = {vector}, steps = {steps}, "
            f"split = {split}")


F32, I32 = [("f32", "0.0")], [("i32", "1"), ("i32", "0")]
LOWEST = "0xFF800000"

CASES = {
    # Whole rounds and one that has tiles past the end, some as a whole.
    "row": lambda: Scan((2, 1000), 1, rows(128, 3), F32, SUM),
    "whole-tiles": lambda: Scan((2, 1152), 1, rows(128, 4), F32, SUM),
    "whole-tiles-backwards": lambda: Scan((2, 1152), 1, rows(128, 4), F32, SUM,
                                          "reverse"),
    "whole-rounds": lambda: Scan((1, 1536), 1, rows(128, 4), F32, SUM),
    "one-round": lambda: Scan((5, 300), 1, rows(64, 8), F32, SUM),
    "before": lambda: Scan((2, 1000), 1, rows(128, 3), F32, SUM, "exclusive"),
    "backwards": lambda: Scan((2, 1000), 1, rows(128, 3), F32, SUM, "reverse"),
    "backwards-one-round": lambda: Scan((3, 300), 1, rows(64, 8), I32,
                                        RECURRENCE, "exclusive reverse"),
    "backwards-whole": lambda: Scan((1, 1024), 1, rows(64, 4), I32, RECURRENCE,
                                    "reverse"),
    # Lanes with two members each, the last without any; four members each; a
    # lane that has all members of its column.
    "forty": lambda: Scan((1, 4100), 1, rows(16, 40), I32, RECURRENCE,
                          "exclusive", warps=1),
    "hundred-and-one": lambda: Scan((1, 9001), 1, rows(32, 101), I32,
                                    RECURRENCE, warps=1),
    "hundred-and-twenty-eight": lambda: Scan(
        (1, 9000), 1, rows(32, 128), F32, SUM, warps=1),
    "columns": lambda: Scan((300, 66), 0, ["loop, tile = 16, split = 5",
                                           "grid, tile = 32"], I32, RECURRENCE),
    "columns-backwards": lambda: Scan(
        (301, 40), 0, ["loop, tile = 32, split = 3", "grid, tile = 8"],
        [("f32", "1.0"), ("f32", "0.0")], RECURRENCE_F32, "reverse", warps=4),
    "several-rows": lambda: Scan((5, 700), 1,
                                 ["grid, tile = 4",
                                  "loop, tile = 64, split = 3"], I32,
                                 RECURRENCE, warps=4),
    # Three words an element, of two types; words of short elements.
    "three-states": lambda: Scan((2, 500), 1, rows(32, 6),
                                 I32 + [("f32", LOWEST)], WITH_MAX, "exclusive",
                                 warps=1),
    "bf16": lambda: Scan((2, 90), 1, rows(16, 2), [("bf16", "0.0")], SUM,
                         warps=1),
    "bf16-most": lambda: Scan((2, 1000), 1, rows(64, 3), [("bf16", "0xFF80")], MAX,
                              "exclusive"),
    "logarithms": lambda: Scan((2, 700), 1, rows(64, 3),
                               [("f32", LOWEST)], LOGARITHMS),
    "logarithms-backwards": lambda: Scan((2, 700), 1, rows(64, 3),
                                         [("f32", LOWEST)], LOGARITHMS,
                                         "reverse"),
    # Neighbours that a thread combines at once; and in runs.
    "logarithms-at-once": lambda: Scan(
        (2, 3000), 1, rows(1024, 2), [("f32", LOWEST)], LOGARITHMS,
        "reverse", warps=1),
    "runs-logarithms-at-once": lambda: Scan(
        (900, 20), 0, [run_of(64, 16, 2, 3), "grid, tile = 32"],
        [("f32", LOWEST)], LOGARITHMS),
    # What comes before the first element is minus infinity, in rounds, in runs
    # and where tiles begin past the end.
    "logarithms-before": lambda: Scan((2, 700), 1, rows(64, 3),
                                      [("f32", LOWEST)], LOGARITHMS,
                                      "exclusive"),
    "logarithms-before-backwards": lambda: Scan((2, 700), 1, rows(64, 3),
                                                [("f32", LOWEST)], LOGARITHMS,
                                                "exclusive reverse"),
    "runs-logarithms-before": lambda: Scan(
        (900, 20), 0, [run_of(64, 16, 2, 3), "grid, tile = 32"],
        [("f32", LOWEST)], LOGARITHMS, "exclusive"),
    # More rounds than there are copies of a word.
    "many-rounds": lambda: Scan((2, 1500), 1, rows(32, 3), I32, RECURRENCE,
                                warps=1),
    "many-rounds-backwards": lambda: Scan((2, 1500), 1, rows(32, 3), F32, SUM,
                                          "exclusive reverse"),
    "two-rounds": lambda: Scan((1, 384), 1, rows(64, 3), F32, SUM),
    # Runs of several tiles, divided into parts: rounds with parts past the end,
    # and members that have none; all of a row in one round; rounds published
    # ahead; no columns, and columns that lanes do not fill.
    "runs": lambda: Scan((1000, 16), 0, [run_of(32, 4, 3, 3),
                                         "grid, tile = 16"], I32, RECURRENCE),
    "runs-once": lambda: Scan((2, 1000), 1, ["grid, tile = 1",
                                             run_of(64, 2, 6, 3)],
                              F32, SUM, "exclusive"),
    "runs-many": lambda: Scan((2, 3000, 5), 1, ["grid, tile = 1",
                                                run_of(32, 4, 3, 3),
                                                "grid, tile = 8"],
                              I32, RECURRENCE),
    "runs-whole": lambda: Scan((1536, 32), 0, [run_of(64, 8, 2, 4),
                                               "grid, tile = 32"], F32, SUM),
    "runs-backwards": lambda: Scan((3000, 7), 0, [run_of(32, 4, 3, 3),
                                                  "grid, tile = 8"],
                                   I32, RECURRENCE, "reverse"),
    "runs-backwards-once": lambda: Scan(
        (900, 16), 0, [run_of(64, 4, 5, 3), "grid, tile = 8"], I32,
        RECURRENCE, "exclusive reverse"),
    "runs-columns": lambda: Scan(
        (901, 42), 0, [run_of(32, 2, 2, 3), "grid, tile = 16"],
        I32 + [("f32", LOWEST)], WITH_MAX, warps=4),
    "runs-of-threads": lambda: Scan(
        (500, 60), 0, [run_of(16, 8, 4, 5), "grid, tile = 64"], I32,
        RECURRENCE, warps=4),
    "runs-bf16": lambda: Scan((1000, 12), 0, [run_of(64, 8, 2, 3),
                                              "grid, tile = 16"],
                              [("bf16", "0xFF80")], MAX, "exclusive"),
    "runs-logarithms": lambda: Scan((700, 20), 0, [run_of(64, 4, 2, 3),
                                                   "grid, tile = 32"],
                                    [("f32", LOWEST)], LOGARITHMS, "reverse"),
    # Two exchanges a round.
    "twice": lambda: Scan((2, 1000), 1, rows(64, 5), F32, SUM, times=2),
}


def main():
    folder, names = sys.argv[1], sys.argv[2:]
    os.makedirs(folder, exist_ok=True)
    for name in names or CASES:
        case = CASES[name]()
        base = os.path.join(folder, name)
        for suffix, text in ((".mlir", case.reference()),
                             (".kernel.mlir", case.kernel())):
            with open(base + suffix, "w", encoding="utf-8") as file:
                file.write(text)
        compile_ = ["fusion-compile", base + ".kernel.mlir", "--target=sm_90a"]
        tile = run(compile_ + ["--compile-to=tile", "-o", "-"])
        if not re.search("fusion_tile.panel_scan", tile):
            sys.exit(f"{name}: blocks do not scan together")
        compile_and_verify(compile_, base, "-8:8")
        print(name, "verified")


main()
