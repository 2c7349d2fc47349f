# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The calibration of a chip, without a GPU."""

import argparse
import contextlib
import ctypes
import io
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import numpy as np

from fusion_compiler import abi
from fusion_compiler.devices import Device

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent
                       / "benchmarks"))

import calibrate  # noqa: E402
from calibration import build, measure, programs, report  # noqa: E402
from calibration.fit import fit  # noqa: E402
from drawing.build import default_bin  # noqa: E402

BINARIES = pathlib.Path(os.environ.get("FUSION_BUILD_DIR",
                                       default_bin().parent)) / "bin"
# A chip that is unlike the one that the compiler knows.
OTHER = {"rates.launchSeconds": 1.6, "rates.dramBytesPerSecond": 0.7,
         "rates.sfuPerClock": 0.8, "rates.fp32PerClock": 1.15,
         "kernels.gridStepSeconds": 1.5, "kernels.clusterStepSeconds": 0.7}
MACHINE = {"device": "A chip", "chip": "sm_90a", "multiprocessors": 132,
           "clock_mhz": 1980.0, "l2_mib": 60.0, "driver": 13000,
           "date": "2026-11-24"}


def variant(number, terms, slopes):
    return {"name": f"p{number}@0", "program": f"p{number}", "kind": "drawn",
            "schedule": "", "read_bytes": 0, "write_bytes": 0, "operations": 0,
            "seconds": 1e-5,
            "terms": {name: {"value": value, "slopes": slopes.get(name, {})}
                      for name, value in terms.items()}}


def synthetic(count, rng):
    """Variants of four constants and one, b.same, that goes along with
    a.launch."""
    slopes = {"launch": {"a.launch": 0.5, "b.same": 0.5},
              "memory": {"a.bandwidth": -1},
              "fp32": {"a.instructions": 0.3, "a.rate": -1},
              "hidden": {}}
    return [variant(i, {"launch": 2e-6,
                        "memory": 10 ** rng.uniform(-7, -3),
                        "fp32": 10 ** rng.uniform(-7, -3), "hidden": 0.9},
                    {**slopes, "fp32": {"a.instructions": rng.uniform(0.1, 0.9),
                                        "a.rate": -1}})
            for i in range(count)]


def exact_times(variants, factors):
    times = []
    for v in variants:
        terms = {}
        for name, term in v["terms"].items():
            costs = sum(s * (factors.get(c, 1) - 1)
                        for c, s in term["slopes"].items() if s > 0)
            rates = math.prod(factors.get(c, 1) ** s
                              for c, s in term["slopes"].items() if s < 0)
            terms[name] = term["value"] * (1 + costs) * rates
        memory, fp32 = terms["memory"], terms["fp32"]
        times.append(terms["launch"] + max(memory, fp32) +
                     (1 - terms["hidden"]) * min(memory, fp32))
    return times


class FitTest(unittest.TestCase):

    FACTORS = {"a.bandwidth": 0.6, "a.rate": 1.4, "a.instructions": 1.7}

    def check(self, found, names, tolerance):
        for name in names:
            self.assertIn(name, found.factors)
            self.assertLess(abs(math.log(found.factors[name] /
                                         self.FACTORS.get(name, 1))),
                            tolerance, name)

    def test_recovers_constants(self):
        variants = synthetic(80, random.Random(1))
        found = fit(variants, exact_times(variants, self.FACTORS))
        self.check(found, self.FACTORS, 0.02)
        self.assertLess(abs(found.after - 1).max(), 0.02)
        self.assertGreater(abs(found.before - 1).max(), 0.3)

    def test_noise_and_outliers(self):
        rng = random.Random(2)
        variants = synthetic(150, rng)
        times = [time * math.exp(rng.gauss(0, 0.05))
                 for time in exact_times(variants, self.FACTORS)]
        for i in range(0, 150, 10):
            times[i] *= 4
        found = fit(variants, times)
        self.check(found, self.FACTORS, 0.15)

    def test_what_is_not_determined_stays(self):
        variants = synthetic(60, random.Random(3))
        found = fit(variants, exact_times(variants, self.FACTORS))
        # One of two that always go together, at most.
        self.assertEqual(len({"a.launch", "b.same"} & set(found.open)), 1)
        self.assertEqual(set(found.open) & set(found.factors), set())
        # A constant that decides no time.
        for v in variants:
            v["terms"]["memory"]["slopes"]["c.rare"] = -0.01
        found = fit(variants, exact_times(variants, self.FACTORS))
        self.assertIn("c.rare", found.open)
        found = fit(variants, exact_times(variants, self.FACTORS), ["a.rate"])
        self.assertEqual(set(found.factors), {"a.rate"})

    def test_rates_need_no_model(self):
        def one(name, kind, seconds, read=0, write=0, operations=0.0):
            return ({"program": name, "kind": kind, "read_bytes": read,
                     "write_bytes": write, "operations": operations}, seconds)
        found = [one("a", "read", 2e-3, read=8 << 30), one("a", "read", 3e-3),
                 one("t", "launch", 2e-6), one("c1", "chain fma", 1e-3,
                                               operations=1e9),
                 one("c2", "chain fma", 3e-3, operations=3e9)]
        rates = report.find_rates(*zip(*found), MACHINE)
        self.assertAlmostEqual(rates["read_tb_per_s"], (8 << 30) / 2e-3 / 1e12)
        self.assertAlmostEqual(rates["launch_us"], 2)
        self.assertAlmostEqual(rates["fma_per_clock"],
                               1e12 / (132 * 1980e6))


