# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the programs of a calibration under several schedules each.

A folder holds a package for each schedule, and in manifest.json what the cost
model says of it: the terms of its time and how they follow the constants.
"""

import json
import pathlib
import tempfile

from drawing.build import choose, in_parallel, output_of

# Of the folder. Grows when what a manifest holds gets another meaning.
FORMAT = 2


def read_constants(options):
    """The file of the constants that the compiler has of the chip."""
    return json.loads(output_of(
        [options.bin / "fusion-doctor", f"--target-file={options.target}"],
        options))


def compile_probe(probe, options):
    """[variant] of a program, or an explanation why there is none."""
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        source, plan = scratch / "program.mlir", scratch / "plan.mlir"
        source.write_text(probe.mlir)
        target = f"target={options.target}"
        printed = output_of(
            [options.bin / "fusion-opt", source, f"--fusion-to-plan={target}",
             f"--fusion-schedule-print-prices={target}", "-o", plan], options)
        kernels = [json.loads(line) for line in printed.splitlines()]
        if len(kernels) != 1 or not kernels[0]["schedules"]:
            return f"{len(kernels)} kernels, of which one has to have schedules"
        schedules = kernels[0]["schedules"]
        variants = []
        for number in choose(schedules, options.most):
            chosen = scratch / f"{number}.mlir"
            name = f"{probe.name}@{number}"
            output_of([options.bin / "fusion-opt", plan,
                       f"--fusion-schedule-select={target} "
                       f"candidate={number}", "-o", chosen], options)
            output_of([options.bin / "fusion-compile", chosen,
                       f"--target={options.target}", "-o",
                       options.folder / f"{name}.fpk"], options)
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
