#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asks whether wrong compilers are found by `fusion-run --random --verify`.

    mutate_compiler.py [--folder=FOLDER] [--build=FOLDER]   build, then run
    mutate_compiler.py --build-only [--folder=FOLDER]       build
    mutate_compiler.py --bin=FOLDER                         run what was built
    mutate_compiler.py --check          only see that every edit finds its place

All mutants of mutants.py are in one build of a copy of the tree, and chosen by
the environment (schemata.py). Programs are those of the repository and random
ones; a mutant is run on those that reach its place, quick ones first, until one
that is verified without the fault ends otherwise: a wrong output, a refusal, a
crash. 'Not checked' finds nothing. One that no program finds is run on the
tests of passes, which are IR and what FileCheck finds in it. Running needs
Python 3 and fusion-run; fusion-opt and FileCheck for the tests.

Prints a line for each mutant, then 'mutants: N, found: N, N by tests of passes
alone'; exits with 1 if one that must be found is not, or a price is. See
docs/TestingGuide.md.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import generator  # noqa: E402
import mutants  # noqa: E402
import schemata  # noqa: E402
from outcomes import Runner, classify, execute, read_options  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Of a program without a fault; with one it may take this and twice its time.
LIMIT_SECONDS = 30
MEGABYTES = 4096


class Program:
    """A file, the options to run it with, and what it did without a fault."""

    def __init__(self, name, path, options):
        self.name, self.path, self.options = name, str(path), options
        self.seconds = 0.0
        self.reached = frozenset()

    def get_command(self, runner):
        return runner.command(self.path, self.options)


class PassTest(Program):
    """A test of a pass: a command line of fusion-opt and FileCheck."""

    def __init__(self, path, line, checker):
        super().__init__(str(path.relative_to(ROOT)), path, [])
        self.line = line.replace("%s", shlex.quote(self.path)).replace(
            "| FileCheck", f"| {shlex.quote(checker)}")

    def get_command(self, runner):
        folder = os.path.dirname(runner.tool)
        return ["bash", "-o", "pipefail", "-c",
                f"PATH={shlex.quote(folder)}:$PATH\n{self.line}"]


def read_runs(path):
    """The options of each line of a test that runs its own program with
    --verify, one after the other."""
    text = re.sub(r"\\\n// RUN:", "", path.read_text())
    for command in re.findall(r"// RUN:\s+fusion-run %s (.*)", text):
        words = command.split("|")[0].split(">")[0].split()
        if "--verify" in words and not any("%" in w for w in words):
            yield [word for word in words if word.startswith("--") and word
                   not in ("--verify", "--random", "--device=emulator")]


def find_checker(build):
    """FileCheck on the path or of the LLVM that `build` is configured with."""
    cache = build / "CMakeCache.txt"
    match = cache.exists() and re.search(r"^LLVM_DIR:\w+=(.*)/lib/cmake/llvm$",
                                         cache.read_text(), re.MULTILINE)
    return shutil.which("FileCheck") or (
        match and shutil.which("FileCheck", path=match[1] + "/bin"))


def find_pass_tests(checker):
    """Tests whose only line runs passes and looks at what they leave."""
    for path in sorted((ROOT / "test").rglob("*.mlir")):
        text = re.sub(r"\\\n// RUN:", "", path.read_text())
        lines = re.findall(r"// RUN: (.*)", text)
        if len(lines) == 1 and re.fullmatch(
                r"fusion-opt (?:[^%|]|%s)*\| FileCheck (?:[^%|]|%s)*", lines[0]):
            yield PassTest(path, lines[0], checker)


def find_programs(folder, count, seed):
    """The examples, the tests that verify, the corpus, and random programs."""
    programs = [Program(path.name, path, ["--seed=1"])
                for path in sorted((ROOT / "docs/examples").glob("*.mlir"))]
    for path in sorted((ROOT / "test").rglob("*.mlir")):
        if path.parent.name == "Inputs":
            text = path.read_text()
            if text.startswith("// fuzz:"):
                programs.append(Program(path.name, path, read_options(text)))
            continue
        programs += [Program(path.name, path, options)
                     for options in read_runs(path)]
    for number in range(count):
        name = f"{seed}/{number}"
        path = pathlib.Path(folder) / f"{number}.mlir"
        text = generator.generate(name).file_text()
        path.write_text(text)
        programs.append(Program(name, path, read_options(text)))
    return programs


class Trial:
    """Runs programs on fusion-run with or without a fault."""

    def __init__(self, binaries, folder):
        self.runner = Runner(str(binaries))
        self.folder = pathlib.Path(folder)

    def run(self, program, seconds, **environment):
        command = program.get_command(self.runner)
        status, output = execute(command, seconds, MEGABYTES,
                                 {**os.environ, **environment})
        return classify(status, output, pathlib.Path(program.path).read_text())

    def run_plain(self, program):
        """Whether a program is verified without a fault. Notes how long it
        takes and which places it reaches."""
        with tempfile.NamedTemporaryFile("r", dir=self.folder) as trace:
            begin = time.time()
            outcome = self.run(program, LIMIT_SECONDS,
                               FUSION_MUTANT_TRACE=trace.name)
            program.seconds = time.time() - begin
            program.reached = frozenset(trace.read().split())
        return outcome.kind == "verified"

    def run_mutant(self, mutant, program):
        """The outcome that finds the mutant, or None."""
        outcome = self.run(program, LIMIT_SECONDS + 2 * program.seconds,
                           FUSION_MUTANT=mutant.name)
        if outcome.kind in ("verified", "not-checked"):
            return None
        # What a program demands of planning may depend on prices, as does what
        # a pass leaves.
        if mutant in mutants.PRICES and (outcome.expected or
                                         isinstance(program, PassTest)):
            return None
        return outcome


