# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages on PyTorch CUDA tensors; needs PyTorch and a GPU."""

import unittest

import fusion_compiler as fusion
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
        with self.assertRaisesRegex(TypeError, "cpu"):
            self.package(x.cpu(), y.cpu())
        with self.assertRaisesRegex(TypeError, "mixed"):
            self.package(x, y.cpu().numpy())


if __name__ == "__main__":
    unittest.main()
