#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws programs and shapes at random, checks and times them.

    drawn.py [--seed=N] [--family=reduce,norm,...] [--count=K]   both steps
    drawn.py build FOLDER [--seed=N] [--family=...] [--count=K]
    drawn.py run FOLDER [--peers=eager,compile] [--json=FILE]
    drawn.py --device=emulator [--seed=N] ...       small ones, without a GPU
    drawn.py --program=SEED/FAMILY/NUMBER           prints one

`build` needs the compiler and no GPU; `run` needs a GPU, PyTorch, NumPy,
python/ and libfusion-rt.so, and no compiler. A program is a function of its
name and of --min-mb, --max-mb and --max-gflop alone. Results are compared with
float64. The exit status is 1 when a program did not compile, was wrong or was
not run, 2 for arguments that make no sense.
"""

import argparse
import json
import pathlib
import secrets
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from drawing import build, draws, report  # noqa: E402

MEBI = 1 << 20


def make_parser():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("step", nargs="?", choices=("build", "run"))
    parser.add_argument("folder", nargs="?", type=pathlib.Path)
    drawing = parser.add_argument_group("what is drawn")
    drawing.add_argument("--seed", help="any text; one is drawn and printed")
    drawing.add_argument("--family", default=",".join(draws.FAMILIES),
                         type=lambda text: text.split(","))
    drawing.add_argument("--count", type=int, default=20,
                         help="programs of each family")
    drawing.add_argument("--first", type=int, default=0,
                         help="the number of the first")
    drawing.add_argument("--min-mb", type=float, default=0.0,
                         help="MiB of all arguments and results at least")
    drawing.add_argument("--max-mb", type=float,
                         help="and at most: 4096; on the emulator 0.03")
    drawing.add_argument("--max-gflop", type=float,
                         help="of a product: 10000; on the emulator 0.0001")
    drawing.add_argument("--program", metavar="SEED/FAMILY/NUMBER")
    compiling = parser.add_argument_group("how it is compiled")
    compiling.add_argument("--target", default="sm_90a")
    compiling.add_argument("--bin", type=pathlib.Path,
                           default=build.default_bin())
    compiling.add_argument("--jobs", type=int, default=build.default_jobs())
    compiling.add_argument("--seconds-to-compile", type=float, default=120)
    compiling.add_argument("--target-file", type=pathlib.Path,
                           help="constants measured on the chip")
    compiling.add_argument("--sweep", type=int, default=0,
                           help="other schedules of each program to compile")
    compiling.add_argument("--sweep-until", type=float, default=2.0,
                           help="those predicted within so many times the "
                           "choice's time")
    running = parser.add_argument_group("how it is run")
    running.add_argument("--device", choices=("cuda", "emulator"),
                         default="cuda")
    running.add_argument("--library", type=pathlib.Path,
                         help="libfusion-rt.so, when not found by itself")
    running.add_argument("--peers", default="eager,compile",
                         type=lambda text: [p for p in text.split(",") if p])
    running.add_argument("--repeat", type=int, default=20)
    running.add_argument("--seconds", type=float, default=0,
                         help="start no program after these")
    running.add_argument("--seconds-to-warm", type=float, default=240,
                         help="for torch.compile in several processes")
    running.add_argument("--seconds-to-time", type=float, default=0.3,
                         help="of a program and its peers")
    running.add_argument("--seconds-a-program", type=float, default=120)
    running.add_argument("--json", type=pathlib.Path)
    return parser


def check(options, parser):
    """Refuses what makes no sense; fills in what depends on the device."""
    small = options.device == "emulator"
    if options.max_mb is None:
        options.max_mb = 0.03 if small else 4096.0
    if options.max_gflop is None:
        options.max_gflop = 1e-4 if small else 1e4
    for name in options.family:
        if name not in draws.FAMILIES:
            parser.error(f"no family {name!r}; there are "
                         f"{', '.join(draws.FAMILIES)}")
    for name in options.peers:
        if name not in ("eager", "compile"):
            parser.error(f"no peer {name!r}; there are eager, compile")
    for name in ("count", "jobs", "repeat"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} is at least 1")
    if options.first < 0:
        parser.error("--first is at least 0")
    if not 0 <= options.min_mb <= options.max_mb or options.max_mb <= 0:
        parser.error("0 <= --min-mb <= --max-mb and 0 < --max-mb")
    if options.seed is not None and (not options.seed or "/" in options.seed):
        parser.error("--seed is a text without a slash")
    if options.step and not options.folder:
        parser.error(f"{options.step} needs a folder")
    if options.target_file and (options.sweep or small):
        parser.error("--target-file is for packages of one schedule each")
    if options.step and small:
        parser.error("--device=emulator draws and checks in one step")
    if options.step == "run":
        if not (options.folder / "manifest.json").is_file():
            parser.error(f"{options.folder} has no manifest.json; make it "
                         "with: drawn.py build FOLDER")
    tool = "fusion-run" if small else "fusion-compile"
    if (options.step != "run" and not options.program and
            not (options.bin / tool).is_file()):
        parser.error(f"no {tool} in {options.bin}; build it, or name its "
                     "folder with --bin")
    if options.program:
        try:
            draws.parse_name(options.program)
        except ValueError as error:
            parser.error(str(error))


def draw_all(options):
    if options.seed is None:
        options.seed = str(secrets.randbelow(1 << 32))
    limits = find_limits(options)
    print(f"seed {options.seed}", flush=True)
    return [draws.draw(f"{options.seed}/{family}/{number}", limits)
            for family in options.family
            for number in range(options.first, options.first + options.count)]


def find_limits(options):
    return draws.Limits(int(options.min_mb * MEBI), int(options.max_mb * MEBI),
                        options.max_gflop * 1e9)


def print_program(options):
    drawn = draws.draw(options.program, find_limits(options))
    print(f"// {drawn.name}: {drawn.description}\n"
          f"// reads {drawn.read_bytes} bytes, writes {drawn.write_bytes}; "
          f"{drawn.flops:.3g} flop")
    print(drawn.mlir)
    print("".join(f"// {line}\n" for line in drawn.torch.splitlines()), end="")
    return 0


def check_on_emulator(options):
    """Every program against the compiler's float64 reference."""
    programs = draw_all(options)
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        options.folder = pathlib.Path(folder)
        for row in build.in_parallel(lambda d: build.emulate(d, options),
                                     programs, options.jobs):
            kind = row["outcome"].split()[0]
            counts[kind] = counts.get(kind, 0) + 1
            if kind != "verified":
                print(f"{row['name']}: {row['outcome']}: {row['error']} "
                      f"({row['description']})", flush=True)
    print(f"{len(programs)} programs: " +
          ", ".join(f"{n} {kind}" for kind, n in counts.items()))
    return 0 if set(counts) <= {"verified", "not-checked"} else 1