def run_mutants(trial, reaching, jobs, report):
    """Runs each mutant on the programs that `reaching` has for it, in order,
    and calls `report` with each that is found, the program and the outcome.
    Takes one program of every mutant, then the next of those not found yet."""
    longest = max(map(len, reaching.values()), default=0)
    queue = collections.deque(
        (mutant, programs[i]) for i in range(longest)
        for mutant, programs in reaching.items() if i < len(programs))
    found, running = set(), {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        while queue or running:
            while queue and len(running) < jobs:
                mutant, program = queue.popleft()
                if mutant not in found:
                    task = pool.submit(trial.run_mutant, mutant, program)
                    running[task] = (mutant, program)
            done, _ = concurrent.futures.wait(
                running, return_when=concurrent.futures.FIRST_COMPLETED)
            for task in done:
                mutant, program = running.pop(task)
                if task.result() and mutant not in found:
                    found.add(mutant)
                    report(mutant, program, task.result())


class Report:
    """Says what found each mutant, as soon as that is known."""

    def __init__(self, reaching):
        self.reaching = reaching
        self.found = {}

    def add(self, mutant, program, outcome):
        is_pass = isinstance(program, PassTest)
        label = "fails" if is_pass else outcome.label
        self.found[mutant] = {"program": program.name,
                              "options": program.options,
                              "outcome": label, "pass": is_pass}
        message = "" if is_pass else f": {outcome.message}"
        self.say(mutant, f"{program.name}: {label}{message}",
                 mutant in mutants.PRICES)

    @staticmethod
    def say(mutant, what, wrong):
        print(f"{mutant.name:30} {what[:160]}{'  <== wrong' if wrong else ''}",
              flush=True)

    def finish(self):
        """Lists the survivors, and returns whether all is as it should be."""
        for mutant, programs in self.reaching.items():
            if mutant not in self.found:
                self.say(mutant, f"not found by the {len(programs)} programs "
                         "that reach it", mutant not in mutants.PRICES)
        wanted = [m for m in self.reaching if m not in mutants.PRICES]
        found = sum(mutant in self.found for mutant in wanted)
        alone = sum(self.found[mutant]["pass"] for mutant in wanted
                    if mutant in self.found)
        print(f"mutants: {len(wanted)}, found: {found}, {alone} by tests of "
              "passes alone")
        return found == len(wanted) == len(self.found)

    def write(self, path):
        path.write_text(json.dumps(
            {mutant.name: {"reached": len(programs),
                           **self.found.get(mutant, {})}
             for mutant, programs in self.reaching.items()}, indent=1))


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--build", default=ROOT / "build", type=pathlib.Path,
                        metavar="FOLDER",
                        help="the build to be configured like")
    parser.add_argument("--folder", default=ROOT / "build" / "mutants",
                        type=pathlib.Path, metavar="FOLDER",
                        help="where the copy is built")
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--bin", metavar="FOLDER",
                        help="where a fusion-run with mutants is")
    parser.add_argument("--only", default="", metavar="REGEX",
                        help="names of mutants to run")
    parser.add_argument("--count", type=int, default=300, metavar="N",
                        help="random programs beside those of the repository")
    parser.add_argument("--seed", default="1", metavar="TEXT")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(),
                        metavar="N")
    parser.add_argument("--results", metavar="F.json",
                        type=pathlib.Path,
                        help="write what found each mutant")
    return parser.parse_args(arguments)


def main(arguments):
    options = parse_arguments(arguments)
    everyone = mutants.MUST_BE_FOUND + mutants.PRICES
    if options.check:
        schemata.plant_all(ROOT, everyone)
        print(f"mutants: {len(mutants.MUST_BE_FOUND)}, "
              f"prices: {len(mutants.PRICES)}")
        return 0
    binaries = options.bin or schemata.build(ROOT, options.build,
                                             options.folder, everyone)
    if options.build_only:
        print(binaries)
        return 0
    chosen = [m for m in everyone if re.search(options.only, m.name)]
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(binaries, folder)
        programs = find_programs(folder, options.count, options.seed)
        checker = find_checker(options.build)
        if checker:
            programs += find_pass_tests(checker)
        else:
            print("no FileCheck: tests of passes are not run", flush=True)
        total = len(programs)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            verified = list(pool.map(trial.run_plain, programs))
        programs = [p for p, right in zip(programs, verified) if right]
        # Tests of passes come last: programs say more.
        programs.sort(key=lambda p: (isinstance(p, PassTest), p.seconds))
        print(f"{len(programs)} of {total} programs and tests are right "
              "without a fault", flush=True)
        report = Report({m: [p for p in programs if m.name in p.reached]
                         for m in chosen})
        run_mutants(trial, report.reaching, options.jobs, report.add)
    right = report.finish()
    if options.results:
        report.write(options.results)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
