# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the generator of programs and of what its driver makes of outcomes."""

import argparse
import io
import math
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
FUZZ = ROOT / "python" / "fuzz"
BUILD = pathlib.Path(os.environ.get("FUSION_BUILD_DIR", ROOT / "build"))
sys.path.insert(0, str(FUZZ))

import bits  # noqa: E402
import fusion_compiler as fusion  # noqa: E402, F401 (the whole package, before worker.py)
import generator  # noqa: E402
import outcomes  # noqa: E402
import packages  # noqa: E402
import reduce  # noqa: E402
import worker  # noqa: E402


def run(*arguments):
    return subprocess.run([sys.executable, str(FUZZ / "run.py"),
                           f"--bin={BUILD / 'bin'}", *arguments],
                          capture_output=True, text=True, timeout=300)


class GeneratorTest(unittest.TestCase):
    def test_a_seed_is_a_program(self):
        for seed in range(20):
            first = generator.generate(f"test/{seed}").file_text()
            self.assertEqual(first, generator.generate(f"test/{seed}")
                             .file_text())
        self.assertNotEqual(generator.generate("test/0").text,
                            generator.generate("test/1").text)

    def test_programs_are_valid(self):
        for family in generator.FAMILIES:
            result = run("--validate", "--count=100", f"--family={family}",
                         "--seed=test")
            self.assertEqual(result.returncode, 0, result.stdout)

    def test_every_builder_is_used(self):
        used = set()
        for family in generator.FAMILIES:
            for seed in range(400):
                used.update(generator.generate(f"used/{seed}", family).builders)
        for family, (module, _) in generator.FAMILIES.items():
            for builder in module.BUILDERS:
                name = f"{family}.{builder.__name__.strip('_')}"
                self.assertIn(name, used)


class ReduceTest(unittest.TestCase):
    def test_sizes_get_names_and_other_marks_stay(self):
        options, body = reduce.name_sizes(
            "// fuzz: --seed=1 --dim=arg0.1=7 --dim=n=3\n"
            "func.func @main(%x0: tensor<2x?xf32> {fusion.overwritten_by = 0}, "
            '%x1: tensor<?xi8> {fusion.dims = ["n"]}, '
            "%x2: tensor<4xf32>) -> (tensor<2x?xf32>) {\n}\n")
        self.assertEqual(options,
                         ["--seed=1", "--dim=n=3", "--dim=s0_1=7"])
        self.assertIn('%x0: tensor<2x?xf32> {fusion.dims = ["_", "s0_1"], '
                      "fusion.overwritten_by = 0}", body)
        self.assertIn('%x1: tensor<?xi8> {fusion.dims = ["n"]}', body)
        self.assertIn("%x2: tensor<4xf32>)", body)

    def test_what_a_smaller_program_keeps(self):
        first = outcomes.Outcome("mismatch", "FUS-1203",
                                 "output 0[1, 2] is -0.5, expected 1e-3")
        second = outcomes.Outcome("mismatch", "FUS-1203",
                                  "output 3[0, 0] is 7.25, expected -4")
        self.assertEqual(reduce.signature(first), reduce.signature(second))


class OutcomeTest(unittest.TestCase):
    CASES = [
        (0, "verified", "verified"),
        (None, "", "hang"),
        (-11, "", "crash"),
        (70, "error: FUS-1070: fusion-run crashed", "crash"),
        (1, "error: FUS-1203: output 0[0] is 1", "mismatch"),
        (1, "error: FUS-7009: a kernel read", "emulator"),
        (1, "error: FUS-1003: not valid", "invalid"),
        (1, "error: FUS-9999: no reason", "refused-valid"),
    ]

    def test_kinds(self):
        for status, output, kind in self.CASES:
            with self.subTest(output=output, status=status):
                outcome = outcomes.classify(status, output, "")
                self.assertEqual(outcome.kind, kind)
                self.assertEqual(outcome.expected, kind == "verified")

    def test_limits_need_the_program(self):
        output = "error: FUS-1010: needs 2 kernels, the limit is 1"
        program = "attributes {fusion.max_kernels = 1 : i64}"
        self.assertTrue(outcomes.classify(3, output, program).expected)
        self.assertFalse(outcomes.classify(3, output, "").expected)