class ArenaTest(unittest.TestCase):

    def test_launches_take_turns(self):
        arena = object.__new__(measure.Arena)
        arena.size, arena.memory = 1024, argparse.Namespace(address=4096)
        self.assertEqual(arena.take([100, 300], 0), [4096, 4352])
        self.assertEqual(arena.take([100, 4], 1), [4608, 4864])
        self.assertEqual(arena.take([100, 4], 2), [4096, 4352])
        # What is larger than all of it has the whole.
        self.assertEqual(arena.take([1024], 5), [4096])


class OneLaunch:
    """A driver that launches what a graph would, and has a clock of its own."""

    @contextlib.contextmanager
    def graph(self, stream, enqueue):
        enqueue()
        yield None

    def time(self, ready, stream, repeat):
        return [3e-3] * repeat


class TimerTest(unittest.TestCase):
    """The launches of a variant, on the emulator."""

    def test_launches(self):
        timer = object.__new__(measure.Timer)
        timer.device = Device.open("emulator")
        timer.driver, timer.arenas = OneLaunch(), {}
        timer.info = abi.DeviceInfo(l2Bytes=4096)
        timer.stream = ctypes.c_void_p()
        probes = [programs.pointwise("relu", "mixed", (300,), "f32"),
                  programs.pointwise("add", "mixed", (100,), "bf16", count=3),
                  programs.rowwise("softmax", "softmax", "rows", (5, 40))]
        with tempfile.TemporaryDirectory() as scratch:
            options = argparse.Namespace(
                folder=pathlib.Path(scratch), bin=BINARIES, target="sm_90a",
                most=1, jobs=1, seconds_to_compile=60)
            variants, _ = build.build(probes, options)
            lines = []
            seconds = measure.time_all(variants, options.folder, timer, 3,
                                       lines.append)
            # Launches take 2 ms together.
            for variant, found in zip(variants, seconds):
                count = int(min(2e-3 / variant["seconds"], 256))
                self.assertAlmostEqual(found, 3e-3 / count)
            self.assertEqual(len(lines), 3)
            self.check_result(timer, variants[0], options.folder)
            absent = {**variants[0], "name": "absent"}
            self.assertEqual(measure.time_all([absent], options.folder, timer,
                                              1, lines.append), [None])
            self.assertIn("absent: not timed: ", lines[-1])

    def check_result(self, timer, variant, folder):
        timer.seconds(folder / f"{variant['name']}.fpk", 1.0, 1)
        given, taken = (np.empty(300, np.float32) for _ in range(2))
        timer.arenas["inputs"].memory.copy_to(given)
        timer.arenas["outputs"].memory.copy_to(taken)
        self.assertTrue((given > 0.5).all())
        self.assertTrue((given == taken).all())


