# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What programs of PyTorch may be given: numbers at the edges of their types,
and tensors of every kind. The result is PyTorch's, or an error says why not."""

import importlib.metadata
import importlib.util
import unittest
import unittest.mock

from test_torch_compile import REASON, CompileTest

if not REASON:
    import torch
    import torch.nn.functional as F

    import fusion_compiler.torch as fusion_torch
    from fusion_compiler.importing import torch_mlir

INF, NAN = float("inf"), float("nan")


def _pairs(values):
    """Every value with every other."""
    one, other = torch.meshgrid(values, values, indexing="ij")
    return one.flatten(), other.flatten()


class ResultsTest(CompileTest):

    def check_exact(self, function, *inputs, zeros=True, left=()):
        """Every bit is eager's; with zeros=False but for the sign of a zero.
        `left` are the operations that PyTorch runs."""
        torch._dynamo.reset()
        fusion_torch.reset_report()
        expected = function(*inputs)
        actual = self.compile(function)(*inputs)
        for number, (one, other) in enumerate(zip(actual, expected,
                                                  strict=True)):
            self.assertEqual((number, one.dtype, one.shape),
                             (number, other.dtype, other.shape))
            same = one == other
            if other.is_floating_point():
                if zeros:
                    same &= one.signbit() == other.signbit()
                same |= one.isnan() & other.isnan()
            where = (~same).nonzero()[:4].tolist()
            self.assertEqual(where, [], f"result {number}")
        self.assertEqual(self.fallbacks(), set(left),
                         str(fusion_torch.report()))


class FloatsTest(ResultsTest):

    def each_type(self):
        values = [0., -0., 1., -1., 1.5, -1.5, 2.5, -2.5, 0.1, 7.3, -0.5,
                  0.49999997, 300., INF, -INF, NAN]
        for dtype in (torch.float32, torch.bfloat16, torch.float16):
            yield torch.tensor(values).to(dtype)

    def test_one_operand(self):
        def function(x):
            return (x.abs(), -x, x.sign(), x.floor(), x.ceil(), x.trunc(),
                    x.round(), x.frac(), x.isnan(), x.isinf(), x.isfinite(),
                    x == x, x != x, x.logical_not(), x.bool(),
                    torch.nan_to_num(x), x * 0, x - x, x.sqrt(), x ** 2)
        for x in self.each_type():
            self.check_exact(function, x)

    def test_two_operands(self):
        def function(x, y):
            return (torch.maximum(x, y), torch.minimum(x, y), x % y,
                    torch.fmod(x, y), x // y, x == y, x < y, x >= y,
                    torch.where(x > y, x, y), torch.logical_xor(x, y))
        for x in self.each_type():
            self.check_exact(function, *_pairs(x))

    def test_bounds(self):
        # Which zero of two is kept differs between PyTorch's own kernels.
        def function(x, y):
            return (x.clamp(-1, 1), x.clamp(min=0.5), x.clamp(max=y),
                    x.clamp(y, y + 1), F.relu(x), F.relu6(x), F.hardtanh(x),
                    torch.fmax(x, y), torch.fmin(x, y), F.threshold(x, 1, 2))
        for x in self.each_type():
            self.check_exact(function, *_pairs(x), zeros=False)

    def test_reductions(self):
        def function(x):
            return (x.amax(1), x.amin(1), x.max(1)[0], x.min(1)[0],
                    x.argmax(1), x.argmin(1), x.max(), x.min(), x.any(1),
                    x.all(1), x.isnan().sum(1))
        for x in self.each_type():
            self.check_exact(function, _pairs(x)[1].view(16, 16).roll(3, 1))

    def test_padding_that_cuts(self):
        def function(x):
            return (F.pad(x, (0, 0, 1, -1)), F.pad(x, (-1, 1), value=2.0),
                    F.pad(x, (-2, -1)), F.pad(x, (3, -2, -1, 0)) + 1)
        self.check_exact(function, torch.randn(2, 5, 4))

    def test_functions_that_torch_mlir_lowers_without_care(self):
        x = torch.tensor([[3e4, -2e4, 7.0, -INF]])
        self.check_exact(lambda x: [x.logcumsumexp(1)], x,
                         left={"aten.logcumsumexp.default"})
        self.assertIn("overflow", str(fusion_torch.report()))


