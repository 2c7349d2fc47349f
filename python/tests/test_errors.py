# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of the compiler: in parts, and none of them ends this process."""

import os
import pathlib
import unittest

import fusion_compiler as fusion

GOOD = """
func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
"""

# The limit of one kernel cannot be kept.
TWO_SHAPES = """
func.func @two(%x: tensor<8x4xf32>, %y: tensor<3x5xf32>)
    -> (tensor<8x4xf32>, tensor<3x5xf32>)
    attributes {fusion.max_kernels = 1} {
  %a = arith.addf %x, %x : tensor<8x4xf32>
  %b = arith.addf %y, %y : tensor<3x5xf32>
  return %a, %b : tensor<8x4xf32>, tensor<3x5xf32>
}
"""

# The position of a slice comes from a tensor.
DATA_SLICE = """
func.func @slice(%x: tensor<8xf32>, %i: tensor<index>) -> tensor<2xf32> {
  %at = tensor.extract %i[] : tensor<index>
  %y = tensor.extract_slice %x[%at] [2] [1] : tensor<8xf32> to tensor<2xf32>
  return %y : tensor<2xf32>
}
"""


def compile_error(text, **options):
    """The error of a program that is refused."""
    try:
        fusion.compile(text, target="sm_90a", device="emulator",
                       file_name="p.mlir", **options)
    except fusion.FusionError as error:
        return error
    raise AssertionError("the program was compiled")


class PartsTest(unittest.TestCase):

    def test_every_error_has_all_parts(self):
        for text, line in (("func.func @f(", 1), (TWO_SHAPES, 2),
                           (DATA_SLICE, None)):
            with self.subTest(text=text):
                error = compile_error(text)
                self.assertRegex(error.code, r"^FUS-\d{4}$")
                self.assertTrue(error.cause)
                self.assertNotIn("FUS-", error.cause)
                self.assertTrue(error.remedy)
                self.assertEqual(error.file, "p.mlir")
                self.assertGreater(error.column, 0)
                if line:
                    self.assertEqual(error.line, line)
                self.assertIn(error.code, str(error))
                self.assertIn(error.remedy, str(error))
                self.assertEqual(error.diagnostics[0].cause, error.cause)

    def test_code_of_a_broken_contract(self):
        self.assertEqual(compile_error(TWO_SHAPES).code, "FUS-2006")

    def test_code_of_a_parse_error(self):
        error = compile_error("func.func @f(")
        self.assertEqual(error.code, "FUS-1003")
        self.assertEqual(error.remedy, "correct the program at the place shown")
        self.assertTrue(str(error.diagnostics[0]).startswith(
            f"p.mlir:1:{error.column}: error: FUS-1003: "))


class CrashTest(unittest.TestCase):

    def setUp(self):
        self.addCleanup(os.environ.pop, "FUSION_TEST_CRASH", None)

    def test_crash_is_an_error(self):
        for kind, how in (("assert", "abort"), ("abort", "abort"),
                          ("segv", "segmentation fault"),
                          ("stack", "segmentation fault")):
            with self.subTest(kind=kind):
                os.environ["FUSION_TEST_CRASH"] = kind
                error = compile_error(GOOD)
                self.assertEqual(error.code, "FUS-1070")
                self.assertIn(f"crashed ({how})", error.cause)
                notes = [note.cause for note in error.notes]
                self.assertIn("stack trace:", "".join(notes))
                path = pathlib.Path(next(
                    note.removeprefix("reproducer: ") for note in notes
                    if note.startswith("reproducer: ")))
                self.assertTrue(path.read_text().startswith(GOOD))
                path.unlink()
        del os.environ["FUSION_TEST_CRASH"]
        fusion.compile(GOOD, target="sm_90a", device="emulator")

    def test_time_limit(self):
        os.environ["FUSION_TEST_CRASH"] = "hang"
        self.assertEqual(compile_error(GOOD, time_limit=1).code, "FUS-1071")


if __name__ == "__main__":
    unittest.main()
