#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles cases of matrix products and convolutions to packages.

    build_tensorcore.py --output=DIR --suite=gemm,fused [--only=REGEX]
                        [--target=sm_90a] [--sweep[=candidates|around]]
                        [--force=SCHEDULES] [--most=32] [--compiler-dir=build/bin]
                        [--library=libfusion-rt.so] [--archive=FILE.tar.xz]
    build_tensorcore.py --suite=gemm --list|--write=DIR   (names, programs)

DIR receives one package for each case, or with --sweep one for each schedule
tried (CASE@SCHEDULE.fpk), and manifest.json: what each package is, the
schedules of its contractions, predicted and assembled registers and shared
memory of its kernels. A sweep tries the compiler's own candidates, those that
its model puts first (--most of them), or changes one number at a time around
its choice, and so also what is no candidate. --archive packs both into one file for another machine;
tensorcore_bench.py reads either. The exit status is 1 when a case did not
compile; its manifest entry then has the message.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from tensorcore import cases, schedules, suites  # noqa: E402


def run(command):
    """(output, None), or (None, message)."""
    try:
        result = subprocess.run(command, capture_output=True, text=True,
                                stdin=subprocess.DEVNULL, timeout=120)
    except subprocess.TimeoutExpired:
        return None, f"{command[0].name}: no result within 120 s"
    if result.returncode != 0:
        return None, result.stderr.strip() or f"status {result.returncode}"
    return result.stdout + result.stderr, None


def scheduled(program, options, candidate=0):
    """(module with the schedules of a rank, 0 being the compiler's choice, as
    text, None), or (None, message)."""
    return run([options.compiler_dir / "fusion-opt", program,
                f"--fusion-to-plan=target={options.target}",
                f"--fusion-schedule-select=target={options.target} "
                f"candidate={candidate}"])


def candidates(program, options):
    """Modules with the compiler's candidates in the order of its model:
    [(rank, text, schedules)]. The first is its choice."""
    found = []
    for rank in range(options.most):
        text, _ = scheduled(program, options, rank)
        chosen = schedules.find(text or "")
        # After the last one its number is taken again.
        if not chosen or (found and chosen == found[-1][2]):
            break
        found.append((rank, text, chosen))
    return found


def around(program, case, options):
    """Modules with schedules that differ from the compiler's choice in one
    respect, as `candidates`; the rank is known of the choice only."""
    text, _ = scheduled(program, options)
    own = schedules.find(text or "")
    if not own:
        return []
    # Every contraction of a program gets the same: there is mostly one.
    bytes_ = {"fp8": 1, "int8": 1, "f32": 4, "tf32": 4}.get(case.dtype, 2)
    return [(0, text, own)] + [
        (None, schedules.replace(text, [s] * len(own)), [s] * len(own))
        for s in schedules.neighbours(own[0], bytes_)[1:]]


def forced(program, options):
    """Modules with the compiler's choice and with each of the schedules that
    --force names, as `candidates`."""
    text, _ = scheduled(program, options)
    own = schedules.find(text or "")
    if not own:
        return []
    tried = [(0, text, own)]
    for words in options.force.split(";"):
        tiles, *fields = words.split()
        fields = dict(field.split("=") for field in fields)
        changed = [s.with_(tuple(map(int, tiles.split("x"))),
                           **{key: int(value)
                              for key, value in fields.items()})
                   for s in own]
        tried.append((None, schedules.replace(text, changed), changed))
    return tried


def compile_one(name, text, schedule, case, options, directory):
    """Compiles a module; returns its manifest entry."""
    source, package = directory / f"{name}.mlir", options.output / f"{name}.fpk"
    source.write_text(text)
    start = time.perf_counter()
    messages, error = run([options.compiler_dir / "fusion-compile", source,
                           f"--target={options.target}", "-o", package])
    entry = {"package": package.name, "case": case.to_json(),
             "schedules": [s.to_json() for s in schedule],
             "compile_ms": round(1e3 * (time.perf_counter() - start))}
    if error:
        package.unlink(missing_ok=True)
        entry["error"] = error.replace(f"{directory}/", "")[:2000]
    elif messages:
        entry["messages"] = messages[:2000]
    return entry


def add_kernels(entry, options):
    """What the package says of its kernels; ptxas's figures where it ran."""
    os.environ["FUSION_RT_LIBRARY"] = str(options.library)
    import fusion_compiler as fusion  # NumPy is needed for this alone.
    package = fusion.load(options.output / entry["package"], "emulator")
    entry["kernels"] = [
        {key: kernel[key] for key in
         ("name", "blockX", "dynamicSharedBytes", "predictedRegisters",
          "measuredRegisters", "predictedSpillBytes", "measuredSpillBytes",
          "predictedSharedBytes", "predictedMicroseconds")}
        for kernel in package.kernels]


