# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of other frameworks on a device, by DLPack and by
`__cuda_array_interface__`.

There is no GPU here: a device that is called cuda:0 and is the emulator stands
for one, and so do arrays in the emulator's memory that say they are on it.
"""

import copy
import gc
import unittest
import weakref
from unittest import mock

import numpy as np

import fusion_compiler as fusion
from fusion_compiler import abi, device_arrays, devices, native
from fusion_compiler.devices import Device, Memory
from test_package import APPEND, SCALE_ADD, TWO_RESULTS, compiled


def stand_in(name):
    """The emulator under the name of a GPU."""
    device = copy.copy(Device.open("emulator"))
    device.name = name
    return device


class Array:
    """An array in device memory, without either interface."""

    def __init__(self, values, device, dtype=None):
        self.values = np.ascontiguousarray(values)
        self.memory = Memory(device, self.values.nbytes)
        self.memory.copy_from(self.values)
        self.shape, self.dtype = self.values.shape, dtype
        self.place = (2, int(device.name[len("cuda:"):]))

    def numpy(self):
        self.memory.copy_to(self.values)
        return self.values


class ByInterface(Array):

    changes = {}

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.values.dtype.str,
                "data": (self.memory.address, False), "version": 3,
                **self.changes}


class ByDLPack(Array):

    def __dlpack_device__(self):
        return self.place

    def __dlpack__(self, *, stream=None, max_version=None):
        assert stream == 1
        return self.capsule(max_version is not None)

    def capsule(self, versioned):
        return native.module().make_capsule(
            self.memory, self.memory.address, self.shape,
            abi.DTYPES.index(self.dtype or "f32"), *self.place, versioned)


class OldDLPack(ByDLPack):
    """As DLPack was before it had versions."""

    def __dlpack__(self, *, stream=None):
        return self.capsule(False)


class DeviceCase(unittest.TestCase):

    def setUp(self):
        self.device = stand_in("cuda:0")
        patch = mock.patch.dict(devices._devices, {
            "cuda:0": self.device, "cuda:1": stand_in("cuda:1")})
        patch.start()
        self.addCleanup(patch.stop)
        self.package = compiled(SCALE_ADD)
        self.x, self.y = (np.random.randn(5, 8).astype(np.float32)
                          for _ in range(2))

    def refused(self, kind, text, *arguments, **keywords):
        with self.assertRaisesRegex(kind, text) as raised:
            self.package(*arguments, **keywords)
        self.assertEqual(raised.exception.code, "FUS-1309")


class InterfaceTest(DeviceCase):
    """By `__cuda_array_interface__`, which needs no extension module."""

    def arrays(self):
        return [ByInterface(value, self.device) for value in (self.x, self.y)]

    def changed(self, **changes):
        array = self.arrays()[0]
        array.changes = changes
        return array

    def test_in_and_out(self):
        result = self.package(*self.arrays())
        self.assertIsInstance(result, fusion.DeviceArray)
        self.assertEqual((result.shape, result.dtype, result.device.name),
                         ((5, 8), "f32", "cuda:0"))
        np.testing.assert_array_equal(np.asarray(result),
                                      (self.x + self.y) * self.x)
        described = result.__cuda_array_interface__
        self.assertEqual(described["typestr"], "<f4")
        self.assertEqual(described["data"], (result.address, False))
        again = self.package(result, self.arrays()[1])
        first = np.asarray(result)
        np.testing.assert_array_equal(np.asarray(again),
                                      (first + self.y) * first)

    def test_out(self):
        for out in (ByInterface(np.zeros_like(self.x), self.device),
                    self.package(*self.arrays())):
            result = self.package(*self.arrays(), out=out)
            self.assertIs(result, out)
            host = out.numpy() if isinstance(out, Array) else np.asarray(out)
            np.testing.assert_array_equal(host, (self.x + self.y) * self.x)

    def test_no_elements(self):
        empty = ByInterface(np.zeros((0, 8), np.float32), self.device)
        empty.changes = {"data": (0, False)}
        result = self.package(empty, empty)
        self.assertEqual(result.shape, (0, 8))
        self.assertEqual(result.__cuda_array_interface__["data"][0], 0)

    def test_overwritten_argument(self):
        package = compiled(APPEND)
        cache = ByInterface(np.zeros((4, 8), np.float32), self.device)
        row = ByInterface(np.arange(8, dtype=np.float32).reshape(1, 8),
                          self.device)
        negated, new = package(cache, row, 2)
        self.assertIs(new, cache)
        np.testing.assert_array_equal(cache.numpy()[2:3], -row.values)
        cache.changes = {"data": (cache.memory.address, True)}
        with self.assertRaisesRegex(ValueError, "overwritten and read-only"):
            package(cache, row, 2)

    def test_several_results_and_the_bits_of_bf16(self):
        package = compiled(TWO_RESULTS)
        bits = fusion.arrays.round_to_bf16(self.x[:4])
        numbers = np.arange(32, dtype=np.int32).reshape(4, 8)
        double, square = package(ByInterface(bits, self.device),
                                 ByInterface(numbers, self.device))
        np.testing.assert_array_equal(
            np.asarray(double), 2 * fusion.arrays.widen_bf16(bits))
        np.testing.assert_array_equal(np.asarray(square), numbers ** 2)
        self.assertFalse(hasattr(double, "__cuda_array_interface__"))

    def test_strides_of_one_row_major_array(self):
        for strides in (None, (32, 4)):
            self.package(self.changed(strides=strides), self.arrays()[1])
        for strides in ((4, 20), (64, 8), (-32, 4), (0, 4), (32, 3)):
            with self.subTest(strides=strides):
                self.refused(ValueError, "argument 0.*contiguous",
                             self.changed(strides=strides), self.arrays()[1])

    def test_refuses(self):
        x, y = self.arrays()
        host = np.zeros_like(self.x)
        for arguments, keywords, kind, text in (
                ((x, host), {}, TypeError, "cuda:0 and on the host"),
                ((x, y), {"out": host}, TypeError, "cuda:0 and on the host"),
                ((x, self.changed(mask=y)), {}, TypeError, "mask"),
                ((x, self.changed(typestr="<f8")), {}, TypeError,
                 "expected f32, got float64"),
                ((x, self.changed(typestr=">f4")), {}, TypeError,
                 "expected f32"),
                ((x, y), {"out": self.changed(data=(256, True))}, ValueError,
                 "output 0.*read-only"),
                ((x, y), {"out": self.changed(shape=(4, 8))}, ValueError,
                 r"expected shape \(5, 8\), got \(4, 8\)")):
            with self.subTest(text=text):
                self.refused(kind, text, *arguments, **keywords)
        with self.assertRaisesRegex(fusion.FusionError, "FUS-6004"):
            self.package(x, self.changed(shape=(4, 8)))

    def test_waits_for_the_stream_of_an_array(self):
        with mock.patch.object(abi, "call", wraps=abi.call) as called:
            self.package(self.changed(stream=7), self.arrays()[1])
        self.assertIn(mock.call("Synchronize", self.device.handle, 7),
                      called.mock_calls)

    def test_figures(self):
        self.assertEqual(
            self.package.figures(*self.arrays())["launches"], 1)


@unittest.skipIf(native.module() is None, "the extension was not built")
class DLPackTest(DeviceCase):

    def test_in_and_out(self):
        for kind in (ByDLPack, OldDLPack):
            with self.subTest(kind=kind):
                out = kind(np.zeros_like(self.x), self.device)
                x, y = (kind(v, self.device) for v in (self.x, self.y))
                result = self.package(x, y)
                np.testing.assert_array_equal(np.asarray(result),
                                              (self.x + self.y) * self.x)
                self.assertIs(self.package(x, y, out=out), out)
                np.testing.assert_array_equal(out.numpy(), result)

    def test_result_is_handed_on(self):
        result = self.package(*(ByDLPack(v, self.device)
                                for v in (self.x, self.y)))
        self.assertEqual(result.__dlpack_device__(), (2, 0))
        for version, name in ((None, "dltensor"), ((0, 8), "dltensor"),
                              ((1, 3), "dltensor_versioned")):
            capsule = result.__dlpack__(stream=5, max_version=version)
            self.assertIn(f'"{name}"', repr(capsule))
            (address, shape, strides, code, bits, lanes, kind, number,
             read_only, _) = native.module().read_capsule(capsule)
            self.assertEqual((address, shape, strides),
                             (result.address, (5, 8), (8, 1)))
            self.assertEqual((code, bits, lanes, kind, number, read_only),
                             (2, 32, 1, 2, 0, False))
            with self.assertRaisesRegex(BufferError, "taken before"):
                native.module().read_capsule(capsule)
        with self.assertRaises(BufferError):
            result.__dlpack__(dl_device=(1, 0))
        with self.assertRaises(BufferError):
            result.__dlpack__(copy=True)

    def test_capsules_keep_the_memory_and_let_go(self):
        for taken in (False, True):
            for versioned in ((0, 1), (1, 0)):
                result = self.package(*(ByDLPack(v, self.device)
                                        for v in (self.x, self.y)))
                gone = weakref.ref(result._memory)
                held = result.__dlpack__(max_version=versioned)
                if taken:
                    held = native.module().read_capsule(held)
                del result
                gc.collect()
                self.assertIsNotNone(gone())
                del held
                gc.collect()
                self.assertIsNone(gone())

    def test_bf16_goes_by_dlpack(self):
        package = compiled(TWO_RESULTS)
        bits = fusion.arrays.round_to_bf16(self.x[:4])
        double, _ = package(
            ByDLPack(bits, self.device, "bf16"),
            ByDLPack(np.zeros((4, 8), np.int32), self.device, "i32"))
        capsule = double.__dlpack__(max_version=(1, 0))
        self.assertEqual(native.module().read_capsule(capsule)[3:5], (4, 16))

    def test_refuses(self):
        x, y = (ByDLPack(v, self.device) for v in (self.x, self.y))
        other = ByDLPack(self.y, Device.open("cuda:1"))
        self.refused(TypeError, "on cuda:0 and on cuda:1", x, other)
        y.place = (10, 0)
        self.refused(TypeError, "argument 1.*device of type 10", x, y)
        y.place = (2, 0)
        y.dtype = "i32"
        self.refused(TypeError, "expected f32, got int32", x, y)
        # Says one device and gives another.
        y.dtype = "f32"
        with mock.patch.object(y, "capsule", other.capsule):
            self.refused(ValueError, "on cuda:1, others on cuda:0", x, y)

    def test_arrays_on_the_host(self):
        class OnHost:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **keywords):
                return self.array.__dlpack__(**keywords)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        result = self.package(OnHost(self.x), OnHost(self.y))
        self.assertIsInstance(result, np.ndarray)
        np.testing.assert_array_equal(result, (self.x + self.y) * self.x)

    def test_says_what_is_missing_without_the_extension(self):
        x, y = (ByDLPack(v, self.device) for v in (self.x, self.y))
        with mock.patch.object(device_arrays.native, "module",
                               lambda: None):
            self.refused(TypeError, "needs the extension module", x, y)


if __name__ == "__main__":
    unittest.main()
