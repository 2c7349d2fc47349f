# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls with PyTorch tensors, from C and through ctypes.

On CPU tensors, which run on the emulator: the same code serves CUDA tensors,
only that those are not copied.
"""

import copy
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

import numpy as np

import fusion_compiler as fusion
from fusion_compiler import abi, native, tensors
from test_package import APPEND, SCALE_ADD, compiled

try:
    import torch
except ImportError:
    torch = None

HERE = pathlib.Path(__file__).resolve().parent

TYPES = """
func.func @types(%a: tensor<4xf64>, %b: tensor<4xf16>, %c: tensor<4xbf16>,
                 %d: tensor<4xi64>, %e: tensor<4xi16>, %f: tensor<4xi8>,
                 %g: tensor<4xi1>)
    -> (tensor<4xf64>, tensor<4xf16>, tensor<4xbf16>, tensor<4xi64>,
        tensor<4xi16>, tensor<4xi8>, tensor<4xi1>) {
  %a2 = arith.addf %a, %a : tensor<4xf64>
  %b2 = arith.addf %b, %b : tensor<4xf16>
  %c2 = arith.addf %c, %c : tensor<4xbf16>
  %d2 = arith.addi %d, %d : tensor<4xi64>
  %e2 = arith.addi %e, %e : tensor<4xi16>
  %f2 = arith.addi %f, %f : tensor<4xi8>
  %true = arith.constant dense<true> : tensor<4xi1>
  %g2 = arith.xori %g, %true : tensor<4xi1>
  return %a2, %b2, %c2, %d2, %e2, %f2, %g2 : tensor<4xf64>, tensor<4xf16>,
      tensor<4xbf16>, tensor<4xi64>, tensor<4xi16>, tensor<4xi8>, tensor<4xi1>
}
"""

POINT = """
func.func @point(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %z = arith.addf %x, %y : tensor<f32>
  return %z : tensor<f32>
}
"""

SCALED = """
#id = affine_map<(d0) -> (d0)>
func.func @scaled(%x: tensor<8xf32>, %f: f32, %b: bf16, %i: i32)
    -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %wide = arith.extf %b : bf16 to f32
    %n = arith.sitofp %i : i32 to f32
    %p = arith.mulf %a, %f : f32
    %q = arith.addf %p, %wide : f32
    %s = arith.addf %q, %n : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
"""

# What is between the products is in the workspace.
TWO_KERNELS = """
func.func @twice(%x: tensor<?x64xf32>, %w: tensor<64x64xf32>)
    -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %at = arith.constant 0 : index
  %rows = tensor.dim %x, %at : tensor<?x64xf32>
  %e = tensor.empty(%rows) : tensor<?x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x64xf32>)
      -> tensor<?x64xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x64xf32>, tensor<64x64xf32>)
      outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  %z = linalg.matmul ins(%y, %w : tensor<?x64xf32>, tensor<64x64xf32>)
      outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %z : tensor<?x64xf32>
}
"""


def resident_bytes():
    """The memory of this process that is in use."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def stand_in_for_launch(test, function):
    """Has the extension call `function`, of an entry's handle and a pointer to
    abi.LaunchArgs, where it would launch, until `test` is over."""
    native.bind_torch()
    extension, runtime = native.module(), abi.library()
    launch = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p,
                              ctypes.POINTER(abi.LaunchArgs))(function)
    addresses = [ctypes.cast(getattr(runtime, "fusionRt" + name),
                             ctypes.c_void_p).value
                 for name in native.FUNCTIONS]
    test.addCleanup(extension.bind_runtime, abi.check, *addresses)
    test.launch = launch  # It has to live as long as the extension calls it.
    addresses[native.FUNCTIONS.index("Launch")] = ctypes.cast(
        launch, ctypes.c_void_p).value
    extension.bind_runtime(abi.check, *addresses)


