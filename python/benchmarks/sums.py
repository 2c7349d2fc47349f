#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks and times sums of products beside PyTorch's kernels.

    sums.py build FOLDER [CASE ...]
    sums.py run FOLDER [--library=libfusion-rt.so]
    sums.py check FOLDER [CASE ...]             ptxas: no spills, no remarks

each with [--only=REGEX] for the names of cases.

Cases:

    lora_ROWSxDEPTHxCOLUMNSxRANK_TYPE   x W + 2 (x A) B
    sum_ROWSxCOLUMNSxDEPTH.DEPTH..._TYPE
                                        x1 W1' + x2 W2' + ..., the gradient of
                                        what several layers read

Products are added up in f32 and rounded to the type, as are their sums, as
PyTorch does it. Each package CASE@VARIANT.fpk runs twice, which must agree bit
by bit, and rows of the results are compared with float64; then all take turns
with PyTorch as it is and compiled, median of graph replays with the L2 cache
flushed. The exit status is 1 when a result was wrong or a case did not compile,
spilled, or has products that ptxas serialises (C75xx).
"""

import pathlib
import re
import sys

from cases import find_packages, make_timer, run_named

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

CASES = ["lora_8192x4096x4096x16_bf16", "lora_8192x4096x14336x64_bf16",
         "lora_4096x5120x5120x32_f16", "lora_2048x4096x4096x8_bf16",
         "sum_8192x4096x4096.1024.1024_bf16", "sum_8192x4096x14336.14336_bf16",
         "sum_16384x2048x2048.2048.2048_f16", "sum_4096x1024x1024.4096_bf16"]


class Case:
    """A sum of products: pairs of factors, the second one transposed or not."""

    def __init__(self, name):
        match = re.fullmatch(
            r"(lora|sum)_(\d+)x(\d+)x([\d.]+)(?:x(\d+))?_(f16|bf16)", name)
        if not match or (match[1] == "lora") != bool(match[5]):
            raise SystemExit(f"{name}: not a case, such as {CASES[0]}")
        self.name, self.kind, self.type = name, match[1], match[6]
        self.rows, second = int(match[2]), int(match[3])
        if self.kind == "lora":
            self.depths, self.columns = [second, int(match[5])], int(match[4])
        else:
            self.columns = second
            self.depths = [int(depth) for depth in match[4].split(".")]

    def of(self, rows, columns, kind=None):
        return f"tensor<{rows}x{columns}x{kind or self.type}>"

    def product(self, name, left, right, sizes, transposed):
        """%name = left right, or left right', rounded."""
        rows, depth, columns = sizes
        wide, narrow = (self.of(rows, columns, "f32"), self.of(rows, columns))
        factor = self.of(*((columns, depth) if transposed else (depth, columns)))
        second = "(i, j, k) -> (j, k)" if transposed else "(i, j, k) -> (k, j)"
        plain = "affine_map<(i, j) -> (i, j)>"
        return (
            f"  %{name}_e = tensor.empty() : {wide}\n"
            f"  %{name}_0 = linalg.fill ins(%zero : f32) outs(%{name}_e : {wide})"
            f" -> {wide}\n"
            f"  %{name}_y = linalg.matmul indexing_maps = [affine_map<(i, j, k)"
            f" -> (i, k)>, affine_map<{second}>, affine_map<(i, j, k) -> (i, j)>]"
            f" ins(%{left}, %{right} : {self.of(rows, depth)}, {factor})"
            f" outs(%{name}_0 : {wide}) -> {wide}\n"
            f"  %{name}_n = tensor.empty() : {narrow}\n"
            f"  %{name} = linalg.generic {{indexing_maps = [{plain}, {plain}], "
            "iterator_types = [\"parallel\", \"parallel\"]} "
            f"ins(%{name}_y : {wide}) outs(%{name}_n : {narrow}) {{\n"
            f"  ^bb0(%a: f32, %old: {self.type}):\n"
            f"    %rounded = arith.truncf %a : f32 to {self.type}\n"
            f"    linalg.yield %rounded : {self.type}\n  }} -> {narrow}\n")

    def add(self, name, left, right, factor):
        """%name = left + factor right, rounded."""
        own = self.of(self.rows, self.columns)
        plain = ", ".join(["affine_map<(i, j) -> (i, j)>"] * 3)
        return (
            f"  %{name}_n = tensor.empty() : {own}\n"
            f"  %{name} = linalg.generic {{indexing_maps = [{plain}], "
            "iterator_types = [\"parallel\", \"parallel\"]} "
            f"ins(%{left}, %{right} : {own}, {own}) outs(%{name}_n : {own}) {{\n"
            f"  ^bb0(%a: {self.type}, %b: {self.type}, %old: {self.type}):\n"
            f"    %factor = arith.constant {factor} : {self.type}\n"
            f"    %scaled = arith.mulf %b, %factor : {self.type}\n"
            f"    %sum = arith.addf %a, %scaled : {self.type}\n"
            f"    linalg.yield %sum : {self.type}\n  }} -> {own}\n")

    def inputs(self):
        """Sizes of the arguments, in order."""
        if self.kind == "lora":
            depth, rank = self.depths
            return [(self.rows, depth), (depth, self.columns), (depth, rank),
                    (rank, self.columns)]
        return [size for depth in self.depths
                for size in ((self.rows, depth), (self.columns, depth))]

    def program(self):
        arguments = ", ".join(f"%a{i}: {self.of(*size)}"
                              for i, size in enumerate(self.inputs()))
        lines = "  %zero = arith.constant 0.0 : f32\n"
        if self.kind == "lora":
            depth, rank = self.depths
            lines += self.product("p0", "a0", "a1",
                                  (self.rows, depth, self.columns), False)
            lines += self.product("h", "a0", "a2", (self.rows, depth, rank),
                                  False)
            lines += self.product("p1", "h", "a3",
                                  (self.rows, rank, self.columns), False)
        else:
            for i, depth in enumerate(self.depths):
                lines += self.product(f"p{i}", f"a{2 * i}", f"a{2 * i + 1}",
                                      (self.rows, depth, self.columns), True)
        last = "p0"
        for i in range(1, len(self.depths)):
            lines += self.add(f"s{i}", last, f"p{i}",
                              "2.0" if self.kind == "lora" else "1.0")
            last = f"s{i}"
        result = self.of(self.rows, self.columns)
        return (f"func.func @main({arguments}) -> {result} {{\n{lines}"
                f"  return %{last} : {result}\n}}\n")

    def plain(self, *inputs):
        if self.kind == "lora":
            x, w, a, b = inputs
            return x @ w + 2 * ((x @ a) @ b)
        total = inputs[0] @ inputs[1].mT
        for left, right in zip(inputs[2::2], inputs[3::2]):
            total = total + left @ right.mT
        return total

    def flops(self):
        flops = 2.0 * self.rows * self.columns * sum(self.depths)
        if self.kind == "lora":
            flops += 2.0 * self.rows * self.depths[0] * self.depths[1]
        return flops


