#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the schedules of the benchmarks' kernels on the emulator.

    emulate_corpus.py [--suite=gemm,fused] [--only=REGEX] [--part=2/3]
                      [--target=sm_90a] [--compiler-dir=build/bin]

The kernels of the benchmarks are too large to be emulated. For each kind of
case and each schedule that the compiler chooses for one, a small problem of the
same kind, of a few tiles and steps with rests, is compiled with that schedule
and run with every check on, asynchronous operations as late as they may take
effect and at once; every result is compared with a float64 reference. Cases
without a product on tensor cores run with fewer images. The exit status is 1
when something was reported or wrong.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from tensorcore import corpus, schedules, shrink  # noqa: E402


class Failure(Exception):
    pass


class Tools:
    def __init__(self, options, directory):
        self.bin, self.target = options.compiler_dir, options.target
        self.directory = pathlib.Path(directory)

    def run(self, tool, *arguments):
        try:
            result = subprocess.run([self.bin / tool, *arguments], text=True,
                                    capture_output=True, timeout=300,
                                    stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise Failure(f"{tool}: no result within 300 s") from None
        if result.returncode != 0:
            raise Failure((result.stdout + result.stderr).strip()
                          .replace(f"{self.directory}/", "")[-1500:])
        return result.stdout + result.stderr

    def scheduled(self, case):
        """The module with the schedules that the compiler chooses."""
        source, out = self.directory / "in.mlir", self.directory / "out.mlir"
        source.write_text(case.program.text())
        self.run("fusion-compile", source, f"--target={self.target}",
                 "--compile-to=schedule", "-o", out)
        return out.read_text()

    def check(self, kind):
        """Runs a small case with the schedules of a kind, late and early;
        returns its name."""
        first = None
        for small in kind.smalls():
            text = self.scheduled(small)
            own = schedules.find(text)
            if not any(s.mma for s in kind.schedules):
                kind.schedules = own
            if [s.shape() for s in own] == [s.shape()
                                            for s in kind.schedules]:
                break
            first = first or (small, text, own)
        else:
            # Planned in another way however large: as it is chosen itself.
            small, text, kind.schedules = first
            (self.directory / "in.mlir").write_text(small.program.text())
        source = self.directory / "scheduled.mlir"
        source.write_text(schedules.replace(text, kind.schedules))
        package = self.directory / "small.fpk"
        messages = self.run("fusion-compile", source, "--ptxas=false",
                            f"--target={self.target}", "-o", package)
        # A schedule that is not obeyed says so.
        if "FUS-" in messages:
            raise Failure(messages)
        for asynchrony in ("late", "early"):
            self.run("fusion-run", package, "--device=emulator", "--random",
                     f"--reference={self.directory / 'in.mlir'}", "--verify",
                     f"--asynchrony={asynchrony}")
        return small.name


def choose(cases, tools):
    """[Kind]: one for each kind of case and schedules."""
    kinds = {}
    for case in cases:
        found = schedules.find(tools.scheduled(case))
        if any(s.mma for s in found) or "batch" in dict(case.numbers):
            kinds.setdefault(shrink.kind(case, found), shrink.Kind(
                case, [shrink.walk(s) for s in found]))
    return list(kinds.values())


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    corpus.add_arguments(parser, "kind")
    parser.add_argument("--list", action="store_true",
                        help="print what would run")
    return parser.parse_args()


def main():
    options = parse_arguments()
    try:
        cases, part = corpus.select(options)
    except ValueError as message:
        print(f"emulate_corpus.py: error: {message}", file=sys.stderr)
        return 2
    wrong = 0
    with tempfile.TemporaryDirectory() as directory:
        tools = Tools(options, directory)
        try:
            chosen = choose(cases, tools)[part]
        except Failure as message:
            print(message)
            return 1
        for kind in chosen:
            tags = " ".join(s.tag() for s in kind.schedules)
            print(f"{kind.large.name} {tags}: ", end="", flush=True)
            if options.list:
                print(kind.smalls()[0].name)
                continue
            start = time.perf_counter()
            try:
                result = f"{tools.check(kind)} is right"
            except Failure as message:
                result = f"WRONG\n{message}"
                wrong += 1
            print(f"{result}, {time.perf_counter() - start:.1f} s", flush=True)
    print(f"{len(chosen)} kinds of {len(cases)} cases, {wrong} wrong")
    return 1 if wrong or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