@unittest.skipIf(torch is None, "PyTorch is not installed")
class TensorCase(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.package = compiled(SCALE_ADD)
        cls.entry = cls.package["scale_add"]

    def draw(self, rows):
        return torch.randn(rows, 8), torch.randn(rows, 8)

    def assert_same(self, one, other):
        self.assertEqual(one.dtype, other.dtype)
        torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)

    def refused(self, kind, text, call):
        """The call is refused as FUS-1309, with both exceptions' types."""
        with self.assertRaisesRegex(kind, text) as raised:
            call()
        self.assertIsInstance(raised.exception, fusion.FusionError)
        self.assertEqual(raised.exception.code, "FUS-1309")
        self.assertTrue(raised.exception.remedy)


class TensorTest(TensorCase):
    """What a call takes and gives, whichever way it goes."""

    def test_any_number_of_rows(self):
        for rows in (1, 2, 7, 64, 129, 2, 1):
            x, y = self.draw(rows)
            self.assert_same(self.package(x, y), (x + y) * x)

    def test_no_elements(self):
        x, y = self.draw(0)
        self.assertEqual(self.package(x, y).shape, (0, 8))

    def test_no_dimensions(self):
        package = compiled(POINT)
        result = package(torch.tensor(3.0), torch.tensor(4.0))
        self.assertEqual(result.shape, ())
        self.assertEqual(result.item(), 7.0)

    def test_element_types(self):
        package = compiled(TYPES)
        kinds = (torch.float64, torch.float16, torch.bfloat16, torch.int64,
                 torch.int16, torch.int8)
        inputs = [torch.tensor([1, 2, -3, 7]).to(kind) for kind in kinds]
        inputs.append(torch.tensor([True, False, True, True]))
        results = package(*inputs)
        for result, x in zip(results, inputs[:-1]):
            self.assert_same(result, x + x)
        self.assert_same(results[-1], ~inputs[-1])

    def test_floats_of_8_bits(self):
        for name, kind in (("f8E4M3FN", torch.float8_e4m3fn),
                           ("f8E5M2", torch.float8_e5m2)):
            package = compiled(f"""
                func.func @widen(%x: tensor<8x{name}>) -> tensor<8xf32> {{
                  %y = arith.extf %x : tensor<8x{name}> to tensor<8xf32>
                  return %y : tensor<8xf32>
                }}""")
            x = torch.arange(-4.0, 4.0).to(kind)
            self.assert_same(package(x), x.float())
            narrow = compiled(f"""
                func.func @narrow(%x: tensor<8xf32>) -> tensor<8x{name}> {{
                  %y = arith.truncf %x : tensor<8xf32> to tensor<8x{name}>
                  return %y : tensor<8x{name}>
                }}""")
            self.assert_same(narrow(x.float()).float(), x.float())

    def test_out(self):
        x, y = self.draw(5)
        for out in (torch.empty(5, 8), (torch.empty(5, 8),),
                    [torch.empty(5, 8)]):
            result = self.package(x, y, out=out)
            given = out if isinstance(out, torch.Tensor) else out[0]
            self.assertIs(result, given)
            self.assert_same(result, (x + y) * x)

    def test_out_is_an_input(self):
        x, y = self.draw(5)
        expected = (x + y) * x
        self.package(x, y, out=x)
        self.assert_same(x, expected)

    def test_refuses_a_wrong_out(self):
        x, y = self.draw(5)
        for out, kind, text in (
                (torch.empty(4, 8), ValueError, r"expected shape \(5, 8\)"),
                (torch.empty(8, 5).t(), ValueError, "output 0.*contiguous"),
                (torch.empty(5, 8).double(), TypeError, "output 0.*float64"),
                (np.empty((5, 8), np.float32), TypeError, "mixed"),
                ([], TypeError, "1 outputs, got 0")):
            with self.subTest(text=text):
                self.refused(kind, text,
                             lambda out=out: self.package(x, y, out=out))

    def test_overwritten_argument(self):
        package = compiled(APPEND)
        cache, row = torch.zeros(4, 8), torch.arange(8.0).reshape(1, 8)
        negated, new = package(cache, row, 2)
        self.assertIs(new, cache)
        self.assert_same(negated, -row)
        self.assert_same(cache[2:3], -row)
        self.assertEqual(torch.count_nonzero(cache), 7)
        out = (torch.empty_like(row), cache)
        package(cache, row, np.int64(3), out=out)
        self.assert_same(cache[3:], -row)
        self.refused(ValueError, "memory of argument 0", lambda: package(
            cache, row, 2, out=(torch.empty_like(row), cache.clone())))
        with self.assertRaises(fusion.FusionError):
            package(cache, row, 4)

    def test_numbers(self):
        package, x = compiled(SCALED), torch.arange(8.0)
        for f, b, i in ((2.0, 0.5, 3), (3, 1, -4), (1e40, 0.0, 0),
                        (float("nan"), 0.0, 0), (np.float64(0.1), 1 / 3, 7),
                        (torch.tensor(0.1), np.float32(1 / 3), np.int8(7)),
                        (1 / 3, 1e-40, True), (16777217, 3, 2 ** 31 - 1),
                        # Rounded twice, by way of f64, it is another number.
                        (2 ** 60 + 2 ** 36 + 1, 0, 0)):
            with self.subTest(f=f, b=b, i=i), np.errstate(over="ignore"):
                expected = package(x.numpy(), f, b, i)
                self.assert_same(package(x, f, b, i),
                                 torch.from_numpy(expected))
        for numbers, kind, text in (((2.0, 0.5, 3.5), TypeError, "i32"),
                                    ((2.0, 0.5, 1 << 31), ValueError, "fit"),
                                    ((2.0, 0.5, -1 << 80), ValueError, "fit"),
                                    (("x", 0.5, 3), TypeError, "f32"),
                                    ((2.0, [1.0, 2.0], 3), TypeError,
                                     "a number"),
                                    ((1j, 0.5, 3), TypeError, "complex")):
            with self.subTest(text=text):
                with self.assertRaisesRegex(kind, text):
                    package(x, *numbers)

    def test_parameters_and_subclasses(self):
        x, y = self.draw(3)
        self.assert_same(self.package(torch.nn.Parameter(x), y).detach(),
                         (x + y) * x)

        class Own(torch.Tensor):
            pass

        self.assert_same(self.package(x.as_subclass(Own), y), (x + y) * x)

    def test_refuses_what_it_would_have_to_copy(self):
        x, y = self.draw(8)
        for call, kind, text in (
                (lambda: self.package(x.t(), y), ValueError, "contiguous"),
                (lambda: self.package(x[:1].expand(8, 8), y), ValueError,
                 "contiguous"),
                (lambda: self.package(torch._neg_view(x), y), ValueError,
                 "negated.*resolve_neg"),
                (lambda: self.package(x.double(), y), TypeError,
                 "expected torch.float32, got torch.float64"),
                (lambda: self.package(x, y.int()), TypeError,
                 "expected torch.float32, got torch.int32"),
                (lambda: self.package(x.to(torch.complex64), y), TypeError,
                 "complex64"),
                (lambda: self.package(x.to_sparse(), y), TypeError,
                 "sparse.*to_dense"),
                (lambda: self.package(x.to("meta"), y.to("meta")), TypeError,
                 "on meta"),
                (lambda: self.package(x, y.numpy()), TypeError, "mixed"),
                (lambda: self.package(x), TypeError, "2 arguments, got 1")):
            with self.subTest(text=text):
                self.refused(kind, text, call)
        with self.assertRaisesRegex(fusion.FusionError, "FUS-6004"):
            self.package(x, y[:7])
        with self.assertRaisesRegex(TypeError, "'other'"):
            self.package(x, y, other=x)

    def test_refuses_tensors_without_elements_of_their_own(self):
        from torch._subclasses.fake_tensor import FakeTensorMode
        x, y = self.draw(3)
        with FakeTensorMode() as mode:
            fake = mode.from_tensor(x)
        self.refused(TypeError, "FakeTensor", lambda: self.package(fake, y))
        with self.assertRaises(fusion.FusionError):
            torch.vmap(self.package)(torch.ones(2, 3, 8), torch.ones(2, 3, 8))

    def test_more_elements_than_31_bits_count(self):
        # Nothing is read of tensors without elements, but sizes are.
        x = torch.empty(1 << 33, 0)
        package = compiled(SCALE_ADD.replace("?x8", "?x?").replace(
            '"_"]', '"columns"]'))
        self.assertEqual(package(x, x).shape, (1 << 33, 0))

    def test_workspace(self):
        package = compiled(TWO_KERNELS)
        x, w = torch.randn(5, 64).round(), torch.eye(64) * 2
        self.assertGreater(package.figures(x, w)["workspace_bytes"], 0)
        self.assert_same(package(x, w), 4 * x)

    def test_on_no_tensors_the_results_are_of_numpy(self):
        package = compiled("""
            func.func @filled(%x: f32) -> tensor<4xf32> {
              %y = tensor.splat %x : tensor<4xf32>
              return %y : tensor<4xf32>
            }""")
        np.testing.assert_array_equal(package(2.5), np.full(4, 2.5, "f4"))
        result, = package["filled"].launcher()([2.5])
        self.assert_same(result, torch.full((4,), 2.5))


