# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types of packages on NumPy arrays; needs no library."""

import importlib.util
import unittest

import numpy as np

from fusion_compiler import arrays


class Bf16Test(unittest.TestCase):

    def test_every_value_survives(self):
        bits = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)
        wide = arrays.widen_bf16(bits)
        number = ~np.isnan(wide)
        np.testing.assert_array_equal(
            arrays.round_to_bf16(wide)[number], bits[number])
        self.assertTrue(np.isnan(arrays.widen_bf16(
            arrays.round_to_bf16(wide[~number]))).all())

    def test_rounds_to_nearest_even(self):
        bits = np.array([0x3F808000, 0x3F818000, 0x3F808001, 0x3F807FFF],
                        np.uint32)
        np.testing.assert_array_equal(
            arrays.round_to_bf16(bits.view(np.float32)),
            [0x3F80, 0x3F82, 0x3F81, 0x3F80])

    def test_overflow_is_infinite(self):
        largest = np.array([np.finfo(np.float32).max], np.float32)
        self.assertEqual(arrays.round_to_bf16(largest)[0], 0x7F80)

    def test_float32_and_bits_are_taken(self):
        values = np.array([[1.0, -2.5]], np.float32)
        stored = arrays.to_device(values, "bf16", "x")
        self.assertEqual(stored.dtype, np.uint16)
        self.assertEqual(stored.shape, (1, 2))
        np.testing.assert_array_equal(
            arrays.to_device(stored, "bf16", "x"), stored)
        np.testing.assert_array_equal(
            arrays.from_device(stored, "bf16", (1, 2)), values)


class Int4Test(unittest.TestCase):

    def test_round_trip_of_odd_count(self):
        values = np.array([[-8, 7, 0], [3, -1, 5], [1, 2, -3]], np.int8)
        packed = arrays.to_device(values, "i4", "x")
        self.assertEqual(packed.shape, (5,))
        self.assertEqual(packed[0], 0x78)  # the low half first
        np.testing.assert_array_equal(
            arrays.from_device(packed, "i4", (3, 3)), values)

    @unittest.skipUnless(importlib.util.find_spec("ml_dtypes"),
                         "ml_dtypes is not installed")
    def test_takes_ml_dtypes(self):
        values = np.array([-8, 7, 3], np.int8)
        int4 = values.astype(importlib.import_module("ml_dtypes").int4)
        np.testing.assert_array_equal(arrays.to_device(int4, "i4", "x"),
                                      arrays.to_device(values, "i4", "x"))

    def test_refuses_what_does_not_fit(self):
        with self.assertRaisesRegex(ValueError, "i4 holds -8 to 7"):
            arrays.to_device(np.array([8], np.int8), "i4", "x")


class OtherTypesTest(unittest.TestCase):

    def test_refuses_another_type(self):
        with self.assertRaisesRegex(TypeError, "x: expected float32, got"
                                               " float64"):
            arrays.to_device(np.zeros(3), "f32", "x")

    def test_takes_a_strided_view(self):
        values = np.arange(12, dtype=np.float32).reshape(3, 4).T
        stored = arrays.to_device(values, "f32", "x")
        self.assertTrue(stored.flags.c_contiguous)
        np.testing.assert_array_equal(stored, values)

    def test_keeps_rank_zero(self):
        stored = arrays.to_device(np.float32(2), "f32", "x")
        self.assertEqual(stored.shape, ())


if __name__ == "__main__":
    unittest.main()
