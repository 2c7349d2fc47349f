#!/usr/bin/env python3
# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs compiled here and run elsewhere: the emulator against a GPU.

    packages.py build FOLDER [--count=N] [--seed=TEXT] [--targets=sm_90a,...]
                             [--jobs=N] [--bin=FOLDER] [--no-bits]
    packages.py compare FOLDER [--device=cuda|emulator] [--jobs=N]
                               [--library=libfusion-rt.so] [--bin=FOLDER]
                               [--out=FOLDER]

`build` writes for each program a package, the program, and what the emulator
made of it: its outputs bit by bit, unless --no-bits leaves that to `compare`.
Inputs are a function of the seed and are not stored. `compare` needs Python 3
and libfusion-rt.so (the `runtime` preset's needs nothing else) and says of each
program whether a GPU computes the same:

    equal    bit for bit; required of kernels without approximate instructions
    within   kernels have some (docs/Numerics.md), and every element is within
             the bound of docs/Verification.md; needs fusion-run, see --bin
    close    as within, but nobody has computed the bound: there is no
             fusion-run, or the reference cannot tell right from wrong
    unchecked  not close, and the reference cannot tell right from wrong: all
             elements that have a bound are within it
    differs, unstable (from launch to launch), error, hang, crash: findings

Jobs are processes that run many packages each, in turn on every GPU. After an
error or a crash the next package gets a fresh one.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from worker import Worker, abi  # noqa: E402

GOOD = ("built", "refused", "equal", "within", "close", "unchecked")


class Pool:
    """Jobs, each with a worker of its own, that go through names."""

    def __init__(self, options, devices):
        self.workers = queue.SimpleQueue()
        for job in range(options.jobs):
            self.workers.put(self.make_worker(options.folder,
                                              devices[job % len(devices)]))
        self.jobs = options.jobs

    @staticmethod
    def make_worker(folder, device):
        worker = Worker([sys.executable, os.path.join(HERE, "worker.py"),
                         folder, device])
        worker.device = device
        return worker

    def map(self, work, names, what):
        """[(name, result)] of work(name, worker), with a line about findings
        at once and about the others now and then."""
        begin = said = time.time()
        results, counts = [], collections.Counter()
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            waiting = [pool.submit(self.do, work, name) for name in names]
            for future in concurrent.futures.as_completed(waiting):
                name, result = future.result()
                results.append((name, result))
                counts[result["kind"]] += 1
                if result["kind"] not in GOOD:
                    print(describe(name, result), flush=True)
                if time.time() > said + 10 or len(results) == len(names):
                    said = time.time()
                    print(f"{what}: {len(results)} of {len(names)} in "
                          f"{said - begin:.0f} s: {summarise(counts)}",
                          flush=True)
        while not self.workers.empty():
            self.workers.get().close()
        return sorted(results, key=lambda one: one[0])

    def do(self, work, name):
        worker = self.workers.get()
        try:
            return name, work(name, worker)
        finally:
            self.workers.put(worker)


def summarise(counts):
    return ", ".join(f"{n} {kind}" for kind, n in counts.most_common())


def describe(name, result):
    return (f"{name}: {result['kind']}: {result.get('worst', '')} "
            f"{' '.join(result.get('instructions', []))}").rstrip()


def build_one(seed, options, worker):
    """Compiles a program; returns its outcome."""
    import generator
    from outcomes import classify, execute
    program = generator.generate(f"{options.seed}/{seed}")
    chip = options.targets[seed % len(options.targets)]
    name = f"{seed:05}"
    path = os.path.join(options.folder, name)
    with open(path + ".mlir", "w", encoding="utf-8") as file:
        file.write(program.file_text())
    numerics = [o for o in program.options
                if o.startswith(("--numerics", "--largest-value"))]
    status, output = execute(
        [os.path.join(options.bin, "fusion-compile"), path + ".mlir", "-o",
         path + ".fpk", f"--target={chip}", "--ptxas=false", *numerics], 120)
    if status != 0:
        os.unlink(path + ".mlir")
        outcome = classify(status, output, program.text)
        return {"kind": "refused" if outcome.limit else outcome.label,
                "worst": output.strip()[-200:]}
    sizes = {o[6:].rsplit("=", 1)[0]: int(o.rsplit("=", 1)[1])
             for o in program.options if o.startswith("--dim=")}
    with open(path + ".json", "w", encoding="utf-8") as file:
        json.dump({"seed": f"{options.seed}/{seed}", "target": chip,
                   "options": program.options, "sizes": sizes}, file)
    if options.no_bits:
        return {"kind": "built"}
    return worker.ask({"name": name, "store": "bits"})


def build(options):
    os.makedirs(options.folder, exist_ok=True)
    names = range(options.first, options.first + options.count)
    results = Pool(options, ["emulator"]).map(
        lambda seed, worker: build_one(seed, options, worker), names, "build")
    return 0 if all(result["kind"] in GOOD for _, result in results) else 1


def find_devices(name):
    """Every GPU for "cuda", else the device of that name."""
    if name != "cuda":
        return [name]
    count = abi.query(abi.c_int32, "GetCudaDeviceCount").value
    return [f"cuda:{i}" for i in range(count)]


def read_facts(path):
    with open(path + ".json", encoding="utf-8") as file:
        return json.load(file)


def verify(name, worker, options):
    """What fusion-run says of a package on the worker's device, with the same
    inputs: (exit status, last line)."""
    path = os.path.join(options.folder, name)
    with tempfile.TemporaryDirectory() as folder:
        answer = worker.ask({"name": name, "store": "inputs",
                             "inputs": folder})
        if "files" not in answer:
            return None, str(answer)
        numerics = [o for o in read_facts(path)["options"]
                    if o.startswith("--numerics")]
        try:
            done = subprocess.run(
                [os.path.join(options.bin, "fusion-run"), path + ".fpk",
                 f"--reference={path}.mlir", f"--device={worker.device}",
                 "--verify", *numerics,
                 *(f"--input={file}" for file in answer["files"])],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        except (OSError, subprocess.TimeoutExpired) as error:
            return None, str(error)
    lines = done.stdout.decode(errors="replace").strip().splitlines()
    errors = [line for line in lines if "error: " in line]
    return done.returncode, (errors or lines or [""])[-1]


def compare_one(name, worker, options):
    result = worker.ask({"name": name})
    # A bound explains what approximate instructions leave, nothing else.
    if (result["kind"] not in ("close", "differs") or
            not result["instructions"] or not options.bin):
        return result
    status, text = verify(name, worker, options)
    if status == 0:
        result["kind"] = "within"
    elif "FUS-1206" not in text:
        result.update(kind="differs", worst=f"{result['worst']}; {text}")
    elif result["kind"] == "differs":
        result["kind"] = "unchecked"
    return result


def keep(results, options):
    """Copies what findings need, and writes all outcomes."""
    os.makedirs(options.out, exist_ok=True)
    for name, result in results:
        path = os.path.join(options.folder, name)
        result.update(read_facts(path))
        if result["kind"] not in GOOD:
            for end in (".mlir", ".json", ".fpk", ".bits"):
                if os.path.exists(path + end):
                    shutil.copy(path + end, options.out)
    with open(os.path.join(options.out, "results.json"), "w",
              encoding="utf-8") as file:
        json.dump(dict(results), file, indent=0)


def compare(options):
    if options.library:
        os.environ["FUSION_RT_LIBRARY"] = os.path.abspath(options.library)
    # Each package is loaded once: what the driver has assembled is of no use
    # to others, and keeping it takes a lock.
    os.environ.setdefault("CUDA_CACHE_DISABLE", "1")
    names = sorted(f[:-4] for f in os.listdir(options.folder)
                   if f.endswith(".fpk") and
                   os.path.exists(os.path.join(options.folder,
                                               f[:-4] + ".json")))
    results = Pool(options, find_devices(options.device)).map(
        lambda name, worker: compare_one(name, worker, options), names,
        "compare")
    if options.out:
        keep(results, options)
    for kind in ("within", "close"):
        words = collections.Counter(
            word for _, result in results if result["kind"] == kind
            for word in result["instructions"])
        if words:
            print(f"approximate instructions of programs that are {kind}: " +
                  summarise(words))
    exact = sum(not result.get("instructions") for _, result in results)
    print(f"{exact} programs have no approximate instructions")
    return 0 if all(result["kind"] in GOOD for _, result in results) else 1


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    root = os.path.dirname(os.path.dirname(HERE))
    for name in ("build", "compare"):
        command = commands.add_parser(name)
        command.add_argument("folder")
        command.add_argument("--jobs", type=int, default=os.cpu_count())
        if name == "compare":
            command.add_argument("--device", default="cuda")
            command.add_argument("--library")
            command.add_argument("--bin")
            command.add_argument("--out")
            continue
        command.add_argument("--count", type=int, default=100)
        command.add_argument("--first", type=int, default=0)
        command.add_argument("--seed", default="0")
        command.add_argument("--targets", default=["sm_90a"],
                             type=lambda text: text.split(","))
        command.add_argument("--bin", default=os.path.join(root, "build",
                                                           "bin"))
        command.add_argument("--no-bits", action="store_true")
    options = parser.parse_args(arguments)
    return (build if options.command == "build" else compare)(options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
