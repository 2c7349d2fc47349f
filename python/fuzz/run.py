#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles random programs, runs them and compares with the reference.

    run.py [--count=N | --minutes=N] [--seed=TEXT] [--jobs=N] [--bin=FOLDER]
           [--out=FOLDER] [--device=emulator|cuda] [--family=NAME]
    run.py --program=SEED             print the program of one seed
    run.py FILE.mlir ...              run these programs

A program is a function of its seed alone, TEXT/NUMBER. Those whose outcome is
not expected are written to FOLDER, each with the command and the outcome on
top; the exit status is 1 if there are any. What may be refused is listed in
limits.py. Needs Python 3 and the binaries, nothing else.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import resource
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import generator  # noqa: E402
from outcomes import MEANINGS, ORDER, Runner  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("files", nargs="*", metavar="FILE.mlir")
    parser.add_argument("--count", type=int, default=None, metavar="N",
                        help="programs to run (300)")
    parser.add_argument("--minutes", type=float, default=None, metavar="N",
                        help="run for so long instead")
    parser.add_argument("--seed", default="0", metavar="TEXT",
                        help="any text: a number, a commit")
    parser.add_argument("--first", type=int, default=0, metavar="N",
                        help="number of the first program")
    parser.add_argument("--program", metavar="SEED",
                        help="print the program of a seed and stop")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(),
                        metavar="N")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"),
                        metavar="FOLDER", help="where fusion-run is")
    parser.add_argument("--out", default="fuzz-out", metavar="FOLDER",
                        help="where programs with a finding go")
    parser.add_argument("--device", default="emulator")
    parser.add_argument("--family", choices=sorted(generator.FAMILIES))
    parser.add_argument("--timeout", type=float, default=60, metavar="SECONDS",
                        help="of one program")
    parser.add_argument("--memory", type=int, default=4096, metavar="MIB",
                        help="of one program")
    parser.add_argument("--results", metavar="F.json",
                        help="write one test per program, as lit does")
    parser.add_argument("--option", action="append", default=[],
                        metavar="TEXT", help="pass on to fusion-run")
    return parser.parse_args(arguments)


class Campaign:
    """Counts outcomes and keeps the programs with a finding."""

    def __init__(self, options):
        self.options = options
        self.runner = Runner(options.bin, options.device, options.timeout,
                             options.memory, options.option)
        self.labels = collections.Counter()
        self.kinds = collections.Counter()
        self.limits = collections.Counter()
        self.builders = collections.Counter()
        self.findings = []
        self.tests = []

    def run_seed(self, seed):
        """Generates and runs one program."""
        program = generator.generate(seed, self.options.family)
        with tempfile.NamedTemporaryFile("w", suffix=".mlir",
                                         delete=False) as file:
            file.write(program.file_text())
        try:
            return program, self.runner.run(file.name)
        finally:
            os.unlink(file.name)

    def record(self, name, outcome, text=None, builders=()):
        self.kinds[outcome.kind] += 1
        self.labels[outcome.label] += 1
        self.builders.update(builders)
        if outcome.limit:
            self.limits[f"{outcome.code}: {outcome.limit}"] += 1
        self.tests.append({"name": f"fuzz :: {name}",
                           "code": "PASS" if outcome.expected else "FAIL"})
        if outcome.expected:
            return
        self.findings.append((name, outcome))
        where = ""
        if text:
            where = self.write(name, outcome, text)
        print(f"{outcome.label}: {name}: {outcome.message[:160]} {where}",
              flush=True)

    def write(self, name, outcome, text):
        """Keeps a program; the options stay on its first line."""
        os.makedirs(self.options.out, exist_ok=True)
        label = outcome.label.replace(" ", "-")
        path = os.path.join(self.options.out,
                            f"{label}-{name.replace('/', '-')}.mlir")
        first, rest = text.split("\n", 1)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{first}\n// seed {name}: {outcome.label}: "
                       f"{outcome.message}\n{rest}")
        return path

    def report(self, elapsed):
        total = sum(self.kinds.values())
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"\n{total} programs, {elapsed:.0f} s, "
              f"{(used.ru_utime + used.ru_stime) / max(total, 1):.2f} s of "
              "processor time each")
        for kind in ORDER:
            if not self.kinds[kind]:
                continue
            print(f"  {self.kinds[kind]:6}  {kind}: {MEANINGS[kind]}")
            for label, number in sorted(self.labels.items()):
                if label.startswith(kind + " "):
                    print(f"          {number:6}  {label[len(kind) + 1:]}")
        for limit, number in sorted(self.limits.items()):
            print(f"  limit {limit} ({number})")
        if self.findings:
            print("seeds: " + " ".join(name for name, _ in self.findings))
        print(f"{total - len(self.findings)} as expected, "
              f"{len(self.findings)} not")


def seeds_of(options):
    """The seeds to run, without end when a time is given."""
    number = options.first
    count = options.count if options.count is not None else 300
    while options.minutes is not None or number < options.first + count:
        yield f"{options.seed}/{number}"
        number += 1


def run_seeds(campaign, options):
    end = time.time() + 60 * (options.minutes or 1e9)
    seeds = seeds_of(options)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = {}
        while True:
            while len(waiting) < 2 * options.jobs and time.time() < end:
                seed = next(seeds, None)
                if seed is None:
                    break
                waiting[pool.submit(campaign.run_seed, seed)] = seed
            if not waiting:
                return
            done, _ = concurrent.futures.wait(
                waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                seed = waiting.pop(future)
                program, outcome = future.result()
                campaign.record(seed, outcome, program.file_text(),
                                program.builders)


def main(arguments):
    options = parse_arguments(arguments)
    if options.program:
        print(generator.generate(options.program, options.family).file_text(),
              end="")
        return 0
    campaign = Campaign(options)
    begin = time.time()
    if options.files:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for path, outcome in zip(options.files,
                                     pool.map(campaign.runner.run,
                                              options.files)):
                campaign.record(os.path.basename(path), outcome)
    else:
        run_seeds(campaign, options)
    campaign.report(time.time() - begin)
    if options.results:
        with open(options.results, "w", encoding="utf-8") as file:
            json.dump({"tests": campaign.tests}, file)
    return 1 if campaign.findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
