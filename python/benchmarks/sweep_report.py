#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Summarizes a sweep over schedules, and writes it for fitting a cost model.

    sweep_report.py SWEEP.json... [--top=3] [--table=TABLE.json]
    sweep_report.py --model=TABLE.json [--compiler-dir=build/bin]

Reads what tensorcore_bench.py --json wrote for the packages of a sweep. Prints,
for each case, the fastest schedules and what the compiler's own choice loses
against the best; then how far predicted time, registers and shared memory are
from the measured ones. --table writes one flat record for each schedule that
ran (case, schedule, its rank by the model, predictions, assembled resources,
microseconds, peers). On such a table --model judges a compiler without a GPU:
what the schedules it chooses now took when they were measured.
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import build_tensorcore  # noqa: E402
from tensorcore import schedules  # noqa: E402
from tensorcore.cases import Case  # noqa: E402
from tensorcore.tables import own_choice  # noqa: E402


def record(row, machine):
    """One flat dictionary for a package that ran."""
    kernels = row.get("kernels", [])
    # The kernel of the contraction is the one predicted to take longest.
    main = max(kernels, key=lambda k: k["predictedMicroseconds"], default={})
    schedule = row["schedules"][0] if row.get("schedules") else {}
    return {"case": row["case"], "name": Case.from_json(row["case"]).name,
            "device": machine["device"], "flops": row["flops"],
            "bytes": row["bytes"], "launches": row["launches"],
            "tiles": schedule.get("tiles"), "warps": schedule.get("warps"),
            "mma": schedule.get("mma"), "schedule": schedule.get("text"),
            "default": row.get("default", True), "rank": row.get("rank"),
            "predicted_us": sum(k["predictedMicroseconds"] for k in kernels),
            "predicted_registers": main.get("predictedRegisters"),
            "registers": main.get("measuredRegisters"),
            "spill_bytes": main.get("measuredSpillBytes"),
            "predicted_shared_bytes": main.get("predictedSharedBytes"),
            "shared_bytes": main.get("dynamicSharedBytes"),
            "us": row["us"], "floor_us": row["floor_us"],
            "peers_us": row["peers_us"]}


def errors(records, predicted, measured):
    """Relative errors of a prediction where both numbers are known."""
    return [abs(r[predicted] - r[measured]) / r[measured] for r in records
            if (r[predicted] or -1) >= 0 and (r[measured] or 0) > 0]


def print_errors(records):
    for what, predicted, measured in (
            ("time", "predicted_us", "us"),
            ("registers", "predicted_registers", "registers"),
            ("shared memory", "predicted_shared_bytes", "shared_bytes")):
        found = errors(records, predicted, measured)
        if found:
            print(f"predicted {what}: median error "
                  f"{statistics.median(found):.1%}, largest {max(found):.1%} "
                  f"({len(found)} schedules)")
    spilling = sum((r["spill_bytes"] or 0) > 0 for r in records)
    print(f"{spilling} of {len(records)} schedules spill registers")


def judge(options):
    """Compares the compiler's present choices with a table of times."""
    groups, losses, unknown = {}, [], []
    for entry in json.loads(options.model.read_text()):
        groups.setdefault(entry["name"], []).append(entry)
    for name, records in groups.items():
        times = {r["schedule"]: r["us"] for r in records}
        with tempfile.TemporaryDirectory() as directory:
            program = pathlib.Path(directory) / "program.mlir"
            program.write_text(
                Case.from_json(records[0]["case"]).program.text())
            text, error = build_tensorcore.scheduled(program, options)
        chosen = schedules.find(text or "")
        if not chosen or chosen[0].text() not in times:
            unknown.append(name)
            what = error or (chosen[0].tag() if chosen else "no contraction")
            print(f"{name}: not measured: {what}"[:200])
            continue
        mine, best = times[chosen[0].text()], min(times.values())
        losses.append(mine / best)
        print(f"{name}: {losses[-1]:.2f} of the best of {len(times)}, "
              f"{chosen[0].tag()}")
    print_losses(losses)
    print(f"{len(unknown)} of {len(groups)} choices were not measured")
    return 1 if unknown else 0


def print_losses(losses):
    if losses:
        print(f"\nown choice / best: geometric mean "
              f"{statistics.geometric_mean(losses):.3f}, "
              f"worst {max(losses):.2f}, "
              f"{sum(x <= 1.1 for x in losses)} of {len(losses)} within 10 %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("reports", type=pathlib.Path, nargs="*")
    parser.add_argument("--top", type=int, default=3)
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--model", type=pathlib.Path, metavar="TABLE")
    parser.add_argument("--compiler-dir", type=pathlib.Path,
                        default=HERE.parent.parent / "build" / "bin")
    parser.add_argument("--target", default="sm_90a")
    options = parser.parse_args()
    if options.model:
        return judge(options)

    groups, wrong = {}, 0
    for path in options.reports:
        report = json.loads(path.read_text())
        for row in report["rows"]:
            if row["right"] and "us" in row:
                entry = record(row, report["machine"])
                groups.setdefault(entry["name"], []).append(entry)
            else:
                wrong += 1
    losses = []
    for name, records in groups.items():
        ordered = sorted(records, key=lambda r: r["us"])
        best, own = ordered[0], own_choice(records)
        losses.append(own["us"] / best["us"])
        print(f"{name}: own choice {own['us']:.1f} us, "
              f"{losses[-1]:.2f} of the best of {len(records)}, which is "
              f"number {best['rank']} of the model")
        for r in ordered[:options.top]:
            print(f"  {r['us']:9.1f} us  {describe(r)}")
    print_losses(losses)
    if losses:
        print_errors([r for records in groups.values() for r in records])
    if wrong:
        print(f"{wrong} packages were wrong or had no time")
    if options.table:
        options.table.write_text("[\n" + ",\n".join(
            json.dumps(r) for records in groups.values() for r in records)
            + "\n]\n")
    return 1 if wrong or not losses else 0


def describe(r):
    mma = dict(r["mma"] or {"kind": "fma"})
    kind = mma.pop("kind")
    return " ".join([kind, "x".join(map(str, r["tiles"] or ())),
                     f"warps {r['warps']}",
                     *(f"{key} {value}" for key, value in mma.items()),
                     f"registers {r['registers']}"])


if __name__ == "__main__":
    sys.exit(main())
