# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs tools for tests, and packages on the emulator."""

import subprocess
import sys


def run(command):
    result = subprocess.run(command, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)
    if result.returncode:
        print(" ".join(command), "\n", result.stdout)
        sys.exit(1)
    return result.stdout


def compile_and_verify(compile_, base, int_range):
    """Compares the package that the command `compile_` makes with the reference
    of `base`.mlir, at both extremes of asynchrony."""
    run(compile_ + ["-o", base + ".pkg"])
    for asynchrony in ("late", "early"):
        run(["fusion-run", base + ".pkg", "--device=emulator", "--random",
             f"--int-range={int_range}", "--verify",
             f"--asynchrony={asynchrony}", f"--reference={base}.mlir"])
