#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks and times packages of matrix products and convolutions beside peers.

    build_tensorcore.py --output=DIR …      (any machine with the compiler)
    tensorcore_bench.py --packages=DIR|FILE.tar.xz [--only=REGEX]
        [--peers=bare,fused,eager,compile] [--library=libfusion-rt.so]
        [--json=FILE] [--markdown=FILE] [--check-only] [--second-timer]
        [--budget=SECONDS] [--limit=SECONDS] [--device=cuda|emulator]

For each package: fresh random inputs, outputs filled with NaN, two runs that
must agree bit by bit, and every element compared with float64. Then package and
peers take turns, each call replayed from a CUDA graph with the L2 cache
flushed, median of --repeat. A result that does not compare is printed as WRONG
and has no time. The packages of a sweep (several a case) are timed together and
the table gives the best of them and what the compiler's own choice loses.

The work is done by a second process: a kernel that hangs or breaks the context
costs one row and --limit seconds, not the run. No case is begun when --budget
is used up. --device=emulator checks small cases without a GPU, on the CPU's
PyTorch, and times nothing. The exit status is 0 only when every result was
right.
"""

import argparse
import datetime
import json
import pathlib
import re
import sys
import tarfile
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from tensorcore import cases, tables  # noqa: E402
from tensorcore.workers import Worker  # noqa: E402


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--packages", type=pathlib.Path, required=True,
                        help="directory or archive of build_tensorcore.py")
    parser.add_argument("--library", type=pathlib.Path,
                        help="libfusion-rt.so, when not found by itself")
    parser.add_argument("--only", default="", metavar="REGEX")
    parser.add_argument("--skip", default="^$", metavar="REGEX")
    parser.add_argument("--peers", default="bare,fused",
                        type=lambda s: [p for p in s.split(",") if p],
                        help="any of bare, fused, eager, compile; '' for none")
    parser.add_argument("--device", default="cuda",
                        choices=("cuda", "emulator"))
    parser.add_argument("--check-only", action="store_true",
                        help="right or wrong, no times")
    parser.add_argument("--second-timer", action="store_true",
                        help="also time calls back to back, without a flush")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--markdown", type=pathlib.Path,
                        help="the table, for documentation")
    parser.add_argument("--budget", type=float, default=500,
                        help="seconds after which no case is begun")
    parser.add_argument("--limit", type=float,
                        help="seconds for one answer of the worker, which is "
                             "killed after them; 20, or 120 with compile among "
                             "the peers or on the emulator")
    options = parser.parse_args()
    if options.limit is None:
        slow = "compile" in options.peers or options.device == "emulator"
        options.limit = 120 if slow else 20
    return options


def unpacked(path, directory):
    """The directory of packages, out of an archive if it is one."""
    if path.is_dir():
        return path
    with tarfile.open(path) as archive:
        archive.extractall(directory, filter="data")
    return pathlib.Path(directory)


def grouped(manifest, options):
    """[(Case, [entries])] of the cases that are asked for."""
    groups = {}
    for entry, case in manifest:
        if (re.search(options.only, entry["package"])
                and not re.search(options.skip, entry["package"])):
            groups.setdefault(case, []).append(entry)
    return list(groups.items())


def failed_rows(case, entries, note):
    return [{"package": e["package"], "case": case.to_json(), "right": False,
             "note": note} for e in entries]


def run_case(worker, case, entries, options):
    """One row for each package of the case."""
    rows = []
    for entry in entries:
        if "error" in entry:
            rows += failed_rows(case, [entry], "not compiled: "
                                + entry["error"].splitlines()[0])
    pending = [e for e in entries if "error" not in e]
    while pending:
        answer = worker.ask({"case": case.to_json(),
                             "packages": [e["package"] for e in pending]},
                            options.limit)
        done = answer["rows"]
        for entry, row in zip(pending, done):
            row.update({key: entry[key] for key in
                        ("schedules", "kernels", "default", "rank") if key in entry})
        rows += done
        pending = pending[len(done):]
        if "failure" in answer and pending:
            # The package that was running when the worker died.
            rows += failed_rows(case, pending[:1], answer["failure"])
            pending = pending[1:]
        elif "failure" in answer:
            for row in done:
                if row["right"] and "us" not in row:
                    row.update(right=False, note=answer["failure"])
    return rows


def main():
    options = parse_arguments()
    begun = time.monotonic()
    seed = options.seed if options.seed is not None else int(time.time())
    with tempfile.TemporaryDirectory() as temporary:
        directory = unpacked(options.packages, temporary)
        try:
            groups = grouped(cases.read_manifest(directory), options)
        except FileNotFoundError as error:
            print(f"tensorcore_bench.py: error: {error.filename} is missing\n"
                  "  remedy: --packages is what build_tensorcore.py wrote",
                  file=sys.stderr)
            return 2
        worker = Worker({
            "packages": str(directory), "device": options.device, "seed": seed,
            "library": str(options.library) if options.library else None,
            "peers": [] if options.check_only else options.peers,
            "timed": not options.check_only and options.device == "cuda",
            "second_timer": options.second_timer, "repeat": options.repeat})
        report = {"date": datetime.datetime.now(
            datetime.timezone.utc).isoformat(timespec="seconds"),
            "argv": sys.argv[1:], "seed": seed, "rows": []}
        try:
            machine = worker.start()
            if "error" in machine:
                print(f"tensorcore_bench.py: error: {machine['error']}",
                      file=sys.stderr)
                return 2
            report["machine"] = machine
            table = tables.Table(options, machine)
            table.head()
            left = 0
            for case, entries in groups:
                if time.monotonic() - begun > options.budget:
                    left += 1
                    continue
                rows = run_case(worker, case, entries, options)
                report["rows"] += rows
                table.add(case, rows)
                if options.json:  # So that a cut run leaves its rows.
                    options.json.write_text(json.dumps(report) + "\n")
        finally:
            worker.stop()
    table.summarize()
    if options.markdown:
        options.markdown.write_text(table.markdown())
    print(f"{time.monotonic() - begun:.0f} s"
          + (f"; {left} cases not begun, the budget was used up" if left
             else ""))
    return 0 if not left and all(row["right"] for row in report["rows"]) else 1


if __name__ == "__main__":
    sys.exit(main())