class CommandTest(unittest.TestCase):
    """Both commands, with times that the compiler predicts for another chip."""

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.folder = pathlib.Path(cls.scratch.name) / "folder"
        cls.options = argparse.Namespace(
            folder=cls.folder, bin=BINARIES, target="sm_90a", most=2,
            jobs=2, seconds_to_compile=60)
        cls.probes = [p for p in programs.one_by_one(1)
                      if p.kind in ("launch", "read", "mixed", "waves",
                                    "spread", "chain exp2", "chain fma")]
        cls.variants, cls.failed = build.build(cls.probes, cls.options)
        cls.manifest = json.loads((cls.folder / "manifest.json").read_text())

    def run_tool(self, *arguments):
        with contextlib.redirect_stderr(io.StringIO()) as errors, \
                contextlib.redirect_stdout(io.StringIO()) as output:
            try:
                status = calibrate.main(list(map(str, arguments)))
            except SystemExit as stop:
                status = stop.code
        return status, output.getvalue(), errors.getvalue()

    def predict(self, factors):
        """Seconds of each variant where constants are others."""
        groups = {}
        for name, factor in factors.items():
            group, constant = name.split(".")
            value = self.manifest["constants"]["fitted"][group][constant]
            groups.setdefault(group, []).append(
                f"{constant} = {value * factor:.17e} : f64")
        fitted = ", ".join(f"{group} = {{{', '.join(own)}}}"
                           for group, own in groups.items())
        known = {}
        for probe in self.probes:
            text = ("module attributes {fusion.target = #fusion.target<chip = "
                    f'"sm_90a", fitted = {{{fitted}}}>}} {{\n{probe.mlir}}}\n')
            printed = subprocess.run(
                [BINARIES / "fusion-opt", "--fusion-to-plan",
                 "--fusion-schedule-print-prices", "-o", os.devnull],
                input=text, capture_output=True, text=True, check=True).stdout
            for one in json.loads(printed)["schedules"]:
                known[probe.name, one["schedule"]] = one["seconds"]
        return [known.get((v["program"], v["schedule"]))
                for v in self.variants]

    def write_times(self, path, seconds, machine):
        path.write_text(json.dumps({"calibration": {
            "machine": machine, "variants": [
                {"name": v["name"], "measured_us": s * 1e6}
                for v, s in zip(self.variants, seconds) if s]}}))

    def test_everything_compiles(self):
        self.assertEqual(self.failed, 0)
        for one in self.variants:
            self.assertTrue((self.folder / f"{one['name']}.fpk").is_file())
            terms = {key: term["value"] for key, term in one["terms"].items()}
            launch, memory, hidden, overlap = (
                terms.pop(name, 0)
                for name in ("launch", "memory", "hidden", "overlap"))
            compute = max(terms.values(), default=0)
            self.assertAlmostEqual(
                one["seconds"] / (launch + max(memory, compute) +
                                  (1 - hidden) * min(memory, compute) +
                                  (1 - overlap) *
                                  (sum(terms.values()) - compute)), 1)

    def test_another_chip_is_found(self):
        rng = random.Random(4)
        seconds = [s and s * math.exp(rng.gauss(0, 0.02))
                   for s in self.predict(OTHER)]
        self.assertGreater(sum(s is not None for s in seconds),
                           len(seconds) * 0.8)
        times = self.folder / "times.json"
        out = self.folder / "chip.json"
        self.write_times(times, seconds, MACHINE)
        status, output, errors = self.run_tool(
            "run", self.folder, f"--times={times}", f"--out={out}")
        self.assertEqual((status, errors), (0, ""))
        file = json.loads(out.read_text())
        self.assertIn("dramBytesPerSecond", output)
        old = self.manifest["constants"]["fitted"]
        for name, factor in OTHER.items():
            group, constant = name.split(".")
            found = file["fitted"][group][constant] / old[group][constant]
            # The noise of a kernel is as much as a third of a cluster's step.
            bound = 0.2 if constant == "clusterStepSeconds" else 0.1
            self.assertLess(abs(math.log(found / factor)), bound, name)
        about = file["calibration"]
        self.assertGreater(about["prediction_error_before"]["median"], 0.2)
        self.assertLess(about["prediction_error_after"]["median"], 0.05)
        self.check_compiler_takes(out)

    def check_compiler_takes(self, path):
        program = self.folder / "program.mlir"
        program.write_text(self.probes[0].mlir)
        plan = subprocess.run(
            [BINARIES / "fusion-compile", program, "--compile-to=plan",
             f"--target-file={path}", "-o", "-"],
            capture_output=True, text=True)
        self.assertEqual((plan.returncode, plan.stderr), (0, ""))
        other = subprocess.run(
            [BINARIES / "fusion-compile", program, "--target=sm_80",
             f"--target-file={path}", "-o", self.folder / "o.fpk"],
            capture_output=True, text=True)
        self.assertEqual(other.returncode, 2)
        self.assertIn("error: FUS-2008: ", other.stderr)
        self.assertIn("it is for 'sm_90a', not sm_80", other.stderr)

    def test_bad_input(self):
        times, out = self.folder / "bad.json", self.folder / "none.json"
        self.write_times(times, [1e-5] * len(self.variants),
                         {**MACHINE, "chip": "sm_80"})
        status, _, errors = self.run_tool(
            "run", self.folder, f"--times={times}", f"--out={out}")
        self.assertEqual(status, 1)
        self.assertRegex(errors, "the folder is for sm_90a, the device, A "
                         "chip, is sm_80; remedy: calibrate.py build FOLDER "
                         "--target=sm_80")
        self.write_times(times, [1e-5] * 3, MACHINE)
        status, _, errors = self.run_tool(
            "run", self.folder, f"--times={times}", f"--out={out}")
        self.assertEqual(status, 1)
        self.assertIn("3 of", errors)
        self.assertFalse(out.exists())
        status, _, errors = self.run_tool("run", self.folder)
        self.assertEqual(status, 2)
        self.assertIn("run needs --out", errors)
        status, _, errors = self.run_tool("run", self.folder / "absent",
                                          f"--out={out}")
        self.assertEqual(status, 2)
        self.assertIn("calibrate.py build FOLDER", errors)


if __name__ == "__main__":
    unittest.main()