def build_all(options):
    rows = build.build(draw_all(options), options)
    failed = sum("error" in row for row in rows)
    print(f"{len(rows) - failed} of {len(rows)} programs compile")
    return 1 if failed else 0


def finite(value):
    """The value as JSON has it: no infinity."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list):
        return [finite(each) for each in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value


def run_all(options):
    from drawing import measure
    manifest = json.loads((options.folder / "manifest.json").read_text())
    rows = []

    def add(row):
        rows.append(row)
        print(report.describe(row), flush=True)
        if options.json and len(rows) % 10 == 0:  # A run may be cut.
            write({})

    def write(machine):
        short = [{key: value for key, value in row.items()
                  if key not in ("mlir", "torch")} for row in rows]
        groups = {}
        for row in rows:
            groups.setdefault(report.family(row), []).append(row)
        summary = {name: report.summarise(part)
                   for name, part in (*groups.items(), ("all", rows))}
        options.json.write_text(json.dumps(finite(
            {"machine": machine, "argv": sys.argv[1:], "summary": summary,
             "rows": short}), indent=1) + "\n")

    machine = measure.run(manifest["rows"], options, add)
    if "error" in machine:
        print(f"drawn.py: error: {machine['error']}", file=sys.stderr)
        return 1
    print("\n" + ", ".join(f"{key} {value:.4g}" if isinstance(value, float)
                           else f"{key} {value}"
                           for key, value in machine.items()))
    print(report.text(rows))
    if options.json:
        write(machine)
    return 0 if all(row["right"] for row in rows) else 1


def main(arguments):
    parser = make_parser()
    options = parser.parse_args(arguments)
    check(options, parser)
    try:
        if options.program:
            return print_program(options)
        if options.device == "emulator":
            return check_on_emulator(options)
        if options.step == "build":
            return build_all(options)
        if options.step == "run":
            return run_all(options)
        with tempfile.TemporaryDirectory() as folder:
            options.folder = pathlib.Path(folder)
            build_all(options)
            return run_all(options)
    except RuntimeError as error:
        print(f"drawn.py: error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