class CompareTest(unittest.TestCase):
    ONE = [("f32", struct.pack("<3f", 1, 2, 3))]

    def is_close(self, *numbers, text=""):
        return bits.is_close(self.ONE, [("f32", struct.pack("<3f", *numbers))],
                             text)[0]

    def test_results_are_close_or_not(self):
        self.assertTrue(self.is_close(1, 2.0001, 3))
        self.assertFalse(self.is_close(1, 2.1, 3))
        self.assertTrue(self.is_close(1, 2.05, 3, text="tensor<3xbf16>"))
        self.assertFalse(self.is_close(1, float("nan"), 3))

    def test_small_floats(self):
        self.assertEqual(bits.decode_small("f8e4m3", 0x38), 1.0)
        self.assertEqual(bits.decode_small("f8e5m2", 0xC0), -2.0)
        self.assertEqual(bits.decode_small("f8e4m3", 0x01), 2.0 ** -9)

    def test_bf16_rounds_to_even(self):
        self.assertEqual(bits.round_to_bf16([1.0, 1.00390625, 1.01171875]),
                         struct.pack("<3H", 0x3F80, 0x3F80, 0x3F82))

    def test_npy_is_numpys(self):
        for dims in ([], [3], [2, 3]):
            data = bits.draw("f32", math.prod(dims), "seed")
            array = numpy.load(io.BytesIO(bits.npy("f32", dims, data)))
            self.assertEqual(list(array.shape), dims)
            self.assertEqual(array.tobytes(), data)

    def test_exact_sums_of_integers_are_not_approximate(self):
        def find(text):
            return worker.APPROXIMATE.findall(text)
        shape = b"mma.sync.aligned.m16n8k32.row.col"
        self.assertEqual(find(shape + b".s32.s8.s8.s32 {%r1}"), [])
        self.assertEqual(find(shape + b".f32.bf16.bf16.f32 {%r1}"),
                         [b"mma.sync"])
        self.assertEqual(find(b"ex2.approx.ftz.f32 %f1, %f2;"), [b"ex2.approx"])


class WorkerTest(unittest.TestCase):
    SCRIPT = """
import json, os, sys, time
for line in sys.stdin:
    word = json.loads(line)["word"]
    if word == "crash":
        os.abort()
    if word == "hang":
        time.sleep(60)
    print(json.dumps({"kind": word, "last": word == "error"}), flush=True)
    if word == "error":
        sys.exit(0)
"""

    def test_one_request_does_not_take_the_next_with_it(self):
        asked = worker.Worker([sys.executable, "-c", self.SCRIPT], seconds=2)
        words = ["equal", "crash", "equal", "error", "equal", "hang", "equal"]
        self.assertEqual([asked.ask({"word": word})["kind"] for word in words],
                         words)
        asked.close()

    def test_packages_are_built_and_compared(self):
        def run_packages(*arguments):
            return subprocess.run(
                [sys.executable, str(FUZZ / "packages.py"), *arguments],
                capture_output=True, text=True, timeout=300)
        with tempfile.TemporaryDirectory() as folder:
            result = run_packages("build", folder, "--count=4", "--jobs=2",
                                  "--seed=test", f"--bin={BUILD / 'bin'}")
            self.assertEqual(result.returncode, 0, result.stdout)
            compare = ["compare", folder, "--device=emulator", "--jobs=2",
                       f"--out={folder}/out",
                       f"--library={BUILD / 'lib' / 'libfusion-rt.so'}"]
            result = run_packages(*compare)
            self.assertIn("4 equal", result.stdout)
            for path in pathlib.Path(folder).glob("*.bits"):
                data = bytearray(zlib.decompress(path.read_bytes()))
                data[0] ^= 0x80
                path.write_bytes(zlib.compress(data))
            result = run_packages(*compare)
            self.assertEqual(result.returncode, 1, result.stdout)
            self.assertIn("differs", result.stdout)
            self.assertTrue(list(pathlib.Path(folder, "out").glob("*.mlir")))

    def test_the_reference_judges_what_is_not_equal(self):
        class Device:
            device = "emulator"

            def __init__(self, kind, instructions):
                self.kind, self.instructions = kind, instructions

            def ask(self, request):
                if "store" in request:
                    return {"files": []}
                return {"kind": self.kind, "worst": "output 0: f32 1",
                        "instructions": self.instructions}

        def judge(kind, status, text, instructions=("ex2.approx",)):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder)
                (path / "0.json").write_text('{"options": []}')
                judging = path / "fusion-run"
                judging.write_text(
                    f"#!/bin/sh\necho 'error: {text}'\nexit {status}\n")
                judging.chmod(0o755)
                options = argparse.Namespace(folder=folder, bin=folder)
                return packages.compare_one("0", Device(kind, instructions),
                                            options)["kind"]
        for kind, status, text, judgement in [
                ("equal", 1, "FUS-1204: wrong", "equal"),
                ("close", 0, "", "within"), ("differs", 0, "", "within"),
                ("close", 1, "FUS-1204: wrong", "differs"),
                ("close", 1, "FUS-1206: not checked", "close"),
                ("differs", 1, "FUS-1204: wrong", "differs"),
                ("differs", 1, "FUS-1206: not checked", "unchecked")]:
            self.assertEqual(judge(kind, status, text), judgement)
        self.assertEqual(judge("differs", 0, "", instructions=()), "differs")


if __name__ == "__main__":
    unittest.main()