def build(case, options):
    """The manifest entries of one case."""
    with tempfile.TemporaryDirectory() as temporary:
        directory = pathlib.Path(temporary)
        program = directory / "program.mlir"
        program.write_text(case.program.text())
        if not options.sweep and not options.force:
            # From the program, not from the schedules: what users get.
            path = directory / "scheduled.mlir"
            run([options.compiler_dir / "fusion-compile", program,
                 f"--target={options.target}", "--compile-to=schedule", "-o",
                 path])
            found = schedules.find(path.read_text() if path.exists() else "")
            return [compile_one(case.name, case.program.text(), found, case,
                                options, directory)]
        tried = (forced(program, options) if options.force
                 else candidates(program, options)
                 if options.sweep == "candidates"
                 else around(program, case, options))
        if not tried:
            _, error = scheduled(program, options)
            error = error or "there is no contraction to schedule"
            return [{"package": f"{case.name}.fpk", "case": case.to_json(),
                     "error": error.replace(f"{directory}/", "")[:2000]}]
        entries = []
        for number, (rank, text, chosen) in enumerate(tried):
            name = f"{case.name}@{number:03}-{chosen[0].tag()}"
            if re.search(options.schedules, name):
                entry = compile_one(name, text, chosen, case, options,
                                    directory)
                entries.append({**entry, "rank": rank, "default": rank == 0})
        return entries


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("--suite", default="gemm",
                        help="one or more, with commas: "
                             + ", ".join(suites.SUITES))
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--sweep", nargs="?", const="candidates",
                        choices=("candidates", "around"),
                        help="several schedules of each case")
    parser.add_argument("--most", type=int, default=32,
                        help="candidates of a case, for --sweep")
    parser.add_argument("--force", metavar="SCHEDULES",
                        help="schedules to try beside the compiler's choice: "
                             "'128x192x64 warps=8 stages=4 blocks=132; ...', "
                             "what is not named stays as chosen")
    parser.add_argument("--schedules", default="", metavar="REGEX",
                        help="of the names of schedules, for --sweep")
    parser.add_argument("--compiler-dir", type=pathlib.Path,
                        default=ROOT / "build" / "bin")
    parser.add_argument("--library", type=pathlib.Path,
                        help="libfusion-rt.so: adds figures of the kernels to "
                             "the manifest")
    parser.add_argument("--archive", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", action="store_true",
                        help="print the cases and do nothing")
    parser.add_argument("--write", type=pathlib.Path, metavar="DIR",
                        help="write the programs and do nothing")
    return parser.parse_args()


def main():
    options = parse_arguments()
    try:
        chosen = suites.select(options.suite.split(","))
    except ValueError as error:
        print(f"build_tensorcore.py: error: {error}", file=sys.stderr)
        return 2
    chosen = [c for c in chosen if re.search(options.only, c.name)]
    if options.list:
        print("\n".join(case.name for case in chosen))
        return 0
    if options.write:
        options.write.mkdir(parents=True, exist_ok=True)
        for case in chosen:
            (options.write / f"{case.name}.mlir").write_text(
                case.program.text())
        return 0
    if not options.output:
        print("build_tensorcore.py: error: --output is missing",
              file=sys.stderr)
        return 2
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "manifest.json").unlink(missing_ok=True)
    entries, failed = [], 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for case, built in zip(chosen, pool.map(
                lambda case: build(case, options), chosen)):
            wrong = [entry for entry in built if "error" in entry]
            for entry in built:
                if options.library and entry not in wrong:
                    try:
                        add_kernels(entry, options)
                    except Exception as error:  # The package is built.
                        entry["messages"] = f"no figures: {error}"
            failed += len(wrong)
            entries += built
            print(f"{case.name:56} {len(built) - len(wrong):3} packages"
                  + (f", {len(wrong)} FAILED" if wrong else ""), flush=True)
            for entry in wrong[:3]:
                print(f"  {entry['package']}: "
                      + entry["error"].splitlines()[0][:300],
                      file=sys.stderr, flush=True)
    cases.write_manifest(options.output / "manifest.json", entries)
    if options.archive:
        with tarfile.open(options.archive, "w:xz") as archive:
            for name in ["manifest.json", *(e["package"] for e in entries
                                            if "error" not in e)]:
                archive.add(options.output / name, name)
        print(f"{options.archive}: "
              f"{options.archive.stat().st_size / 1e6:.1f} MB")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
