#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles random programs, runs them and compares with the reference.

    run.py [--count=N | --minutes=N] [--seed=TEXT] [--jobs=N] [--bin=FOLDER]
           [--out=FOLDER] [--device=emulator|cuda] [--family=NAME] [--allow=N]
    run.py --program=SEED             print the program of one seed
    run.py --validate --count=N       ask fusion-opt whether they are valid
    run.py FILE.mlir ... [--pending=LIST]
                                      run these programs, and compare with the
                                      outcome that each names; LIST has those
                                      that do not end so yet

A program is a function of its seed alone, TEXT/NUMBER. Those whose outcome is
not expected are written to FOLDER, each with the command and the outcome on
top; the exit status is 1 if there are more than allowed. What may be refused is
listed in limits.py. Needs Python 3 and the binaries, nothing else.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import re
import resource
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import generator  # noqa: E402
from outcomes import (MEANINGS, ORDER, Runner, execute,  # noqa: E402
                      find_tool, meets)

# Programs whose results cancel to nothing, or nearly, cannot be judged. Where
# they are more than these, the reference has become too careful to be of use.
NOT_CHECKED_SHARE = 0.08

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
    parser.add_argument("--validate", action="store_true",
                        help="verify the programs with fusion-opt, no more")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(),
                        metavar="N")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"),
                        metavar="FOLDER", help="where fusion-run is")
    parser.add_argument("--out", default="fuzz-out", metavar="FOLDER",
                        help="where programs with a finding go")
    parser.add_argument("--device", default="emulator")
    parser.add_argument("--verify", default="reference",
                        choices=("reference", "payload"),
                        help="what results are compared with")
    parser.add_argument("--family", choices=sorted(generator.FAMILIES))
    parser.add_argument("--timeout", type=float, default=60, metavar="SECONDS",
                        help="of one program")
    parser.add_argument("--memory", type=int, default=4096, metavar="MIB",
                        help="of one program")
    parser.add_argument("--allow", type=int, default=0, metavar="N",
                        help="findings that do not fail the run; all are "
                        "printed")
    parser.add_argument("--results", metavar="F.json",
                        help="write one test per program, as lit does")
    parser.add_argument("--pending", metavar="LIST",
                        help="names of programs that fail as yet, one a line")
    parser.add_argument("--option", action="append", default=[],
                        metavar="TEXT", help="pass on to fusion-run")
    return parser.parse_args(arguments)


class Campaign:
    """Counts outcomes and keeps the programs with a finding."""

    def __init__(self, options):
        self.options = options
        self.runner = Runner(options.bin, options.device, options.timeout,
                             options.memory, options.option, options.verify)
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
        if outcome.expected:
            self.tests.append({"name": f"fuzz :: {name}", "code": "PASS"})
            return
        if outcome.kind == "not-checked":
            self.tests.append({"name": f"fuzz :: {name}", "code": "SKIPPED"})
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

    def fails(self):
        """More findings than allowed, or too much that was not checked."""
        total = sum(self.kinds.values())
        return (len(self.findings) > self.options.allow or
                self.kinds["not-checked"] > 1 + NOT_CHECKED_SHARE * total)

    def get_tests(self):
        """One test a program, as lit writes them."""
        code = "FAIL" if self.fails() else "SKIPPED"
        findings = [{"name": f"fuzz :: {name}", "code": code}
                    for name, _ in self.findings]
        if self.fails() and not findings:
            findings = [{"name": "fuzz :: not checked", "code": "FAIL"}]
        return self.tests + findings

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
            print(f"  limit or known defect {limit} ({number})")
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


def validate(options):
    """Has fusion-opt verify programs, many at a time."""
    tool = find_tool(options.bin, "fusion-opt")
    seeds = list(seeds_of(options))

    def verify(part):
        texts = [generator.generate(seed, options.family).file_text()
                 for seed in part]
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write("\n// -----\n".join(texts))
            file.flush()
            _, output = execute([tool, "--split-input-file", file.name, "-o",
                                 os.devnull], 600)
        lines = [text.count("\n") + 2 for text in texts]
        invalid = {}
        for match in re.finditer(r":(\d+):\d+: error: (.*)", output):
            at, number = int(match[1]), 0
            while at > lines[number]:
                at -= lines[number]
                number += 1
            invalid.setdefault(part[number], match[2])
        return invalid

    parts = [seeds[i:i + 200] for i in range(0, len(seeds), 200)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        invalid = {seed: message for result in pool.map(verify, parts)
                   for seed, message in result.items()}
    for seed, message in invalid.items():
        print(f"invalid: {seed}: {message}")
    print(f"{len(seeds) - len(invalid)} valid, {len(invalid)} not")
    return 1 if invalid else 0


def read_pending(path):
    """Names of programs; what follows a # on a line is the reason."""
    if not path:
        return set()
    with open(path, encoding="utf-8") as file:
        names = [line.split("#")[0].strip() for line in file]
    return {name for name in names if name}


def run_corpus(runner, options):
    """Runs files: each has to end as it says, or to be pending."""
    pending = read_pending(options.pending)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(runner.run_expecting, options.files)
        for path, (outcome, kind, code) in zip(options.files, results):
            name = os.path.basename(path)
            good = meets(outcome, kind, code)
            waits = name in pending
            if good and waits:
                print(f"right at last: {name}; take it from {options.pending}")
            elif not good:
                failed += not waits
                print(f"{'pending' if waits else 'FAILED'}: {name}: wanted "
                      f"{kind} {code}".rstrip() + f", got {outcome.label}: "
                      f"{outcome.message[:160]}")
    print(f"{len(options.files)} programs, {failed} failed, "
          f"{len(pending)} pending")
    return 1 if failed else 0


def main(arguments):
    options = parse_arguments(arguments)
    if options.program:
        print(generator.generate(options.program, options.family).file_text(),
              end="")
        return 0
    if options.validate:
        return validate(options)
    campaign = Campaign(options)
    begin = time.time()
    if options.files:
        return run_corpus(campaign.runner, options)
    run_seeds(campaign, options)
    campaign.report(time.time() - begin)
    if options.results:
        with open(options.results, "w", encoding="utf-8") as file:
            json.dump({"tests": campaign.get_tests()}, file)
    return 1 if campaign.fails() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