class LauncherTest(TensorCase):

    def test_list_in_and_out(self):
        launch = self.entry.launcher()
        for rows in (3, 5, 3):
            x, y = self.draw(rows)
            for values in ([x, y], (x, y)):
                results = launch(values)
                self.assertIsInstance(results, list)
                self.assert_same(results[0], (x + y) * x)

    def test_orders(self):
        launch = self.entry.launcher([(1, 0), None], [(1, 0)])
        x, y = self.draw(5)
        turned = x.t()  # 8 x 5, the memory of 5 x 8
        result, = launch([turned, y])
        self.assertEqual(result.shape, (8, 5))
        self.assertEqual(result.stride(), (1, 8))
        self.assert_same(result, ((x + y) * x).t())
        # What is not in that order is copied.
        result, = launch([turned.contiguous(), y])
        self.assertEqual(result.stride(), (1, 8))
        self.assert_same(result, ((x + y) * x).t())

    def test_refuses_wrong_orders(self):
        for arguments in (([(0, 0), None], None), ([(0, 1)], None),
                          (None, [(0, 1, 2)]), (None, [None, None])):
            with self.subTest(arguments=arguments):
                with self.assertRaises(ValueError):
                    self.entry.launcher(*arguments)

    def test_unaligned_is_copied(self):
        x, y = torch.randn(41)[1:].view(5, 8), torch.randn(5, 8)
        self.assertNotEqual(x.data_ptr() % 16, 0)
        self.assert_same(self.entry.launcher()([x, y])[0], (x + y) * x)

    def test_strides_and_signs_are_copied(self):
        x, y = self.draw(8)
        launch = self.entry.launcher()
        self.assert_same(launch([x.t(), y])[0], (x.t() + y) * x.t())
        # Who checked a graph's arguments knows that none is to be negated;
        # of those that are copied anyway it is not forgotten.
        turned = torch._neg_view(x.t())
        self.assert_same(launch([turned, y])[0], (turned + y) * turned)

    def test_overwritten_argument_of_any_layout(self):
        launch = compiled(APPEND)["append"].launcher()
        row = torch.arange(8.0).reshape(1, 8)
        for cache in (torch.zeros(4, 8), torch.zeros(8, 4).t(),
                      torch.zeros(33)[1:].view(4, 8)):
            results = launch([cache, row, 2])
            self.assertIs(results[1], cache)
            self.assert_same(cache[2:3], -row)
            self.assertEqual(torch.count_nonzero(cache), 7)

    def test_still_refuses(self):
        launch = self.entry.launcher()
        x, y = self.draw(3)
        for values, kind, text in (
                ([x, y.double()], TypeError, "argument 1.*float64"),
                ([x, y.int()], TypeError, "argument 1.*int32"),
                ([x], TypeError, "2 arguments, got 1"),
                ([x, 3], TypeError, "expected a PyTorch tensor, got int"),
                ([x, None], TypeError, "got NoneType"),
                ([x, y.to("meta")], TypeError, "on meta")):
            with self.subTest(text=text):
                self.refused(kind, text, lambda values=values: launch(values))
        with self.assertRaisesRegex(fusion.FusionError, "FUS-6004"):
            launch([x, y[:2]])
        with self.assertRaises(TypeError):
            launch(5)
        with self.assertRaises(TypeError):
            launch([x, y], out=x)


