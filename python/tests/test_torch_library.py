# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages as operators of torch.library."""

import io
import unittest

try:
    import torch

    import fusion_compiler as fusion
    import fusion_compiler.torch as fusion_torch
    from fusion_compiler.torch.operators import evaluate
    REASON = ""
except ImportError as error:
    torch, REASON = None, str(error)

# Rows of x and of y, one behind the other, scaled.
JOIN = """
func.func @join(%x: tensor<?x4xf32> {fusion.dims = ["rows", "_"]},
                %y: tensor<?x4xf32> {fusion.dims = ["more", "_"]},
                %scale: f32) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %both = tensor.concat dim(0) %x, %y
    : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %size = tensor.dim %both, %c0 : tensor<?x4xf32>
  %empty = tensor.empty(%size) : tensor<?x4xf32>
  %factor = tensor.splat %scale[%size] : tensor<?x4xf32>
  %result = linalg.mul ins(%both, %factor : tensor<?x4xf32>, tensor<?x4xf32>)
    outs(%empty : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %result : tensor<?x4xf32>
}
"""
# Adds to a state in place, and gives what it was multiplied with x.
UPDATE = """
func.func @update(%state: tensor<3x4xf32> {fusion.overwritten_by = 0},
                  %x: tensor<3x4xf32>)
    -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %empty = tensor.empty() : tensor<3x4xf32>
  %new = linalg.add ins(%state, %x : tensor<3x4xf32>, tensor<3x4xf32>)
    outs(%empty : tensor<3x4xf32>) -> tensor<3x4xf32>
  %product = linalg.mul ins(%new, %x : tensor<3x4xf32>, tensor<3x4xf32>)
    outs(%empty : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %new, %product : tensor<3x4xf32>, tensor<3x4xf32>
}
"""


def devices():
    return ["cpu"] + ["cuda"] * torch.cuda.is_available()


@unittest.skipIf(REASON, REASON)
class OperatorTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.join = fusion_torch.operator(
            "fusion_test::join", fusion.compile(JOIN, "sm_90a", "emulator"))
        cls.update = fusion_torch.operator(
            "fusion_test::update", fusion.compile(UPDATE, "sm_90a",
                                                  "emulator"))

    def setUp(self):
        torch.manual_seed(1)
        torch._dynamo.reset()

    def expected(self, x, y, scale):
        return torch.cat([x, y]) * scale

    def test_eager(self):
        for device in devices():
            x = torch.randn(4, 3, device=device).t()  # Not contiguous.
            y = torch.randn(2, 4, device=device)
            actual = torch.ops.fusion_test.join(x, y, 0.5)
            self.assertEqual(actual.device, x.device)
            torch.testing.assert_close(actual, self.expected(x, y, 0.5))

    def test_pytorchs_own_checks(self):
        """Schema, fake tensors with known and unknown sizes, tracing."""
        x, y = torch.randn(3, 4), torch.randn(2, 4)
        torch.library.opcheck(self.join, (x, y, 0.5))
        torch.library.opcheck(self.update, (torch.randn(3, 4), x))

    def test_backends_of_torch_compile(self):
        def function(x, y):
            return self.join(x * 2, y, 3.0).relu()
        for backend in ("eager", "aot_eager", "fusion"):
            compiled = torch.compile(function, backend=backend, dynamic=True,
                                     fullgraph=True)
            for rows in (3, 5):
                x, y = torch.randn(rows, 4), torch.randn(2, 4)
                torch.testing.assert_close(
                    compiled(x, y), self.expected(x * 2, y, 3.0).relu())

    def test_exported_programs(self):
        class Model(torch.nn.Module):
            def forward(self, x, y):
                return torch.ops.fusion_test.join(x, y, 0.5) + 1
        rows = torch.export.Dim("rows", min=2)
        more = torch.export.Dim("more", min=2)
        program = torch.export.export(
            Model(), (torch.randn(3, 4), torch.randn(2, 4)),
            dynamic_shapes=({0: rows}, {0: more}))
        file = io.BytesIO()
        torch.export.save(program, file)
        file.seek(0)
        loaded = torch.export.load(file)
        self.assertIn(torch.ops.fusion_test.join.default,
                      [node.target for node in loaded.graph.nodes])
        for sizes in ((3, 2), (7, 5)):
            x, y = (torch.randn(size, 4) for size in sizes)
            torch.testing.assert_close(loaded.module()(x, y),
                                       self.expected(x, y, 0.5) + 1)

    def test_arguments_that_are_overwritten(self):
        def function(state, x):
            return torch.ops.fusion_test.update(state, x) + state
        for device in devices():
            state, x = torch.randn(2, 3, 4, device=device)
            new = state + x
            for run in (function, torch.compile(function, backend="fusion",
                                                fullgraph=True)):
                own = state.clone()
                torch.testing.assert_close(run(own, x), new * x + new)
                torch.testing.assert_close(own, new)

    def test_gradients(self):
        own = fusion_torch.operator("fusion_test::join_with_gradient",
                                    fusion.compile(JOIN, "sm_90a", "emulator"))

        def setup(ctx, inputs, output):
            ctx.rows, ctx.scale = inputs[0].shape[0], inputs[2]

        def backward(ctx, grad):
            return (grad[:ctx.rows] * ctx.scale, grad[ctx.rows:] * ctx.scale,
                    None)
        own.register_autograd(backward, setup_context=setup)
        x, y = (torch.randn(size, 4, requires_grad=True) for size in (3, 2))
        grads = torch.autograd.grad(own(x, y, 3.0).sum(), (x, y))
        for grad in grads:
            torch.testing.assert_close(grad, torch.full_like(grad, 3))

    def test_what_does_not_fit(self):
        x = torch.randn(3, 4)
        for wrong, reason in ((x.double(), "FUS-1309.*expected torch.float32"),
                              (x[0], "rank|dimensions"),
                              (x[:, :3], "expected 4|4.*3")):
            with self.assertRaisesRegex(Exception, reason):
                self.join(x, wrong, 1.0)
            with self.assertRaisesRegex(Exception, reason):
                torch.compile(self.join, backend="aot_eager", fullgraph=True)(
                    x, wrong, 1.0)
        with self.assertRaises(ValueError):
            fusion_torch.operator("join", fusion.compile(JOIN))
        both = fusion.compile(JOIN + UPDATE, "sm_90a", "emulator")
        with self.assertRaisesRegex(TypeError, "choose one.*join"):
            fusion_torch.operator("fusion_test::both", both)
        chosen = fusion_torch.operator("fusion_test::both", both, "join")
        torch.testing.assert_close(chosen(x, x, 2.0), self.expected(x, x, 2))

    def test_sizes(self):
        sizes = {"n": 7, "x.0": 3, "x": 5, "two words": 2}
        for text, value in (("n", 7), ("x.0 + x", 8), ("(n * 2) - x", 9),
                            ("ceildiv(n, two words)", 4), ("floordiv(n, 2)", 3),
                            ("mod(n, 4)", 3), ("min(n, max(x, 6))", 6),
                            ("(n == 7) and (x < 5)", False),
                            ("(n != 7) or (x <= 5)", True)):
            self.assertEqual(evaluate(text, sizes), value, text)
        for text in ("unknown", "n + ...", "?", "power(n, 2)"):
            with self.assertRaisesRegex(fusion.FusionError, "FUS-1309"):
                evaluate(text, sizes)


if __name__ == "__main__":
    unittest.main()