class IntegersTest(ResultsTest):

    def each_type(self):
        for dtype in (torch.int64, torch.int32, torch.int16):
            info = torch.iinfo(dtype)
            yield torch.tensor([0, 1, -1, 2, -2, 3, -3, 7, -7, 100, -100,
                                info.max, info.min, info.max - 1,
                                info.min + 1], dtype=dtype)

    def test_they_wrap(self):
        def function(x, y):
            return (x + y, x - y, x * y, -x, x.abs(), x ** 2, x ** 3, x.sum(),
                    x.cumsum(0), x.prod(), torch.maximum(x, y), x.sign(),
                    x.clamp(-2, 50), x & y, x | y, x ^ y, ~x)
        for x in self.each_type():
            self.check_exact(function, *_pairs(x))

    def test_division(self):
        def function(x, y):
            return (x // y, x % y, torch.fmod(x, y),
                    torch.div(x, y, rounding_mode="trunc"), x // 3, x // -3,
                    x % 3, x % -3, torch.fmod(x, -3), x / y, x // 2.5)
        for x in self.each_type():
            x, y = _pairs(x)
            least = torch.iinfo(x.dtype).min
            # What these give is undefined, and ends the process in PyTorch.
            valid = (y != 0) & ~((x == least) & (y == -1))
            self.check_exact(function, x[valid], y[valid])

    def test_shifts_by_more_than_there_are_bits(self):
        def function(x, y):
            return (x << y, x >> y, x << 3, x >> 3)
        for x in self.each_type():
            self.check_exact(function, *_pairs(x))

    def test_eight_bits(self):
        x, y = _pairs(torch.tensor([0, 1, -1, 100, -100, 127, -128],
                                   dtype=torch.int8))
        self.check_exact(lambda x, y: (x + y, x * y, x & y, x < y), x, y)

    def test_types_of_results(self):
        def function(x, y):
            return (x + y, x * y, x + 1, x + 1.5, x * True, x / 2, x == y,
                    x + y[0], torch.where(x > 0, x, y), torch.cat([x, y]),
                    x.sum(), x.cumsum(0), torch.maximum(x, y))
        types = (torch.bool, torch.int16, torch.int32, torch.int64,
                 torch.float16, torch.bfloat16, torch.float32, torch.float64)
        for one in types:
            for other in types:
                with self.subTest(f"{one} {other}"):
                    self.check_exact(function,
                                     torch.tensor([0, 1, 1, 0, 1]).to(one),
                                     torch.tensor([1, 0, 1, 1, 1]).to(other))

    def test_constants(self):
        """torch-mlir folds some of these to other numbers."""
        def function(x):
            a, b = torch.full((3,), 2.5), torch.full((3,), -7)
            return [value + x for value in (
                a.sign(), a % 1.5, (-a) % 2, b % 3, torch.fmod(b, 3), b // 2,
                (a < 3).int(), (a > 0).int(), (b < 2.5).int(), (b >= 0).int(),
                -b, b.float().trunc(), torch.full((3,), 1 << 60) * 16,
                torch.full((3,), 300).to(torch.int8))]
        self.check_exact(function, torch.arange(3.))
        # The same of sizes that are not known.
        x = torch.arange(6.).view(2, 3)
        compiled = self.compile(
            lambda x: torch.full_like(x, 2.5).sign() % 2 + x, dynamic=True)
        torch.testing.assert_close(compiled(x), 1 + x)


class TensorsTest(ResultsTest):

    def test_strides(self):
        base = torch.randn(10)
        negated = torch.randn(4, 5, dtype=torch.complex64).conj().imag
        self.assertTrue(negated.is_neg())
        for x in (torch.randn(5, 1).expand(5, 5),  # Repeated,
                  base.as_strided((4, 4), (2, 1)),  # overlapping,
                  torch.randn(9, 9)[1::2, ::3],  # with gaps,
                  torch.randn(4, 6).t(), negated):
            with self.subTest(x.stride()):
                self.check_same(lambda x: ((x * 2).relu(), x.sum(1),
                                           x @ x.t()), x)

    def test_writes_to_memory_that_overlaps(self):
        def function(x, y):
            x.mul_(2)
            return y + 1
        one, other = torch.arange(10.), torch.arange(10.)
        actual = self.compile(function)(one[:6], one[4:])
        torch.testing.assert_close(actual, function(other[:6], other[4:]))
        torch.testing.assert_close(one, other)
        with self.assertRaisesRegex(RuntimeError, "single memory location"):
            self.compile(lambda x: x.add_(1))(torch.ones(5, 1).expand(5, 7))

    def test_no_dimensions(self):
        self.check_same(lambda x: (x * 2, x.sum(), x.sum(0), x.softmax(0),
                                   x.log_softmax(-1), x.cumsum(0), *x.max(0),
                                   x.argmax(0), x.amax(0), x.prod(-1),
                                   (x * 2).unsqueeze(0) + 1),
                        torch.tensor(2.5))
        self.assertEqual(self.fallbacks(), set())

    def test_no_elements(self):
        self.check_same(lambda x: (
            x * 2, x.sum(), x.sum(0), x.softmax(1), x.prod(0), x.any(),
            x.all(), x @ torch.ones(4, 3), x.t() @ x, x.cumsum(0),
            torch.cat([x, torch.ones(2, 4)]), F.layer_norm(x, (4,))),
            torch.randn(0, 4))
        self.check_same(lambda x: (F.avg_pool2d(x, 2, padding=1),
                                   F.max_pool2d(x, 2),
                                   F.conv2d(x, torch.ones(2, 3, 3, 3))),
                        torch.randn(0, 3, 8, 8))
        self.check_same(lambda x, y: x @ y + 1, torch.randn(3, 0),
                        torch.randn(0, 4))
        self.assertEqual(self.fallbacks(), set())
        actual = self.compile(lambda x: x.mean(0))(torch.randn(0, 4))
        self.assertTrue(actual.isnan().all())

    def test_control_flow_by_data(self):
        def function(x):
            if x.sum() > 0:
                return (x + 1) * x[0, 0].item()
            return x.relu()[x < 3]
        self.check_same(function, torch.ones(3, 4))
        self.check_same(function, -torch.ones(3, 4))

    def test_sparse_quantised_and_complex(self):
        x = torch.randn(4, 5)
        self.check_same(lambda s, x: s @ x + 1, x.t().to_sparse(), x)
        self.check_same(lambda x: (x + 1).to_sparse().to_dense() * 2, x)
        quantised = torch.quantize_per_tensor(x, 0.1, 3, torch.quint8)
        self.check_same(lambda q: q.dequantize() * 2, quantised)
        fusion_torch.reset_report()
        self.check_same(lambda x: torch.quantize_per_tensor(
            x * 2, 0.1, 3, torch.qint8).dequantize() + 1, x)
        self.assertEqual(self.fallbacks(), {"aten.quantize_per_tensor.default",
                                            "aten.dequantize.self"})
        fusion_torch.reset_report()
        self.check_same(lambda c, x: ((c * x).abs().sum(0) * 2),
                        torch.randn(4, 5, dtype=torch.complex64), x)
        self.assertEqual(self.fallbacks(), {"aten.mul.Tensor",
                                            "aten.abs.default"})
        fusion_torch.reset_report()
        self.check_same(lambda x: x + x, torch.tensor([200, 100],
                                                      dtype=torch.uint8))
        self.assertIn("a tensor of torch.uint8", str(fusion_torch.report()))

    def test_another_device(self):
        x = torch.empty(3, 4, device="meta")
        actual = self.compile(lambda x: x.t() * 2 + 1)(x)
        self.assertEqual((actual.device.type, actual.shape), ("meta", (4, 3)))
        self.assertIn("a tensor on meta", str(fusion_torch.report()))


class LoweringTest(CompileTest):

    def test_sizes_that_contradict_each_other(self):
        text = """
  func.func @main(%arg0: tensor<6x4xf32>) -> tensor<6x2xf32> {
    %cast = tensor.cast %arg0 : tensor<6x4xf32> to tensor<?x?xf32> loc(#loc1)
    %cast_0 = tensor.cast %cast : tensor<?x?xf32> to tensor<6x%dxf32> loc(#loc2)
#loc2 = loc("convolution":1:0)
"""
        self.assertEqual(torch_mlir.contradiction(text.replace("%d", "2")),
                         ("6x4 to 6x2", "convolution"))
        self.assertIsNone(torch_mlir.contradiction(text.replace("%d", "4")))


class ReleasesTest(CompileTest):

    def setUp(self):
        super().setUp()
        torch_mlir.folder.cache_clear()
        self.addCleanup(torch_mlir.folder.cache_clear)

    def refuses(self, reason):
        with self.assertRaisesRegex(Exception, reason):
            self.compile(lambda x: x + 1)(torch.ones(2))

    def test_torch_mlir_is_too_old(self):
        with unittest.mock.patch.object(importlib.metadata, "version",
                                        return_value="20240101"):
            self.refuses("FUS-1306.*20240101.*pip install torch-mlir==")

    def test_torch_mlir_is_missing(self):
        with unittest.mock.patch.object(importlib.util, "find_spec",
                                        return_value=None):
            self.refuses("FUS-1305.*pip install torch-mlir==")


if __name__ == "__main__":
    unittest.main()
