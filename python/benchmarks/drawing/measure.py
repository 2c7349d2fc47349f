# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a folder of compiled programs on the GPU of this machine."""

import importlib.util
import os
import pathlib
import subprocess
import sys
import time

from tensorcore.workers import Worker

from .draws import Drawn

WORKER = pathlib.Path(__file__).resolve().parent / "worker.py"
FIELDS = Drawn.__dataclass_fields__


def interleaved(rows):
    """One program of each family after the other, so that a run that is cut
    has some of every family."""
    return sorted(rows, key=lambda row: int(row["name"].rsplit("/", 1)[1]))


def warm(options, environment):
    """Has several processes compile what torch.compile makes of the programs
    into Inductor's cache, within options.seconds_to_warm."""
    for mark in options.folder.glob("*.warm"):
        mark.unlink()
    limit = time.monotonic() + options.seconds_to_warm
    processes = [subprocess.Popen([sys.executable, str(WORKER), "warm",
                                   str(options.folder)], env=environment)
                 for _ in range(options.jobs)]
    for process in processes:
        try:
            process.wait(max(limit - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def run(rows, options, report):
    """Checks and times the programs. `report(row)` gets each row, completed;
    returns what is known of the machine."""
    environment = {**os.environ,
                   "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    if options.library:
        environment["FUSION_RT_LIBRARY"] = str(options.library.resolve())
    environment.setdefault("TORCHINDUCTOR_CACHE_DIR",
                           str(options.folder.resolve() / "inductor"))
    os.environ.update(environment)
    if importlib.util.find_spec("torch") is None:
        return {"error": "PyTorch is not installed; remedy: pip install torch"}
    worker = Worker({"folder": str(options.folder), "peers": options.peers,
                     "repeat": options.repeat,
                     "seconds_to_time": options.seconds_to_time}, WORKER)
    begin = time.monotonic()
    machine = worker.start()  # Measures rates, so nothing else may run.
    if "error" in machine:
        return machine
    if "compile" in options.peers and options.seconds_to_warm:
        warm(options, environment)
        print(f"torch.compile's kernels after {time.monotonic() - begin:.0f} s",
              flush=True)
    try:
        for row in interleaved(rows):
            report(complete(row, ask(row, worker, options, begin), machine))
    finally:
        worker.stop()
    return machine


def ask(row, worker, options, begin):
    if "error" in row:
        return {"right": False, "note": f"does not compile: {row['error']}"}
    if options.seconds and time.monotonic() - begin > options.seconds:
        return {"right": False, "left_out": True,
                "note": f"not run: {options.seconds:.0f} s are over"}
    answer = worker.ask({"name": row["name"]}, options.seconds_a_program)
    if "failure" in answer:
        return {"right": False, "note": answer["failure"]}
    return answer["rows"][0]


def complete(row, found, machine):
    """The row with what was found, its floor and its ratios."""
    drawn = Drawn(**{key: row[key] for key in FIELDS})
    row = {**row, **found}
    moved = drawn.floor_bytes(machine["chip_mb"] * 1e6)
    rate = machine[f"{'f32' if drawn.flop_type == 'f32' else 'bf16'}"
                   "_tflop_per_s"] * 1e12
    row["floor_us"] = 1e6 * max(moved / (machine["copy_tb_per_s"] * 1e12),
                                drawn.flops / rate)
    row["bytes"] = drawn.bytes
    mine = row.get("fusion_us")
    peers = [row[f"{peer}_us"] for peer in ("eager", "compile")
             if row.get(f"{peer}_us")]
    if mine:
        row["over_floor"] = mine / row["floor_us"]
        row["over_launch"] = mine / (row["floor_us"] + machine["launch_us"])
        row["prediction"] = row["predicted_us"] / mine
        if row.get("sweep"):
            best = min(one["us"] for one in row["sweep"])
            row["over_best"] = mine / min(best, mine)
        if peers:
            row["speed"] = min(peers) / mine
        if row.get("compile_us"):
            row["speed_over_compile"] = row["compile_us"] / mine
    return row
