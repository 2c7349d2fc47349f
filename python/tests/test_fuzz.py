# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the generator of programs and of what its driver makes of outcomes."""

import os
import pathlib
import struct
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FUZZ = ROOT / "python" / "fuzz"
BUILD = pathlib.Path(os.environ.get("FUSION_BUILD_DIR", ROOT / "build"))
sys.path.insert(0, str(FUZZ))

import fusion  # noqa: E402, F401 (the whole package, before packages.py)
import generator  # noqa: E402
import outcomes  # noqa: E402
import packages  # noqa: E402


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
    NEAR = [("f32", struct.pack("<3f", 1, 2.0001, 3))]
    FAR = [("f32", struct.pack("<3f", 1, 2.1, 3))]

    def judge(self, other, approximate):
        return packages.judge(self.ONE, other, approximate, "")[0]

    def test_exact_kernels_have_one_result(self):
        self.assertEqual(self.judge(self.ONE, []), "equal")
        self.assertEqual(self.judge(self.NEAR, []), "differs")

    def test_approximate_kernels_are_close(self):
        self.assertEqual(self.judge(self.NEAR, ["ex2.approx"]), "within")
        self.assertEqual(self.judge(self.FAR, ["ex2.approx"]), "differs")

    def test_small_floats(self):
        self.assertEqual(packages.decode_small("f8e4m3", 0x38), 1.0)
        self.assertEqual(packages.decode_small("f8e5m2", 0xC0), -2.0)
        self.assertEqual(packages.decode_small("f8e4m3", 0x01), 2.0 ** -9)

    def test_bf16_rounds_to_even(self):
        self.assertEqual(packages.round_to_bf16([1.0, 1.00390625, 1.01171875]),
                         struct.pack("<3H", 0x3F80, 0x3F80, 0x3F82))


if __name__ == "__main__":
    unittest.main()
