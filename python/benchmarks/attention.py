#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks and times attention beside PyTorch's fused kernels.

    attention.py build FOLDER [CASE ...]     any machine with the compiler
    attention.py run FOLDER [--only=REGEX] [--library=libfusion-rt.so]
    attention.py check FOLDER [CASE ...]     ptxas: no spills, no remarks

A case is BATCHxHEADSxLENGTHxWIDTH_TYPE, with _causal behind it for a causal
mask: 4x16x4096x128_f16_causal. Packages are named CASE@VARIANT.fpk; `build`
writes CASE@own.fpk, and others that lie in the folder are run as well. Each is
run twice, which must agree bit by bit, and its first head is compared with
float64; then package and peers take turns, median of graph replays with the L2
cache flushed. `check` assembles the cases' PTX instead. The exit status is 1 when
a result was wrong, a case did not compile, spilled, or has products that ptxas
serialises (C75xx).
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

CASES = [shape + mask for shape in (
    "4x16x4096x128_f16", "16x16x1024x128_f16", "8x16x2048x128_bf16",
    "1x16x16384x128_bf16", "8x16x4096x64_f16", "32x16x1024x64_bf16",
    "2x16x16384x64_bf16", "2x16x4096x96_f16", "4x16x2048x256_f16",
    "8x16x4096x32_f16", "2x8x1000x128_f16", "3x7x777x64_f16",
    "4x16x2000x64_bf16", "2x12x3111x128_f16")
    for mask in ("", "_causal")]


class Case:
    """One attention: queries, keys and values of one shape."""

    def __init__(self, name):
        match = re.fullmatch(r"(\d+(?:x\d+){3})_(f16|bf16)(_causal)?", name)
        if not match:
            raise SystemExit(f"{name}: not a case, such as {CASES[0]}")
        self.name, self.type = name, match[2]
        self.shape = [int(size) for size in match[1].split("x")]
        self.causal = bool(match[3])

    def program(self):
        tensor = f"tensor<{'x'.join(map(str, self.shape))}x{self.type}>"
        mask = " causal(top_left)" if self.causal else ""
        return (f"func.func @main(%q: {tensor}, %k: {tensor}, %v: {tensor})"
                f" -> {tensor} {{\n"
                f"  %o = fusion.attention %q, %k, %v{mask} :"
                f" ({tensor}, {tensor}, {tensor}) -> {tensor}\n"
                f"  return %o : {tensor}\n}}\n")

    def flops(self):
        batch, heads, length, width = self.shape
        pairs = length * (length + 1) / 2 if self.causal else length ** 2
        return 4.0 * batch * heads * width * pairs


def build(folder, cases, compiler, target):
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for case in cases:
        source = folder / f"{case.name}.mlir"
        source.write_text(case.program())
        done = subprocess.run(
            [compiler, "--explain", source, f"--target={target}", "-o",
             folder / f"{case.name}@own.fpk"], capture_output=True, text=True)
        text = done.stdout + done.stderr
        predicted = re.search(r"predicted: (.*)", text)
        failed += done.returncode != 0
        print(f"{case.name:32} "
              f"{predicted[1] if predicted else text[:200]}", flush=True)
    return failed


def check(folder, cases, compiler, target):
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for case in cases:
        source, text = (folder / f"{case.name}.{end}" for end in ("mlir", "ptx"))
        source.write_text(case.program())
        subprocess.run([compiler, source, f"--target={target}",
                        "--compile-to=ptx", "-o", text], check=True)
        done = subprocess.run(["ptxas", "-v", f"-arch={target}", text, "-o",
                               folder / f"{case.name}.cubin"],
                              capture_output=True, text=True)
        found = re.findall(r"[1-9]\d* bytes spill \w+|C75\d\d", done.stderr)
        bad = done.returncode != 0 or bool(found)
        failed += bad
        print(f"{case.name:32} {' '.join(found) if bad else 'ok'}", flush=True)
    return failed


def run(folder, only):
    import fusion
    import torch
    import torch.nn.functional as functional
    from timing import Timer
    from torch.nn.attention import SDPBackend, sdpa_kernel

    timer = Timer(repeat=12)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, "
          f"copies {timer.copy_rate / 1e12:.2f} TB/s, "
          f"bf16 {timer.matmul_rate / 1e12:.0f} TFLOP/s", flush=True)
    types = {"f16": torch.float16, "bf16": torch.bfloat16}
    groups, failed = {}, 0
    for path in sorted(folder.glob("*@*.fpk")):
        if re.search(only, path.stem):
            groups.setdefault(path.stem.split("@")[0], []).append(path)
    for name, paths in groups.items():
        case = Case(name)
        inputs = [torch.randn(case.shape, device="cuda").to(types[case.type])
                  for _ in range(3)]
        wanted = reference(case, *(x[0, 0].double() for x in inputs))

        def peer(backend):
            with sdpa_kernel(backend):
                return functional.scaled_dot_product_attention(
                    *inputs, is_causal=case.causal)

        calls = {"cuDNN": lambda: peer(SDPBackend.CUDNN_ATTENTION),
                 "FlashAttention": lambda: peer(SDPBackend.FLASH_ATTENTION)}
        for path in paths:
            package = fusion.load(path)
            calls[path.stem.split("@")[1]] = (
                lambda package=package: package(*inputs))
        errors = {}
        for label, call in list(calls.items()):
            try:
                result, again = call(), call()
            except RuntimeError as error:
                print(f"{name:32} {label:16} {str(error)[:80]}")
                failed += label not in ("cuDNN", "FlashAttention")
                del calls[label]
                continue
            errors[label] = (result[0, 0].double() - wanted).abs().max().item()
            if label not in ("cuDNN", "FlashAttention"):
                right = torch.equal(result, again) and errors[label] <= 2 * max(
                    errors.get("cuDNN", 0), 1e-4)
                failed += not right
                if not right:
                    print(f"{name:32} {label:16} WRONG {errors[label]:.1e}")
        times = {label: each[len(each) // 2]
                 for label, each in timer.compared_us(calls).items()}
        best = min(times[label] for label in times
                   if label in ("cuDNN", "FlashAttention"))
        for label, time in times.items():
            print(f"{name:32} {label:16} {time:9.1f} us "
                  f"{case.flops() / time / 1e6:6.0f} TFLOP/s "
                  f"{best / time:6.2f} x  error {errors[label]:.1e}",
                  flush=True)
    return failed


def reference(case, query, key, value):
    import torch
    scores = query @ key.T / case.shape[-1] ** 0.5
    if case.causal:
        hidden = torch.ones_like(scores, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(hidden, float("-inf"))
    return torch.softmax(scores, -1) @ value


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                     allow_abbrev=False)
    parser.add_argument("step", choices=("build", "run", "check"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--only", default="")
    parser.add_argument("--library", type=pathlib.Path)
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--compiler", type=pathlib.Path,
                        default=HERE.parent.parent / "build/bin/fusion-compile")
    options = parser.parse_intermixed_args()
    if options.library:
        os.environ["FUSION_RT_LIBRARY"] = str(options.library.resolve())
    cases = [Case(name) for name in options.cases or CASES]
    if options.step == "run":
        failed = run(options.folder, options.only)
    else:
        step = build if options.step == "build" else check
        failed = step(options.folder, cases, options.compiler, options.target)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