def run_case(case, packages, timer):
    """Whether all packages are right, and their times beside PyTorch's."""
    import torch

    kind = {"f16": torch.float16, "bf16": torch.bfloat16}[case.type]
    inputs = [(torch.randn(a, b, device="cuda") *
               (1 if i % 2 == 0 and a == case.rows else b ** -0.5)).to(kind)
              for i, (a, b) in enumerate(case.inputs())]
    torch._dynamo.reset()
    compiled = torch.compile(case.plain, dynamic=False)
    calls = {label: lambda package=package: package(*inputs)
             for label, package in packages.items()}
    calls["torch"] = lambda: case.plain(*inputs)
    calls["torch.compile"] = lambda: compiled(*inputs)
    last = [each[-512:] if each.shape[0] == case.rows else each
            for each in inputs]
    wanted = case.plain(*(each.double() for each in last))
    errors, right = {}, True
    for label, call in calls.items():
        result = call()
        errors[label] = ((result[-512:].double() - wanted).abs().max() /
                         wanted.abs().max()).item()
        if label in packages:
            right &= torch.equal(result, call())
    allowed = 2 * max(errors["torch"], errors["torch.compile"])
    right &= all(errors[label] <= allowed for label in packages)
    times = timer.medians_us(calls)
    best = min(times["torch"], times["torch.compile"])
    for label, time in times.items():
        print(f"{case.name:36} {label:14} {time:8.1f} us "
              f"{case.flops() / time / 1e6:4.0f} TFLOP/s {best / time:5.2f} x  "
              f"error {errors[label]:.1e}", flush=True)
    return right


def run(folder, only):
    import fusion_compiler as fusion
    import torch

    timer = make_timer()
    failed = 0
    for name, paths in find_packages(folder, only).items():
        packages = {path.stem.split("@")[1]: fusion.load(path) for path in paths}
        if not run_case(Case(name), packages, timer):
            failed += 1
            print(f"{name:36} WRONG")
        torch.cuda.empty_cache()
    return failed


if __name__ == "__main__":
    sys.exit(run_named(__doc__, Case, CASES, run))
