# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What benchmarks of named cases share: `build`, `run` and `check`.

A case has a `name` and a `program()`, MLIR text; packages of it are named
CASE@VARIANT.fpk.
"""

import argparse
import os
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent


def parse_options(description, add=lambda parser: None):
    """The options of the command line; `add` gives the parser more."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0],
                                     allow_abbrev=False)
    parser.add_argument("step", choices=("build", "run", "check"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--only", default="")
    parser.add_argument("--library", type=pathlib.Path)
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--compiler", type=pathlib.Path,
                        default=HERE.parent.parent / "build/bin/fusion-compile")
    add(parser)
    options = parser.parse_intermixed_args()
    if options.library:
        os.environ["FUSION_RT_LIBRARY"] = str(options.library.resolve())
    return options


def run_step(options, cases, run):
    """The exit status of a step, `run` of which takes folder and names."""
    if options.step == "run":
        failed = run(options.folder, options.only)
    else:
        step = build if options.step == "build" else check
        failed = step(options.folder, cases, options.compiler, options.target)
    return 1 if failed else 0


def run_named(description, make, names, run):
    """The exit status of the command line's step, with the cases that it names
    or `names`, each made by `make`."""
    options = parse_options(description)
    cases = [make(name) for name in options.cases or names
             if re.search(options.only, name)]
    return run_step(options, cases, run)


def make_timer():
    """A timer, once the machine and its rates are printed."""
    import torch
    from timing import Timer

    timer = Timer(repeat=12)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, "
          f"copies {timer.copy_rate / 1e12:.2f} TB/s, "
          f"bf16 {timer.matmul_rate / 1e12:.0f} TFLOP/s", flush=True)
    return timer


def find_packages(folder, only):
    """{name of a case: its packages} of those whose name `only` is in."""
    groups = {}
    for path in sorted(folder.glob("*@*.fpk")):
        if re.search(only, path.stem):
            groups.setdefault(path.stem.split("@")[0], []).append(path)
    return groups


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
        # A module for each kernel.
        found = []
        for module in re.split(r"(?m)^(?=\.version)", text.read_text())[1:]:
            text.write_text(module)
            done = subprocess.run(["ptxas", "-v", f"-arch={target}", text, "-o",
                                   folder / f"{case.name}.cubin"],
                                  capture_output=True, text=True)
            found += re.findall(r"[1-9]\d* bytes spill \w+|C75\d\d",
                                done.stderr)
            if done.returncode != 0:
                found.append(done.stderr)
        failed += bool(found)
        print(f"{case.name:32} {' '.join(found) or 'ok'}", flush=True)
    return failed
