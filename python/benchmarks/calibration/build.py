# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the programs of a calibration under several schedules each.

A folder holds a package for each schedule, and in manifest.json what the cost
model says of it: the terms of its time and how they follow the constants.
"""

import json
import pathlib
import subprocess
import tempfile

from drawing.build import in_parallel

# Of the folder. Grows when what a manifest holds gets another meaning.
FORMAT = 2


def execute(command, seconds):
    """The standard output. Raises RuntimeError with the first error."""
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True,
                              text=True, stdin=subprocess.DEVNULL,
                              timeout=seconds)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{pathlib.Path(command[0]).name}: no result "
                           f"within {seconds:g} s") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        errors = [line for line in lines if "error:" in line]
        raise RuntimeError((errors or lines)[0])
    return done.stdout


def read_constants(options):
    """The file of the constants that the compiler has of the chip."""
    return json.loads(execute(
        [options.bin / "fusion-doctor", f"--target-file={options.target}"],
        options.seconds_to_compile))


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


def compile_probe(probe, options):
    """[variant] of a program, or an explanation why there is none."""
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        source, plan = scratch / "program.mlir", scratch / "plan.mlir"
        source.write_text(probe.mlir)
        target = f"target={options.target}"
        printed = execute(
            [options.bin / "fusion-opt", source, f"--fusion-to-plan={target}",
             f"--fusion-schedule-print-prices={target}", "-o", plan],
            options.seconds_to_compile)
        kernels = [json.loads(line) for line in printed.splitlines()]
        if len(kernels) != 1 or not kernels[0]["schedules"]:
            return f"{len(kernels)} kernels, of which one has to have schedules"
        schedules = kernels[0]["schedules"]
        variants = []
        for number in choose(schedules, options.most):
            chosen = scratch / f"{number}.mlir"
            name = f"{probe.name}@{number}"
            execute([options.bin / "fusion-opt", plan,
                     f"--fusion-schedule-select={target} candidate={number}",
                     "-o", chosen], options.seconds_to_compile)
            execute([options.bin / "fusion-compile", chosen,
                     f"--target={options.target}", "-o",
                     options.folder / f"{name}.fpk"],
                    options.seconds_to_compile)
            variants.append({
                "name": name, "program": probe.name, "kind": probe.kind,
                "read_bytes": probe.read_bytes,
                "write_bytes": probe.write_bytes,
                "operations": probe.operations, **schedules[number]})
        return variants


def attempt(probe, options):
    try:
        return compile_probe(probe, options)
    except RuntimeError as error:
        return str(error)


def build(probes, options, say=print):
    """Compiles into options.folder; returns the variants and the number of
    programs that have none."""
    options.folder.mkdir(parents=True, exist_ok=True)
    constants = read_constants(options)
    variants, failed = [], 0
    for probe, found in zip(probes, in_parallel(lambda p: attempt(p, options),
                                                probes, options.jobs)):
        if isinstance(found, str):
            failed += 1
            say(f"{probe.name}: left out: {found}")
        else:
            variants += found
    (options.folder / "manifest.json").write_text(json.dumps(
        {"format": FORMAT, "constants": constants, "variants": variants},
        indent=1) + "\n")
    return variants, failed
