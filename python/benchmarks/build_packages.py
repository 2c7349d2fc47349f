#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the workloads to packages, on any machine, with or without a GPU.

    build_packages.py --output=DIR [--target=sm_90a] [--only=REGEX]

One NAME.fpk per workload; a workload that does not compile is reported with
the compiler's message, and the exit status is then 1.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--compiler", type=pathlib.Path,
                        default=ROOT / "build" / "bin" / "fusion-compile")
    parser.add_argument("--option", action="append", default=[],
                        help="passed on to fusion-compile")
    options = parser.parse_args()

    options.output.mkdir(parents=True, exist_ok=True)
    failed = 0
    for source in sorted((HERE / "workloads").glob("*.mlir")):
        if not re.search(options.only, source.stem):
            continue
        start = time.perf_counter()
        result = subprocess.run(
            [options.compiler, source, f"--target={options.target}", "-o",
             options.output / f"{source.stem}.fpk", *options.option],
            capture_output=True, text=True, stdin=subprocess.DEVNULL)
        elapsed = time.perf_counter() - start
        print(f"{source.stem:50} {elapsed * 1e3:7.0f} ms"
              f"{'' if result.returncode == 0 else '  FAILED'}", flush=True)
        if result.returncode != 0:
            failed += 1
            print(result.stderr.rstrip(), file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
