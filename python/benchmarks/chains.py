#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks and times chains of products beside PyTorch's kernels.

    chains.py build FOLDER [CASE ...] [--seed=TEXT --count=N]
    chains.py run FOLDER [--library=libfusion-rt.so]
    chains.py check FOLDER [CASE ...]           ptxas: no spills, no remarks

each with [--only=REGEX] for the names of cases.

Cases:

    mlp_ROWSxDEPTHxMIDDLExCOLUMNS_TYPE  gelu(x W) U, in one kernel where the
                                        compiler says so
    loss_TOKENSxWIDTHxCLASSES_TYPE      the mean cross-entropy of x W'

With --seed, COUNT chains of two products of sizes that it draws. A chain's peers
are PyTorch as it is and compiled, and the same two products as two packages,
which `build` makes as well: CASE@first.fpk and CASE@second.fpk. Those of a loss
are PyTorch compiled, and the product alone by cuBLAS, which keeps the logits.
Each package runs twice, which must agree bit by bit, and rows of the results are
compared with float64; then all take turns, median of graph replays with the L2
cache flushed. The exit status is 1 when a result was wrong or a case did not
compile, spilled, or has products that ptxas serialises (C75xx).
"""

import pathlib
import random
import re
import subprocess
import sys

from cases import make_timer, parse_options, run_step

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

CASES = ["loss_8192x4096x128256_bf16", "loss_8192x2048x50257_bf16",
         "loss_4096x1024x32000_bf16", "loss_16384x4096x32000_f16",
         "mlp_65536x256x64x256_bf16", "mlp_131072x128x64x128_f16",
         "mlp_32768x64x256x64_bf16", "mlp_65536x128x128x128_f16",
         "mlp_100000x96x48x96_bf16", "mlp_65536x256x32x256_bf16",
         "mlp_65536x256x256x256_bf16", "mlp_16384x512x64x512_bf16"]

GELU = """\
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %root = arith.constant 0.70710678 : f32
    %1 = arith.mulf %a, %root : f32
    %2 = math.erf %1 : f32
    %3 = arith.addf %2, %one : f32
    %4 = arith.mulf %3, %a : f32
    %5 = arith.mulf %4, %half : f32
