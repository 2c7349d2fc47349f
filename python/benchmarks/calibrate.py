#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fits the constants of the cost model to what a chip takes for its kernels.

    calibrate.py build FOLDER [--target=sm_90a]
    calibrate.py run FOLDER --out=CHIP.json [--library=libfusion-rt.so]

`build` needs the compiler and no GPU: it compiles programs under several
schedules each, with what the cost model says of their time. `run` needs a GPU
of that chip, NumPy, python/ and libfusion-rt.so, and no compiler: it times
them, fits the constants that the times determine, and writes them as
`fusion-compile --target-file=CHIP.json` takes them. docs/CostModel.md says what
is fitted and what is not. The exit status is 1 when nothing could be fitted or
the folder is for another chip, 2 for arguments that make no sense.
"""

import argparse
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from calibration import build, report  # noqa: E402
from drawing.build import default_bin, default_jobs  # noqa: E402

# Fewer times say nothing of a chip.
LEAST_TIMES = 10


def make_parser():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("step", choices=("build", "run"))
    parser.add_argument("folder", type=pathlib.Path)
    building = parser.add_argument_group("build")
    building.add_argument("--target", default="sm_90a",
                          help="the chip that will be measured")
    building.add_argument("--most", type=int, default=4,
                          help="schedules of each program")
    building.add_argument("--count", type=int, default=6,
                          help="drawn programs of each family")
    building.add_argument("--seed", default="calibration",
                          help="of what is drawn")
    building.add_argument("--scale", type=int, default=1,
                          help="makes the programs so many times smaller, for "
                               "a GPU of little memory")
    building.add_argument("--bin", type=pathlib.Path, default=default_bin())
    building.add_argument("--jobs", type=int, default=default_jobs())
    building.add_argument("--seconds-to-compile", type=float, default=120)
    running = parser.add_argument_group("run")
    running.add_argument("--library", type=pathlib.Path,
                         help="libfusion-rt.so, when not found by itself")
    running.add_argument("--out", type=pathlib.Path, metavar="CHIP.json",
                         help="the file to write")
    running.add_argument("--device", default="cuda:0")
    running.add_argument("--repeat", type=int, default=10)
    running.add_argument("--only", default="",
                         help="constants to fit, by how their names begin: "
                              "rates,kernels.gridStepSeconds; all by default")
    running.add_argument("--times", type=pathlib.Path, metavar="F.json",
                         help="takes the times of a file that an earlier run "
                              "wrote, instead of measuring: no GPU is needed")
    return parser


def check(options, parser):
    for name in ("most", "jobs", "repeat", "scale"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} is at least 1")
    if options.count < 0:
        parser.error("--count is at least 0")
    if options.step == "build":
        for tool in ("fusion-opt", "fusion-compile", "fusion-doctor"):
            if not (options.bin / tool).is_file():
                parser.error(f"no {tool} in {options.bin}; build it, or name "
                             "its folder with --bin")
        return
    if not options.out:
        parser.error("run needs --out=CHIP.json")
    if not (options.folder / "manifest.json").is_file():
        parser.error(f"{options.folder} has no manifest.json; make it with: "
                     "calibrate.py build FOLDER")
    for path in (options.library, options.times):
        if path and not path.is_file():
            parser.error(f"there is no file {path}")


def build_all(options):
    from calibration import programs
    probes = programs.everything(options.seed, options.count, options.scale)
    variants, failed = build.build(probes, options)
    print(f"{len(variants)} schedules of {len(probes) - failed} programs for "
          f"{options.target}; {failed} programs left out")
    return 0 if variants else 1


def read_times(path, variants):
    """(machine, seconds of each variant) as an earlier run has written them."""
    about = json.loads(path.read_text())["calibration"]
    known = {v["name"]: v["measured_us"] * 1e-6 for v in about["variants"]}
    return about["machine"], [known.get(v["name"]) for v in variants]


def measure(manifest, options):
    """(machine, seconds of each variant). Raises for another chip."""
    from calibration.measure import Timer, time_all
    if options.library:
        os.environ["FUSION_RT_LIBRARY"] = str(options.library.resolve())
    timer = Timer(options.device)
    machine = timer.describe()
    check_chip(manifest, machine)
    return machine, time_all(manifest["variants"], options.folder, timer,
                             options.repeat,
                             lambda line: print(line, flush=True))


def check_chip(manifest, machine):
    wanted = manifest["constants"]["chip"]
    if machine["chip"] != wanted:
        raise RuntimeError(
            f"the folder is for {wanted}, the device, {machine['device']}, is "
            f"{machine['chip']}; remedy: calibrate.py build FOLDER "
            f"--target={machine['chip']}")


def fit_all(manifest, machine, seconds, options):
    """The file of what was measured."""
    from calibration.fit import fit
    timed = [(v, s) for v, s in zip(manifest["variants"], seconds) if s]
    if len(timed) < LEAST_TIMES:
        raise RuntimeError(f"{len(timed)} of {len(seconds)} schedules were "
                           f"timed; at least {LEAST_TIMES} have to be")
    variants, seconds = zip(*timed)
    only = [text for text in options.only.split(",") if text]
    return report.to_file(manifest["constants"], variants, seconds,
                          fit(variants, seconds, only), machine,
                          report.find_rates(variants, seconds, machine))


def run_all(options):
    manifest = json.loads((options.folder / "manifest.json").read_text())
    if manifest.get("format") != build.FORMAT:
        raise RuntimeError(
            f"{options.folder} was made by another release; remedy: "
            "calibrate.py build FOLDER")
    if options.times:
        machine, seconds = read_times(options.times, manifest["variants"])
        check_chip(manifest, machine)
    else:
        machine, seconds = measure(manifest, options)
    file = fit_all(manifest, machine, seconds, options)
    options.out.write_text(json.dumps(file, indent=1) + "\n")
    print(report.text(file, manifest["constants"]))
    return 0


def main(arguments):
    parser = make_parser()
    options = parser.parse_args(arguments)
    check(options, parser)
    try:
        return build_all(options) if options.step == "build" else run_all(
            options)
    except (RuntimeError, OSError) as error:
        print(f"calibrate.py: error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
