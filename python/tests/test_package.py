# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiling, loading and running packages from Python, on the emulator."""

import copy
import json
import pathlib
import pickle
import re
import tempfile
import unittest

import numpy as np

import fusion_compiler as fusion

SCALE_ADD = """
func.func @scale_add(%x: tensor<?x8xf32> {fusion.dims = ["rows", "_"]},
                     %y: tensor<?x8xf32> {fusion.dims = ["rows", "_"]})
    -> tensor<?x8xf32> {
  %sum = arith.addf %x, %y : tensor<?x8xf32>
  %product = arith.mulf %sum, %x : tensor<?x8xf32>
  return %product : tensor<?x8xf32>
}
"""

TWO_RESULTS = """
func.func @two(%x: tensor<4x8xbf16>, %i: tensor<4x8xi32>)
    -> (tensor<4x8xbf16>, tensor<4x8xi32>) {
  %double = arith.addf %x, %x : tensor<4x8xbf16>
  %square = arith.muli %i, %i : tensor<4x8xi32>
  return %double, %square : tensor<4x8xbf16>, tensor<4x8xi32>
}
"""


APPEND = """
func.func @append(%cache: tensor<4x8xf32> {fusion.overwritten_by = 1},
                  %row: tensor<1x8xf32>, %p: i64)
    -> (tensor<1x8xf32>, tensor<4x8xf32>) {
  %i = arith.index_cast %p : i64 to index
  %n = arith.negf %row : tensor<1x8xf32>
  %new = tensor.insert_slice %n into %cache[%i, 0] [1, 8] [1, 1]
      : tensor<1x8xf32> into tensor<4x8xf32>
  return %n, %new : tensor<1x8xf32>, tensor<4x8xf32>
}
"""


def compiled(text):
    return fusion.compile(text, target="sm_90a", device="emulator")


class RunTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.package = compiled(SCALE_ADD)

    def test_any_number_of_rows(self):
        for rows in (1, 2, 7, 64, 129):
            x = np.random.randn(rows, 8).astype(np.float32)
            y = np.random.randn(rows, 8).astype(np.float32)
            np.testing.assert_array_equal(self.package(x, y), (x + y) * x)

    def test_no_rows(self):
        empty = np.zeros((0, 8), np.float32)
        self.assertEqual(self.package(empty, empty).shape, (0, 8))

    def test_writes_into_out(self):
        x = np.random.randn(5, 8).astype(np.float32)
        out = np.full((5, 8), np.nan, np.float32)
        self.assertIs(self.package(x, x, out=out), out)
        np.testing.assert_array_equal(out, (x + x) * x)

    def test_strided_input(self):
        x = np.random.randn(8, 5).astype(np.float32).T
        np.testing.assert_array_equal(self.package(x, x), (x + x) * x)

    def test_signature(self):
        entry = self.package["scale_add"]
        self.assertEqual([s.dtype for s in entry.inputs], ["f32", "f32"])
        self.assertEqual(entry.inputs[0].dims[1], 8)
        self.assertIsInstance(entry.inputs[0].dims[0], str)
        self.assertEqual(self.package.entries, ["scale_add"])
        self.assertEqual(self.package.target, "sm_90a")
        self.assertEqual(self.package.num_kernels, len(self.package.kernels))

    def test_figures(self):
        x = np.zeros((10, 8), np.float32)
        package = compiled(SCALE_ADD.replace("?", "10"))
        figures = package.figures(x, x)
        # Unfused: x, y read and the sum written, then sum and x read and the
        # product written. Fused: x, y read, the product written.
        self.assertEqual(figures["launches"], 1)
        self.assertEqual(figures["bytes_before"], 6 * x.nbytes)
        self.assertEqual(figures["bytes_after"], 3 * x.nbytes)

    def test_several_results_and_types(self):
        package = compiled(TWO_RESULTS)
        x = np.random.randn(4, 8).astype(np.float32)
        i = np.random.randint(-100, 100, (4, 8)).astype(np.int32)
        double, square = package(x, i)
        rounded = fusion.arrays.widen_bf16(fusion.arrays.round_to_bf16(x))
        np.testing.assert_array_equal(double, 2 * rounded)
        np.testing.assert_array_equal(square, i * i)

    def test_overwritten_argument(self):
        package = compiled(APPEND)
        cache = np.zeros((4, 8), np.float32)
        row = np.arange(8, dtype=np.float32).reshape(1, 8)
        _, new = package(cache, row, 2)
        np.testing.assert_array_equal(new[2], -row[0])
        self.assertEqual(np.count_nonzero(new), 7)
        self.assertEqual(np.count_nonzero(cache), 0)
        out = (np.empty_like(row), cache)
        package(cache, row, 3, out=out)
        np.testing.assert_array_equal(cache[3], -row[0])
        self.assertEqual([spec.overwrites for spec in
                          package["append"].outputs], [None, 0])

    def test_survives_the_package(self):
        entry = compiled(SCALE_ADD)["scale_add"]
        x = np.ones((3, 8), np.float32)
        np.testing.assert_array_equal(entry(x, x), 2 * x)


