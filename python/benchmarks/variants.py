#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks and times many packages of one workload in one run.

    variants.py --packages=DIR [--only=REGEX]

DIR holds packages named WORKLOAD@VARIANT.fpk: one program under several
schedules, say. Each is checked like bench.py does and timed twice; the table
gives the better time and how it compares with the floor.
"""

import argparse
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import torch  # noqa: E402

import bench  # noqa: E402
import fusion_compiler as fusion  # noqa: E402
import workloads  # noqa: E402
from timing import Timer  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packages", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    timer = Timer()
    known = {workload.name: workload for workload in workloads.ALL}
    groups = {}
    for path in sorted(options.packages.glob("*@*.fpk")):
        name, variant = path.stem.split("@")
        if re.search(options.only, path.stem):
            groups.setdefault(name, []).append((variant, path))
    failed = 0
    for name, variants in groups.items():
        workload = known[name]
        inputs = workload.draw()
        for variant, path in variants:
            try:
                right, note, call, moved = bench.check(
                    workload, fusion.load(path), inputs)
            except Exception as error:  # The next variant may still run.
                print(f"{name:<44} {variant:<24} {error}"[:200], flush=True)
                failed += 1
                continue
            failed += not right
            time = min(timer.graph_us(call) for _ in range(2))
            floor = 1e6 * moved / timer.copy_rate
            print(f"{name:<44} {variant:<24} {time:9.1f} {time / floor:6.2f} "
                  f"{'' if right else 'WRONG ' + note}", flush=True)
        del inputs
        torch.cuda.empty_cache()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
