# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles drawn programs, and checks them without a GPU.

A folder holds for each program STEM.mlir, STEM.py (the PyTorch function),
STEM.fpk, and in manifest.json everything else that is known of it.
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "fuzz"))

from outcomes import classify, execute  # noqa: E402

MEGABYTES = 8192  # What a compiler may use.


def stem(name):
    return name.replace("/", "-")


def write(folder, drawn):
    """The program's two texts; returns the path of the first."""
    path = folder / f"{stem(drawn.name)}.mlir"
    path.write_text(f"// {drawn.name}: {drawn.description}\n{drawn.mlir}")
    path.with_suffix(".py").write_text(drawn.torch)
    return path


def find_schedules(text):
    """[{kernel, schedule}] of a module after its schedule phase."""
    found = []
    for kernel, rest in re.findall(r"fusion\.kernel @(\S+) (.*)", text):
        at = rest.find("schedule = #fusion.schedule<")
        schedule = ""
        if at >= 0:
            start = at + len("schedule = #fusion.schedule<")
            depth, end = 1, start
            while depth and end < len(rest):
                depth += {"<": 1, ">": -1}.get(rest[end], 0)
                end += 1
            schedule = rest[start:end - 1].replace("#fusion.", "")
        found.append({"kernel": kernel, "schedule": schedule})
    return found


def target_options(options):
    """Options of fusion-compile that name the chip."""
    constants = options.target_file
    return [f"--target={options.target}",
            *([f"--target-file={constants}"] if constants else [])]


def compile_one(drawn, options):
    """Compiles a program; returns its row of the manifest."""
    row = {**drawn.to_json(), "stem": stem(drawn.name)}
    source = write(options.folder, drawn)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        status, output = execute(
            [str(options.bin / "fusion-compile"), str(source), "-o",
             str(source.with_suffix(".fpk")), *target_options(options),
             f"--ledger={scratch / 'ledger.json'}",
             f"--dump-phases-to={scratch}"],
            options.seconds_to_compile, MEGABYTES)
        row["compile_ms"] = round(1e3 * (time.perf_counter() - start))
        if status != 0:
            outcome = classify(status, output, drawn.mlir)
            row["error"] = f"{outcome.label}: {outcome.message}"[:1000]
            return row
        ledger = json.loads((scratch / "ledger.json").read_text())
        (schedule,) = scratch.glob("*-schedule.mlir")
        row["schedules"] = find_schedules(schedule.read_text())
    function, = ledger["functions"]
    row["predicted_us"] = function["time_after_ns"] / 1e3
    row["kernels"] = [
        {"name": kernel["name"], "bound": kernel["bound"],
         "predicted_us": kernel["time_ns"] / 1e3,
         "dram_bytes": kernel["dram_bytes"]} for kernel in function["kernels"]]
    row["spills"] = {  # Bytes, of kernels that ptxas had to spill in.
        kernel["entry"]: kernel["measured"]["spill_bytes"]
        for kernel in ledger.get("kernels", [])
        if kernel["measured"]["spill_bytes"] > 0}
    if options.sweep:
        try:
            row["sweep"] = sweep(row, options)
        except RuntimeError as error:
            row["error"] = f"another schedule: {error}"[:1000]
    return row


def output_of(command, options):
    """What a tool prints. Raises RuntimeError with its first error."""
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True,
                              text=True, stdin=subprocess.DEVNULL,
                              timeout=options.seconds_to_compile)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{pathlib.Path(command[0]).name}: no result "
                           f"within {options.seconds_to_compile:g} s") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise RuntimeError(([one for one in lines if "error:" in one] or lines)[0])
    return done.stdout


def choose(schedules, most):
    """Positions of up to `most` different schedules: the choice, and others
    from the fastest to the slowest."""
    seen, distinct = set(), []
    for number, one in enumerate(schedules):
        if one["schedule"] not in seen:
            seen.add(one["schedule"])
            distinct.append(number)
    if len(distinct) <= most:
        return distinct
    step = (len(distinct) - 1) / max(most - 1, 1)
    return sorted({distinct[round(i * step)] for i in range(most)})


def sweep(row, options):
    """Packages of a program of one kernel under other schedules than the
    choice: [{stem, schedule, predicted_us}], the fastest first."""
    source = options.folder / f"{row['stem']}.mlir"
    target = f"target={options.target}"
    with tempfile.TemporaryDirectory() as scratch:
        plan = pathlib.Path(scratch) / "plan.mlir"
        chosen = pathlib.Path(scratch) / "chosen.mlir"
        printed = output_of(
            [options.bin / "fusion-opt", source, f"--fusion-to-plan={target}",
             f"--fusion-schedule-print-prices={target}", "-o", plan], options)
        kernels = [json.loads(line) for line in printed.splitlines()]
        if len(kernels) != 1:
            return []
        schedules = [one for one in kernels[0]["schedules"]
                     if one["seconds"] <= options.sweep_until *
                     kernels[0]["schedules"][0]["seconds"]]
        variants = []
        for number in choose(schedules, options.sweep + 1)[1:]:
            name = f"{row['stem']}@{number}"
            output_of([options.bin / "fusion-opt", plan,
                       f"--fusion-schedule-select={target} "
                       f"candidate={number}", "-o", chosen], options)
            output_of([options.bin / "fusion-compile", chosen,
                       f"--target={options.target}", "-o",
                       options.folder / f"{name}.fpk"], options)
            schedule = schedules[number]["schedule"].replace("#fusion.", "")
            variants.append({
                "stem": name, "schedule": schedule[len("schedule<"):-1],
                "predicted_us": 1e6 * schedules[number]["seconds"]})
    return variants


def in_parallel(work, items, jobs):
    """Results of `work` in the order of the items, as many at a time."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(work, items)


def build(programs, options):
    """Compiles programs into options.folder; returns the rows."""
    options.folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for row in in_parallel(lambda d: compile_one(d, options), programs,
                           options.jobs):
        rows.append(row)
        if "error" in row:
            print(f"{row['name']}: does not compile: {row['error']}",
                  flush=True)
    path = options.folder / "manifest.json"
    path.write_text(json.dumps({"target": options.target, "rows": rows},
                               indent=1) + "\n")
    return rows


def integer_range(drawn):
    """Of random integers: labels are those of a class."""
    classes = [scale for _, _, draw, scale in drawn.inputs if draw == "labels"]
    return [f"--int-range=0:{int(classes[0]) - 1}"] if classes else []


def emulate(drawn, options):
    """What the emulator and the compiler's float64 reference say: a row."""
    source = write(options.folder, drawn)
    status, output = execute(
        [str(options.bin / "fusion-run"), str(source), "--device=emulator",
         "--random", "--verify", f"--target={options.target}",
         *integer_range(drawn)], options.seconds_to_compile, MEGABYTES)
    outcome = classify(status, output, drawn.mlir)
    row = {"name": drawn.name, "description": drawn.description,
           "outcome": outcome.label}
    if outcome.kind != "verified":
        row["error"] = outcome.message[:1000]
    return row


def default_bin():
    root = pathlib.Path(__file__).resolve().parents[3]
    return root / "build" / "bin"


def default_jobs():
    return os.cpu_count() or 1
