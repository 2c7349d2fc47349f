# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products in tf32 where torch.backends allows them."""

import contextlib
import unittest

from test_torch_compile import REASON, CompileTest

if not REASON:
    import torch

    from fusion_compiler.torch import precision
    functional = torch.nn.functional


@contextlib.contextmanager
def _precisions(**values):
    """Sets `fp32_precision` of parts of torch.backends, "mkldnn.conv" say."""
    owners = {name: getattr(getattr(torch.backends, name.split("_")[0]),
                            name.split("_")[1]) for name in values}
    before = {name: one.fp32_precision for name, one in owners.items()}
    try:
        for name, value in values.items():
            owners[name].fp32_precision = value
        yield
    finally:
        for name, value in before.items():
            owners[name].fp32_precision = value


class Tf32Test(CompileTest):

    def rounding(self, function, *inputs):
        """How far a compiled function is from float64, relative to the
        largest."""
        exact = function(*(one.double() for one in inputs))
        actual = self.compile(function)(*inputs).double()
        return ((actual - exact).abs().max() / exact.abs().max()).item()

    def test_products_and_convolutions_apart(self):
        def product(x, y):
            return x @ y

        def convolution(x, y):
            return functional.conv2d(x, y)
        matrices = torch.randn(64, 128), torch.randn(128, 64)
        images = torch.randn(2, 32, 12, 12), torch.randn(16, 32, 3, 3)
        for conv, matmul in (("ieee", "ieee"), ("tf32", "ieee"),
                             ("ieee", "tf32")):
            torch._dynamo.reset()
            with _precisions(mkldnn_conv=conv, mkldnn_matmul=matmul):
                for error, said in (
                        (self.rounding(product, *matrices), matmul),
                        (self.rounding(convolution, *images), conv)):
                    if said == "tf32":
                        self.assertGreater(error, 1e-5)
                        self.assertLess(error, 2e-3)
                    else:
                        self.assertLess(error, 2e-6)

    def test_what_a_cuda_device_is_told(self):
        def allowed():
            return precision._allowed(torch.device("cuda"))
        # The first are PyTorch's defaults, which its own test tools change.
        for conv, matmul in (("tf32", "ieee"), ("tf32", "tf32"),
                             ("ieee", "tf32"), ("ieee", "ieee")):
            with _precisions(cudnn_conv=conv, cuda_matmul=matmul):
                self.assertEqual(allowed(), (conv == "tf32",
                                             matmul == "tf32"))

    def test_gradients(self):
        def function(x, weight):
            return functional.conv2d(x, weight, stride=2)
        inputs = [torch.randn(2, 8, 15, 15), torch.randn(6, 8, 3, 3)]
        grad = torch.randn(2, 6, 7, 7)

        def gradients(run, *inputs):
            inputs = [one.requires_grad_() for one in inputs]
            return torch.autograd.grad(run(*inputs), inputs,
                                       grad.to(inputs[0].dtype))
        exact = gradients(function, *(one.double() for one in inputs))
        with _precisions(mkldnn_conv="tf32"):
            actual = gradients(self.compile(function), *inputs)
        for one, other in zip(actual, exact, strict=True):
            error = (one - other).abs().max() / other.abs().max()
            self.assertGreater(error.item(), 1e-5)
            self.assertLess(error.item(), 2e-3)

    def test_sums_of_products_are_no_matrix_products(self):
        x, y = torch.randn(2, 16, 256)
        with _precisions(mkldnn_matmul="tf32", mkldnn_conv="tf32"):
            self.assertLess(
                self.rounding(lambda x, y: (x * y).sum(-1), x, y), 2e-6)

    def test_packages_of_each_are_kept_apart(self):
        def product(x, y):
            return x @ y
        x, y = torch.randn(64, 96), torch.randn(96, 64)
        errors = []
        for matmul in ("ieee", "tf32", "ieee"):
            torch._dynamo.reset()
            with _precisions(mkldnn_matmul=matmul):
                errors.append(self.rounding(product, x, y))
        self.assertEqual(errors[0], errors[2])
        self.assertGreater(errors[1], 10 * errors[0])


if __name__ == "__main__":
    unittest.main()
