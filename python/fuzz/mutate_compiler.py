#!/usr/bin/env python3
"""Asks whether wrong compilers are found: builds each mutant of mutants.py and
runs programs on it with `fusion-run --random --verify`.

A mutant is found when the compiler or the check refuses a program that passes
without the fault; mutants of prices must not be found. The tree must be built,
and its files of lib/ unchanged: each is put back after its mutant. Prints a line
for each mutant and ends with 'mutants: N, found: N'; exits with 1 if one that
must be found is not, or one of a price is.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

import mutants

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ["docs/examples/*.mlir", "test/Pipelines/run/*.mlir",
            "test/Fuzz/programs/*.mlir"]
LIMIT_SECONDS = 120


def run_program(tool, program, extra=()):
    """The first line that says what is wrong with `program`, or ''."""
    command = [tool, program, "--device=emulator", "--random", "--verify",
               *extra]
    try:
        done = subprocess.run(command, capture_output=True, text=True,
                              timeout=LIMIT_SECONDS)
    except subprocess.TimeoutExpired:
        return f"takes more than {LIMIT_SECONDS} s"
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stderr.splitlines() if "error" in line]
    return lines[0] if lines else f"ends with status {done.returncode}"


def find_programs(tool, folder, count, seed, jobs):
    """The programs that pass without a fault, quick ones first."""
    programs = sorted(path for pattern in PROGRAMS
                      for path in ROOT.glob(pattern))
    if count:
        subprocess.run([sys.executable, ROOT / "python/fuzz/run.py",
                        f"--generate={folder}", f"--count={count}",
                        f"--seed={seed}"], check=True)
        programs += sorted(pathlib.Path(folder).glob("*.mlir"))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        errors = list(pool.map(lambda path: run_program(tool, path), programs))
    return [path for path, error in zip(programs, errors) if not error]


def find_fault(tool, programs, jobs):
    """(program, what is wrong) for the first program that fails, or None."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        tasks = {pool.submit(run_program, tool, path): path
                 for path in programs}
        try:
            for task in concurrent.futures.as_completed(tasks):
                if task.result():
                    return tasks[task], task.result()
        finally:
            pool.shutdown(cancel_futures=True)
    return None


def build(folder):
    return subprocess.run(["cmake", "--build", folder, "--target", "fusion-run"],
                          capture_output=True, text=True)


def judge(mutant, options, programs):
    """Builds one mutant, runs the programs, and puts its file back."""
    path = ROOT / mutant.path
    text = path.read_text()
    if text.count(mutant.before) != 1:
        raise SystemExit(f"{mutant.name}: its text is {text.count(mutant.before)}"
                         f" times in {mutant.path}")
    try:
        path.write_text(text.replace(mutant.before, mutant.after))
        built = build(options.build)
        if built.returncode:
            raise SystemExit(f"{mutant.name} does not build:\n{built.stdout}")
        return find_fault(f"{options.build}/bin/fusion-run", programs,
                          options.jobs)
    finally:
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", default=str(ROOT / "build"),
                        help="the build folder, which is left rebuilt")
    parser.add_argument("--only", default="", help="part of the names to run")
    parser.add_argument("--count", type=int, default=200,
                        help="random programs beside those of the repository")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()

    if build(options.build).returncode:
        raise SystemExit("the tree does not build")
    with tempfile.TemporaryDirectory() as folder:
        tool = f"{options.build}/bin/fusion-run"
        programs = find_programs(tool, folder, options.count, options.seed,
                                 options.jobs)
        print(f"{len(programs)} programs", flush=True)
        found = missed = total = 0
        for mutant in mutants.MUST_BE_FOUND + mutants.PRICES:
            if options.only not in mutant.name:
                continue
            fault = judge(mutant, options, programs)
            wanted = mutant in mutants.MUST_BE_FOUND
            total += wanted
            found += wanted and fault is not None
            missed += wanted == (fault is None)
            what = f"{fault[0].name}: {fault[1]}" if fault else "nothing found"
            mark = "" if wanted == (fault is not None) else "  <== wrong"
            print(f"{mutant.name:32} {what[:150]}{mark}", flush=True)
        build(options.build)
    print(f"mutants: {total}, found: {found}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
