# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages on PyTorch CUDA tensors; needs PyTorch and a GPU."""

import threading
import unittest
from unittest import mock

import numpy as np

import fusion_compiler as fusion
from fusion_compiler import native
from test_native import TWO_KERNELS, resident_bytes
from test_package import SCALE_ADD

try:
    import torch
    REASON = "" if torch.cuda.is_available() else "PyTorch sees no GPU"
except ImportError:
    torch, REASON = None, "PyTorch is not installed"


@unittest.skipIf(REASON, REASON)
class TorchTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.package = fusion.compile(SCALE_ADD)

    def draw(self, rows):
        return [torch.randn(rows, 8, device="cuda") for _ in range(2)]

    def test_in_place_and_allocated(self):
        for rows in (1, 33, 1000):
            x, y = self.draw(rows)
            out = torch.full_like(x, float("nan"))
            self.assertIs(self.package(x, y, out=out), out)
            torch.testing.assert_close(out, (x + y) * x, rtol=0, atol=0)
            torch.testing.assert_close(self.package(x, y), out, rtol=0, atol=0)

    def test_current_stream(self):
        x, y = self.draw(1 << 16)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            torch.cuda._sleep(10_000_000)  # The launch must queue behind it.
            x.add_(1)
            z = self.package(x, y)
        torch.cuda.current_stream().wait_stream(stream)
        torch.testing.assert_close(z, (x + y) * x, rtol=0, atol=0)

    def test_cuda_graph(self):
        x, y = self.draw(100)
        out = self.package(x, y)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.package(x, y, out=out)
        x.copy_(torch.randn_like(x))
        graph.replay()
        torch.testing.assert_close(out, (x + y) * x, rtol=0, atol=0)

    def test_first_run_in_a_cuda_graph(self):
        x, y = self.draw(100)
        out = torch.empty_like(x)
        package = fusion.Package(self.package.data)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            package(x, y, out=out)
        graph.replay()
        torch.testing.assert_close(out, (x + y) * x, rtol=0, atol=0)

    def test_refuses_what_it_would_have_to_copy(self):
        x, y = self.draw(8)
        with self.assertRaisesRegex(ValueError, "contiguous"):
            self.package(x.t(), y)
        with self.assertRaisesRegex(TypeError, "float64"):
            self.package(x.double(), y)
        with self.assertRaisesRegex(ValueError, "on cpu, others on cuda:0"):
            self.package(x, y.cpu())
        with self.assertRaisesRegex(ValueError, "output 0.*on cpu"):
            self.package(x, y, out=torch.empty(8, 8))
        with self.assertRaisesRegex(TypeError, "mixed"):
            self.package(x, y.cpu().numpy())

    def test_tensors_on_the_host_run_on_the_emulator(self):
        x, y = (value.cpu() for value in self.draw(8))
        torch.testing.assert_close(self.package(x, y), (x + y) * x, rtol=0,
                                   atol=0)

    @unittest.skipUnless(native.native_calls(), native.native_calls().reason)
    def test_usual_calls_are_made_from_c(self):
        x, y = self.draw(8)
        launch = self.package["scale_add"].launcher()
        self.package(x, y)
        with mock.patch.object(fusion.Entry, "_call",
                               side_effect=AssertionError), \
                mock.patch.object(fusion.Entry, "_launch_slow",
                                  side_effect=AssertionError):
            for result in (self.package(x, y), launch([x, y])[0],
                           self.package(x, y, out=torch.empty_like(x))):
                torch.testing.assert_close(result, (x + y) * x, rtol=0,
                                           atol=0)

    def test_launcher_orders_and_copies(self):
        x, y = self.draw(5)
        launch = self.package["scale_add"].launcher([(1, 0), None], [(1, 0)])
        unaligned = torch.empty(41, device="cuda")[1:].view(5, 8)
        unaligned.copy_(y)
        for first in (x.t(), x.t().contiguous()):
            for second in (y, unaligned):
                result, = launch([first, second])
                self.assertEqual(result.stride(), (1, 8))
                torch.testing.assert_close(result, ((x + y) * x).t(), rtol=0,
                                           atol=0)

    def test_workspace_in_a_cuda_graph(self):
        package = fusion.compile(TWO_KERNELS)
        x = torch.randn(300, 64, device="cuda").round()
        w = torch.eye(64, device="cuda") * 2
        self.assertGreater(package.figures(x, w)["workspace_bytes"], 0)
        launch = package["twice"].launcher()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            results = [package(x, w), launch([x, w])[0]]
        for _ in range(3):
            x.copy_(torch.randn_like(x).round())
            # What else is allocated must not lie in the graph's memory.
            other = [torch.full((1 << 20,), float("nan"), device="cuda")
                     for _ in range(4)]
            graph.replay()
            for result in results:
                torch.testing.assert_close(result, 4 * x, rtol=0, atol=0)
            del other

    def test_eight_threads_on_eight_streams(self):
        failures = []

        def work(seed):
            stream = torch.cuda.Stream()
            generator = torch.Generator("cuda").manual_seed(seed)
            launch = self.package["scale_add"].launcher()
            with torch.cuda.stream(stream):
                for i in range(200):
                    rows = 1 + (seed * 7 + i) % 500
                    x, y = (torch.randn(rows, 8, device="cuda",
                                        generator=generator)
                            for _ in range(2))
                    results = [self.package(x, y), launch([x, y])[0]]
                    if any(not torch.equal(r, (x + y) * x) for r in results):
                        failures.append((seed, i))

        threads = [threading.Thread(target=work, args=(seed,))
                   for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_no_growth_over_20000_calls(self):
        entry = self.package["scale_add"]
        launch = entry.launcher()
        x, y = self.draw(64)

        def run(count):
            for _ in range(count):
                entry(x, y)
                launch([x, y])
            torch.cuda.synchronize()

        run(500)
        before = resident_bytes(), torch.cuda.memory_allocated()
        run(10000)
        self.assertLess(resident_bytes() - before[0], 4 << 20)
        self.assertEqual(torch.cuda.memory_allocated(), before[1])

    def test_more_elements_than_31_bits_count(self):
        package = fusion.compile("""
            func.func @twice(%x: tensor<?xi8>) -> tensor<?xi8> {
              %y = arith.addi %x, %x : tensor<?xi8>
              return %y : tensor<?xi8>
            }""")
        x = torch.ones((1 << 31) + 64, dtype=torch.int8, device="cuda")
        x[-1] = 5
        try:
            result = package(x)
        except fusion.FusionError as error:
            # Said, rather than computed wrongly.
            self.assertTrue(error.remedy)
            return
        self.assertEqual(result[-1].item(), 10)
        self.assertTrue(bool((result[:-1] == 2).all()))

    def test_other_frameworks_arrays(self):
        class Foreign:
            def __init__(self, tensor):
                self.tensor = tensor

            def __dlpack__(self, *, stream=None, max_version=None):
                # As an exporter of another stream than PyTorch's.
                torch.cuda.synchronize()
                return self.tensor.__dlpack__()

            def __dlpack_device__(self):
                return self.tensor.__dlpack_device__()

        class Numba:
            def __init__(self, tensor):
                self.__cuda_array_interface__ = dict(
                    tensor.__cuda_array_interface__)
                self.tensor = tensor

        Numba.__cuda_array_interface__ = None
        x, y = self.draw(100)
        torch.cuda.synchronize()
        for kind in (Foreign, Numba):
            result = self.package(kind(x), kind(y))
            self.assertIsInstance(result, fusion.DeviceArray)
            for taken in (torch.as_tensor(result, device="cuda"),
                          torch.from_numpy(np.asarray(result)).cuda(),
                          torch.from_dlpack(result)):
                torch.testing.assert_close(taken, (x + y) * x, rtol=0, atol=0)
        address = result.address
        again = torch.from_dlpack(result)
        self.assertEqual(again.data_ptr(), address)
        del result, taken
        torch.testing.assert_close(again, (x + y) * x, rtol=0, atol=0)

    @unittest.skipIf(torch is None or torch.cuda.device_count() < 2,
                     "PyTorch sees one GPU")
    def test_second_device(self):
        x, y = (value.to("cuda:1") for value in self.draw(8))
        launch = self.package.on("cuda:1")["scale_add"].launcher()
        for result in (self.package(x, y), launch([x, y])[0]):
            self.assertEqual(result.device, x.device)
            torch.testing.assert_close(result, (x + y) * x, rtol=0, atol=0)
        with self.assertRaisesRegex(ValueError, "cuda:1.*others on cuda:0"):
            self.package(x.to("cuda:0"), y)


if __name__ == "__main__":
    unittest.main()