"""


class Case:
    """A chain of products, or the loss of a product's results."""

    def __init__(self, name):
        match = re.fullmatch(
            r"(mlp|loss)_(\d+)x(\d+)x(\d+)(?:x(\d+))?_(f16|bf16)", name)
        if not match or (match[1] == "mlp") != bool(match[5]):
            raise SystemExit(f"{name}: not a case, such as {CASES[0]}")
        self.name, self.kind, self.type = name, match[1], match[6]
        self.rows, self.depth, self.middle = map(int, match.groups()[1:4])
        self.columns = int(match[5] or 0)

    def program(self):
        return self.loss() if self.kind == "loss" else self.chain()

    def loss(self):
        inputs = f"tensor<{self.rows}x{self.depth}x{self.type}>"
        weights = f"tensor<{self.middle}x{self.depth}x{self.type}>"
        target, result = f"tensor<{self.rows}xi64>", f"tensor<{self.type}>"
        return (f"func.func @main(%x: {inputs}, %w: {weights}, %t: {target}) -> "
                f"{result} {{\n"
                f"  %l = fusion.linear_cross_entropy mean %x, %w, %t : "
                f"({inputs}, {weights}, {target}) -> {result}\n"
                f"  return %l : {result}\n}}\n")

    def product(self, name, left, right, sizes, body):
        """%name: rows of `sizes` (rows, depth, columns), by `body` of %a."""
        rows, depth, columns = sizes
        of = [f"tensor<{a}x{b}x{kind}>"
              for a, b, kind in ((rows, depth, self.type),
                                 (depth, columns, self.type),
                                 (rows, columns, "f32"),
                                 (rows, columns, self.type))]
        return (f"  %{name}_e = tensor.empty() : {of[2]}\n"
                f"  %{name}_0 = linalg.fill ins(%zero : f32) outs(%{name}_e : "
                f"{of[2]}) -> {of[2]}\n"
                f"  %{name}_y = linalg.matmul ins(%{left}, %{right} : {of[0]}, "
                f"{of[1]}) outs(%{name}_0 : {of[2]}) -> {of[2]}\n"
                f"  %{name}_n = tensor.empty() : {of[3]}\n"
                f"  %{name} = linalg.generic {{indexing_maps = "
                "[affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], "
                "iterator_types = [\"parallel\", \"parallel\"]} ins("
                f"%{name}_y : {of[2]}) outs(%{name}_n : {of[3]}) {{\n"
                f"  ^bb0(%a: f32, %old: {self.type}):\n{body}"
                f"    %rounded = arith.truncf %{'5' if body else 'a'} : f32 to "
                f"{self.type}\n"
                f"    linalg.yield %rounded : {self.type}\n  }} -> {of[3]}\n")

    def chain(self, part=None):
        """Both products, or `part` of them: "first" or "second"."""
        first = (self.rows, self.depth, self.middle)
        second = (self.rows, self.middle, self.columns)
        sizes = {"x": first[:2], "w": first[1:], "u": second[1:],
                 "h": second[:2]}
        names = {None: "xwu", "first": "xw", "second": "hu"}[part]
        result = first[::2] if part == "first" else second[::2]
        of = {name: f"tensor<{a}x{b}x{self.type}>"
              for name, (a, b) in (*sizes.items(), ("r", result))}
        arguments = ", ".join(f"%{name}: {of[name]}" for name in names)
        lines = "  %zero = arith.constant 0.0 : f32\n"
        if part != "second":
            lines += self.product("g", "x", "w", first, GELU)
        if part != "first":
            lines += self.product("r", "h" if part else "g", "u", second, "")
        last = "g" if part == "first" else "r"
        return (f"func.func @main({arguments}) -> {of['r']} {{\n{lines}"
                f"  return %{last} : {of['r']}\n}}\n")

    def flops(self):
        return 2.0 * self.rows * self.middle * (self.depth + self.columns)


def draw(seed, count):
    """Chains of two products: what is between them of up to 512 columns."""
    rng = random.Random(seed)
    return [f"mlp_{rng.randrange(64, 2048) * 64}x{rng.randrange(2, 33) * 16}x"
            f"{rng.choice((16, 32, 48, 64, 96, 128, 192, 256, 384, 512))}x"
            f"{rng.randrange(2, 33) * 16}_{rng.choice(('f16', 'bf16'))}"
            for _ in range(count)]


def build_parts(folder, cases, compiler, target):
    """CASE@first.fpk and CASE@second.fpk."""
    failed = 0
    for case in cases:
        for part in ("first", "second"):
            source = folder / f"{case.name}.{part}.mlir"
            source.write_text(case.chain(part))
            done = subprocess.run(
                [compiler, source, f"--target={target}", "-o",
                 folder / f"{case.name}@{part}.fpk"])
            failed += done.returncode != 0
    return failed