class FileTest(unittest.TestCase):

    def test_save_and_load(self):
        package = compiled(SCALE_ADD)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "p.fpk"
            package.save(path)
            self.assertEqual([p.name for p in path.parent.iterdir()],
                             ["p.fpk"])
            again = fusion.load(path, device="emulator")
        x = np.random.randn(3, 8).astype(np.float32)
        np.testing.assert_array_equal(again(x, x), package(x, x))

    def test_pickled_by_its_bytes(self):
        package = compiled(SCALE_ADD)
        x = np.random.randn(3, 8).astype(np.float32)
        for again in (pickle.loads(pickle.dumps(package)),
                      copy.copy(package), copy.deepcopy(package)):
            self.assertEqual(again.data, package.data)
            self.assertEqual(again.explanation, package.explanation)
            self.assertEqual(again.device.name, "emulator")
            np.testing.assert_array_equal(again(x, x), package(x, x))

    def test_errors_are_pickled_whole(self):
        with self.assertRaises(fusion.FusionError) as raised:
            fusion.compile("func.func @f(", target="sm_90a")
        again = pickle.loads(pickle.dumps(raised.exception))
        self.assertEqual((str(again), again.code, again.line),
                         (str(raised.exception), "FUS-1003", 1))

    def test_report(self):
        # Whole, or as it was; the package is the same.
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.html")
            package = fusion.compile(SCALE_ADD, target="sm_90a", report=page,
                                     device="emulator")
            self.assertEqual(package.data, compiled(SCALE_ADD).data)
            data, = re.findall(r'<script [^>]*id="data">(.*?)</script>',
                               page.read_text(), re.S)
            function, = json.loads(data)["explanation"]["functions"]
            self.assertEqual((function["function"], function["kernels_after"]),
                             ("scale_add", 1))
            with self.assertRaises(fusion.FusionError) as raised:
                fusion.compile(SCALE_ADD, target="sm_90a",
                               report=f"{folder}/none/page.html")
        self.assertEqual(raised.exception.code, "FUS-1009")

    def test_same_text_same_bytes(self):
        self.assertEqual(compiled(SCALE_ADD).data, compiled(SCALE_ADD).data)

    def test_altered_package(self):
        data = bytearray(compiled(SCALE_ADD).data)
        data[len(data) // 2] ^= 1
        with self.assertRaises(fusion.FusionError) as raised:
            fusion.Package(data, "emulator").entries
        self.assertRegex(raised.exception.code, r"FUS-\d{4}")
        self.assertTrue(raised.exception.remedy)

    def test_truncated_package(self):
        data = compiled(SCALE_ADD).data[:-5]
        with self.assertRaises(fusion.FusionError):
            fusion.Package(data, "emulator").entries


class ErrorTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.package = compiled(SCALE_ADD)
        cls.x = np.zeros((3, 8), np.float32)

    def test_count(self):
        with self.assertRaisesRegex(TypeError, "2 arguments, got 1"):
            self.package(self.x)

    def test_element_type(self):
        with self.assertRaisesRegex(TypeError, "argument 1.*expected float32,"
                                               " got float64"):
            self.package(self.x, self.x.astype(np.float64))

    def test_fixed_size(self):
        with self.assertRaises(fusion.FusionError) as raised:
            self.package(self.x, np.zeros((3, 9), np.float32))
        self.assertRegex(raised.exception.code, r"FUS-\d{4}")

    def test_shape_of_out(self):
        with self.assertRaisesRegex(ValueError, r"expected shape \(3, 8\)"):
            self.package(self.x, self.x, out=np.zeros((4, 8), np.float32))

    def test_unparsable_text(self):
        with self.assertRaises(fusion.FusionError) as raised:
            fusion.compile("func.func @f(", target="sm_90a",
                           file_name="bad.mlir")
        self.assertIn("bad.mlir:1:", str(raised.exception))

    def test_unknown_target(self):
        with self.assertRaisesRegex(fusion.FusionError, "sm_1"):
            fusion.compile(SCALE_ADD, target="sm_1")

    def test_unknown_device(self):
        with self.assertRaises(fusion.FusionError):
            fusion.Package(self.package.data, "abacus").entries

    def test_unknown_entry(self):
        with self.assertRaisesRegex(KeyError, "scale_add"):
            self.package["other"]


# Three tiles of 128x64, one and a half for each of two blocks.
SHARED = """
func.func @shared(%x: tensor<384x256xf16>, %w: tensor<64x256xf16>)
    -> tensor<384x64xf32> {
  %r = fusion.kernel @shared ins(%x, %w : tensor<384x256xf16>,
      tensor<64x256xf16>) -> (tensor<384x64xf32>) attributes {schedule =
      #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 128>,
      #fusion.axis<grid, tile = 64>, #fusion.axis<loop, tile = 64>], warps = 8,
      mma = #fusion.mma<wgmma, stages = 3, blocks = 2, stream = 1>>} {
  ^bb0(%a: tensor<384x256xf16>, %b: tensor<64x256xf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<384x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<384x64xf32>)
        -> tensor<384x64xf32>
    %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%a, %b : tensor<384x256xf16>, tensor<64x256xf16>)
        outs(%f : tensor<384x64xf32>) -> tensor<384x64xf32>
    fusion.yield %p : tensor<384x64xf32>
  }
  return %r : tensor<384x64xf32>
}
"""


class SignalTest(unittest.TestCase):

    def test_launches_leave_signals_as_they_were(self):
        package = compiled(SHARED)
        random = np.random.default_rng(1)
        for _ in range(3):
            x = random.integers(-4, 5, (384, 256)).astype(np.float16)
            w = random.integers(-4, 5, (64, 256)).astype(np.float16)
            exact = x.astype(np.float32) @ w.astype(np.float32).T
            np.testing.assert_array_equal(package(x, w), exact)


class ModuleTest(unittest.TestCase):

    def test_version(self):
        self.assertRegex(fusion.__version__, r"^\d+\.\d+\.\d+$")

    def test_typed_and_documented(self):
        folder = pathlib.Path(fusion.__file__).parent
        self.assertTrue((folder / "py.typed").exists())
        for name in fusion.__all__:
            if not name.startswith("__"):
                self.assertTrue(getattr(fusion, name).__doc__, name)


class CompileToTest(unittest.TestCase):

    def test_ptx(self):
        ptx = fusion.compile_to("ptx", SCALE_ADD)
        self.assertIn(".target sm_90a", ptx)
        self.assertIn(".entry", ptx)


if __name__ == "__main__":
    unittest.main()