@unittest.skipUnless(native.native_calls(), native.native_calls().reason)
class FromCTest(TensorCase):
    """That usual calls are made from C, and how long they may be made."""

    def test_usual_calls_do_not_come_to_python(self):
        x, y = self.draw(5)
        append, launch = compiled(APPEND), self.entry.launcher()
        scaled = compiled(SCALED)
        self.package(x, y)  # Hands PyTorch over.
        with mock.patch.object(fusion.Entry, "_call",
                               side_effect=AssertionError), \
                mock.patch.object(fusion.Entry, "_launch_slow",
                                  side_effect=AssertionError):
            for rows in (5, 3, 0):
                self.package(x[:rows], y[:rows])
                launch([x[:rows], y[:rows]])
            self.package(x, y, out=torch.empty(5, 8))
            self.package(torch.nn.Parameter(x), y, out=[torch.empty(5, 8)])
            append(torch.zeros(4, 8), x[:1], 2)
            scaled(x[0], 1.5, 2, 3)
            with self.assertRaises(AssertionError):
                self.package(x.double(), y)

    def test_tensors_of_another_device_than_the_packages(self):
        x, y = self.draw(5)
        # The emulator again, under the name of a GPU.
        device = copy.copy(fusion.Device.open("emulator"))
        device.name = "cuda:0"
        package = fusion.Package(self.package.data, device)
        self.assertEqual(package.device.name, "cuda:0")
        with mock.patch.object(fusion.Entry, "_run_torch",
                               side_effect=AssertionError):
            self.assert_same(package(x, y), (x + y) * x)

    def test_no_growth_over_20000_calls(self):
        entry, launch = self.entry, self.entry.launcher()
        arguments = [self.draw(rows) for rows in (1, 2, 3)]

        def run(count):
            for i in range(count):
                x, y = arguments[i % 3]
                entry(x, y)
                launch([x, y])
                if i % 50 == 0:
                    with self.assertRaises(fusion.FusionError):
                        entry(x, arguments[(i + 1) % 3][1])

        run(500)
        before = resident_bytes()
        references = sys.getrefcount(arguments[0][0])
        run(10000)
        self.assertLess(resident_bytes() - before, 2 << 20)
        self.assertEqual(sys.getrefcount(arguments[0][0]), references)

    def test_sizes_that_never_come_again(self):
        x = torch.empty(1 << 20, 0)
        package = compiled(SCALE_ADD.replace("?x8", "?x?").replace(
            '"_"]', '"columns"]'))

        def run(sizes):
            for rows in sizes:
                part = x[:rows]
                self.assertEqual(package(part, part).shape, (rows, 0))

        run(range(3000))
        before = resident_bytes()
        run(range(3000, 30000))
        self.assertLess(resident_bytes() - before, 4 << 20)

    def test_entries_and_launchers_go(self):
        import gc
        import weakref
        x, y = self.draw(3)
        package = compiled(SCALE_ADD)
        entry = package["scale_add"]
        launch, gone = entry.launcher(), weakref.ref(entry)
        launch([x, y])
        del package, entry
        gc.collect()
        self.assert_same(launch([x, y])[0], (x + y) * x)
        self.assertIsNotNone(gone())
        gone().launch = launch
        del launch
        gc.collect()
        self.assertIsNone(gone())

    def test_eight_threads(self):
        launch, failures = self.entry.launcher(), []

        def work(seed):
            generator = torch.Generator().manual_seed(seed)
            for i in range(60):
                rows = 1 + (seed * 7 + i) % 11
                x, y = (torch.randn(rows, 8, generator=generator)
                        for _ in range(2))
                results = [self.entry(x, y), launch([x, y])[0]]
                if any(not torch.equal(r, (x + y) * x) for r in results):
                    failures.append((seed, i))

        threads = [threading.Thread(target=work, args=(seed,))
                   for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


@unittest.skipUnless(torch and native.native_calls(),
                     "PyTorch or the extension is missing")
class InPlaceTest(unittest.TestCase):
    """What the runtime is told of tensors that are used in place, as CUDA
    tensors are: a function of this test stands for the launch."""

    def setUp(self):
        self.launches, self.status = [], 0
        self.entry = compiled(TWO_KERNELS)["twice"]
        extension = native.module()
        stand_in_for_launch(self, self.record)
        f32 = abi.DTYPES.index("f32")

        class Caller(extension.Caller):
            def _launch_slow(self, *arguments):
                self.slow.append(arguments)
                return "slow"

        self.caller = Caller()
        self.caller._configure(
            self.entry._handle.value, self.entry._loaded.device.handle.value,
            *tensors.dlpack_device("emulator"), False,
            (("x", f32, 2, False, False), ("w", f32, 2, False, False)),
            (("z", f32, 2, -1),))

    def record(self, _, arguments):
        told = arguments.contents
        self.launches.append({
            kind: [(value.address, value.dims[:value.rank], value.dtype)
                   for value in getattr(told, kind)[:count]]
            for kind, count in (("inputs", told.numInputs),
                                ("outputs", told.numOutputs))})
        self.launches[-1]["workspace"] = (told.workspace, told.workspaceBytes)
        self.launches[-1]["stream"] = told.stream
        return self.status

    def test_description(self):
        x, w = torch.ones(5, 64), torch.ones(64, 64)
        result = self.caller(x, w)
        told, = self.launches
        f32 = abi.DTYPES.index("f32")
        self.assertEqual(told["inputs"], [(x.data_ptr(), [5, 64], f32),
                                          (w.data_ptr(), [64, 64], f32)])
        self.assertEqual(told["outputs"], [(result.data_ptr(), [5, 64], f32)])
        self.assertIsNone(told["stream"])
        address, size = told["workspace"]
        self.assertEqual(size,
                         self.entry.figures(x, w)["workspace_bytes"])
        self.assertGreater(size, 0)
        # Not among the arguments' memory.
        for tensor in (x, w, result):
            self.assertFalse(tensor.data_ptr() < address + size and
                             address < tensor.data_ptr() + tensor.nbytes)

    def test_orders(self):
        launch = native.module().Launcher(self.caller, ((1, 0), None),
                                          ((1, 0),))
        x, w = torch.ones(64, 5).t().contiguous().t(), torch.ones(64, 64)
        result, = launch([x, w])
        self.assertEqual((tuple(result.shape), result.stride()),
                         ((64, 5), (1, 64)))
        f32 = abi.DTYPES.index("f32")
        self.assertEqual(self.launches[0]["inputs"][0],
                         (x.data_ptr(), [5, 64], f32))
        self.assertEqual(self.launches[0]["outputs"],
                         [(result.data_ptr(), [5, 64], f32)])

    def test_failed_launch_keeps_nothing(self):
        x, w = torch.ones(5, 64), torch.ones(64, 64)
        out, self.status = torch.empty(5, 64), 6001
        references = [sys.getrefcount(value) for value in (x, w, out)]
        for _ in range(100):
            with self.assertRaises(fusion.FusionError) as raised:
                self.caller(x, w, out=out)
        self.assertEqual(raised.exception.code, "FUS-6001")
        del raised
        self.assertEqual([sys.getrefcount(value) for value in (x, w, out)],
                         references)

    def test_launchers_leave_to_python_what_is_to_be_copied(self):
        self.caller.slow = []
        launch = native.module().Launcher(self.caller, (None, None), (None,))
        x, w = torch.ones(321)[1:].view(5, 64), torch.ones(64, 64)
        for values in ([x, w], [w[:, :5].t(), w], [w.double(), w]):
            self.caller.slow.clear()
            self.assertEqual(launch(values), "slow")
            self.assertEqual(self.caller.slow,
                             [(tuple(values), (None, None), (None,))])
        self.assertEqual(self.launches, [])


@unittest.skipIf(torch is None, "PyTorch is not installed")
class WithoutExtensionTest(unittest.TestCase):

    def test_same_without_the_extension(self):
        environment = {**os.environ, "FUSION_NATIVE_LIBRARY": "none",
                       "PYTHONPATH": os.pathsep.join(sys.path)}
        result = subprocess.run(
            [sys.executable, HERE / "run.py", "test_native.TensorTest",
             "test_native.LauncherTest"], env=environment, text=True,
            capture_output=True, timeout=300, check=False)
        self.assertEqual(result.returncode, 0, result.stdout[-3000:])

    def test_pytorch_that_does_not_describe_its_tensors(self):
        program = ("import torch\n"
                   "del torch.Tensor.__dlpack_c_exchange_api__\n"
                   "import fusion_compiler as fusion\n"
                   "from test_package import SCALE_ADD, compiled\n"
                   "x, package = torch.ones(3, 8), compiled(SCALE_ADD)\n"
                   "assert torch.equal(package(x, x), 2 * x)\n"
                   "launch = package['scale_add'].launcher()\n"
                   "assert torch.equal(launch([x, x])[0], 2 * x)\n"
                   "print(fusion.native_calls())")
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        result = subprocess.run([sys.executable, "-c", program],
                                env=environment, text=True,
                                capture_output=True, timeout=60, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, "False.*does not describe its tensors")

    def test_says_so(self):
        for value, text in (("none", "is none"), ("/nowhere.so", "1301")):
            environment = {**os.environ, "FUSION_NATIVE_LIBRARY": value,
                           "PYTHONPATH": os.pathsep.join(sys.path)}
            result = subprocess.run(
                [sys.executable, "-c", "import fusion_compiler as f\n"
                 "calls = f.native_calls()\nassert not calls\n"
                 "print(calls.reason)"], env=environment, text=True,
                capture_output=True, timeout=60, check=False)
            self.assertIn(text, result.stdout + result.stderr)


@unittest.skipUnless(torch and native.native_calls(),
                     "PyTorch or the extension is missing")
class BenchmarkTest(unittest.TestCase):

    def test_host_cost(self):
        script = HERE.parent / "benchmarks" / "host_cost.py"
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder, "p.fpk")
            results = pathlib.Path(folder, "r.json")
            for arguments in (("build", package),
                              ("run", package, "--device=cpu", "--calls=50",
                               f"--json={results}")):
                subprocess.run([sys.executable, script, *arguments],
                               check=True, capture_output=True, timeout=120)
            rows = json.loads(results.read_text())
        self.assertEqual(set(rows), {"entry without the launch",
                                     "launcher without the launch"})
        # A call through ctypes takes 20; this machine may be busy.
        self.assertLess(rows["launcher without the launch"]["least_us"], 15)


if __name__ == "__main__":
    unittest.main()