def run_loss(case, package, timer):
    """Whether the loss is right, and the times of it and its peers."""
    import torch
    import torch.nn.functional as functional
    kind = {"f16": torch.float16, "bf16": torch.bfloat16}[case.type]
    x = torch.randn(case.rows, case.depth, device="cuda").to(kind)
    w = (torch.randn(case.middle, case.depth, device="cuda") *
         case.depth ** -0.5).to(kind)
    t = torch.randint(case.middle, (case.rows,), device="cuda")
    wanted = sum(
        functional.cross_entropy(x[at:at + 512].double() @ w.double().T,
                                 t[at:at + 512], reduction="sum").item()
        for at in range(0, case.rows, 512)) / case.rows

    def plain(x, w, t):
        return functional.cross_entropy((x @ w.T).float(), t)

    # torch.compile keeps what it compiled for other sizes.
    torch._dynamo.reset()
    compiled = torch.compile(plain, dynamic=False)
    calls = {"own": lambda: package(x, w, t),
             "torch.compile": lambda: compiled(x, w, t),
             "product alone": lambda: x @ w.T}
    torch.cuda.empty_cache()
    torch.cuda.synchronize()
    before, free = torch.cuda.memory_allocated(), torch.cuda.mem_get_info()[0]
    result, again = calls["own"](), calls["own"]()
    torch.cuda.synchronize()
    taken = free - torch.cuda.mem_get_info()[0]
    torch.cuda.reset_peak_memory_stats()
    calls["torch.compile"]()
    peak = torch.cuda.max_memory_allocated() - before
    error = abs(result.double().item() - wanted) / wanted
    right = torch.equal(result, again) and error < 2 ** -8
    for label, time in timer.medians_us(calls).items():
        print(f"{case.name:34} {label:14} {time:9.1f} us "
              f"{case.flops() / time / 1e6:5.0f} TFLOP/s", flush=True)
    print(f"{case.name:34} own: error {error:.1e}, memory "
          f"{taken / 1e9:.2f} GB; torch.compile: {peak / 1e9:.2f} GB",
          flush=True)
    return right


def run_chain(case, package, parts, timer):
    import torch
    import torch.nn.functional as functional
    kind = {"f16": torch.float16, "bf16": torch.bfloat16}[case.type]
    x = torch.randn(case.rows, case.depth, device="cuda").to(kind)
    w, u = ((torch.randn(a, b, device="cuda") * a ** -0.5).to(kind)
            for a, b in ((case.depth, case.middle), (case.middle, case.columns)))

    def plain(x, w, u):
        return functional.gelu(x @ w) @ u

    torch._dynamo.reset()
    compiled = torch.compile(plain, dynamic=False)
    calls = {"own": lambda: package(x, w, u),
             "two packages": lambda: parts[1](parts[0](x, w), u),
             "torch": lambda: plain(x, w, u),
             "torch.compile": lambda: compiled(x, w, u)}
    wanted = plain(*(each.double() for each in (x[-512:], w, u)))
    results = {label: call() for label, call in calls.items()}
    errors = {label: ((result[-512:].double() - wanted).abs().max() /
                      wanted.abs().max()).item()
              for label, result in results.items()}
    right = (torch.equal(results["own"], calls["own"]()) and
             errors["own"] <= 2 * max(errors["torch"], errors["torch.compile"]))
    times = timer.medians_us(calls)
    best = min(time for label, time in times.items() if label != "own")
    print(f"{case.name:34} " + "".join(
        f"{label} {time:7.1f} us  " for label, time in times.items()) +
        f"{best / times['own']:5.2f} x  error {errors['own']:.1e}", flush=True)
    return right


def run(folder, only):
    import fusion_compiler as fusion
    import torch

    timer = make_timer()
    failed = 0
    for path in sorted(folder.glob("*@own.fpk")):
        case = Case(path.stem.split("@")[0])
        if not re.search(only, case.name):
            continue
        if case.kind == "loss":
            right = run_loss(case, fusion.load(path), timer)
        else:
            parts = [fusion.load(folder / f"{case.name}@{part}.fpk")
                     for part in ("first", "second")]
            right = run_chain(case, fusion.load(path), parts, timer)
        failed += not right
        if not right:
            print(f"{case.name:34} WRONG")
        torch.cuda.empty_cache()
    return failed


def main():
    def add_drawing(parser):
        parser.add_argument("--seed")
        parser.add_argument("--count", type=int, default=20)

    options = parse_options(__doc__, add_drawing)
    names = draw(options.seed, options.count) if options.seed else CASES
    cases = [Case(name) for name in options.cases or names
             if re.search(options.only, name)]
    failed = run_step(options, cases, run)
    if options.step == "build":
        failed |= build_parts(
            options.folder, [case for case in cases if case.kind == "mlp"],
            options.compiler, options.target) != 0
    return failed


if __name__ == "__main__":
    sys.exit(main())
