# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of what data look up: sums into places that data tell."""

import unittest

from test_torch_compile import REASON, CompileTest

if not REASON:
    import torch
    import torch.nn.functional as F

    import fusion_compiler.torch as fusion_torch


def _rms(one, exact):
    return (one.double() - exact).square().mean().sqrt().item()


@unittest.skipIf(REASON, REASON)
class LookupsTest(CompileTest):

    def check_embedding(self, table, indices, *arguments):
        """Returns our gradient of the table, which is as good as eager's and
        what PyTorch runs nothing for."""
        torch._dynamo.reset()
        given = torch.randn(*indices.shape, table.shape[1]).to(table.dtype)

        def gradient(table, given, run):
            table = table.detach().requires_grad_()
            return torch.autograd.grad(run(indices, table, *arguments), table,
                                       given)[0]
        ours = gradient(table, given, self.compile(F.embedding))
        eager = gradient(table, given, F.embedding)
        exact = gradient(table.double(), given.double(), F.embedding)
        self.assertEqual(ours.dtype, table.dtype)
        self.assertLessEqual(_rms(ours, exact), 2 * _rms(eager, exact) + 1e-6)
        self.assertEqual(self.fallbacks(), set(), str(fusion_torch.report()))
        return ours

    def test_types(self):
        for dtype in (torch.float32, torch.bfloat16, torch.float16):
            for index in (torch.int64, torch.int32):
                with self.subTest(dtype=dtype, index=index):
                    self.check_embedding(
                        torch.randn(700, 40).to(dtype),
                        torch.randint(0, 700, (5, 90)).to(index))

    def test_all_into_few_rows(self):
        """More for a row than a sum takes at a time, and rows of which there
        are few."""
        self.check_embedding(torch.randn(900, 24),
                             torch.randint(7, 9, (1400,)))
        self.check_embedding(torch.randn(1, 8), torch.zeros(6, 3).long())
        self.check_embedding(torch.randn(2, 64), torch.randint(0, 2, (4, 99)))

    def test_rows_that_do_not_count(self):
        gradient = self.check_embedding(
            torch.randn(600, 24), torch.randint(2, 5, (800,)), 3)
        self.assertEqual(gradient[3].abs().max(), 0)
        self.assertGreater(gradient[4].abs().max(), 0)

    def test_none(self):
        gradient = self.check_embedding(torch.randn(500, 24),
                                        torch.zeros(0, 4).long())
        self.assertEqual(gradient.abs().max(), 0)

    def test_the_same_in_every_run(self):
        table = torch.randn(300, 40, requires_grad=True)
        indices, given = torch.randint(0, 20, (700,)), torch.randn(700, 40)
        compiled = self.compile(F.embedding)
        first, second = (torch.autograd.grad(compiled(indices, table), table,
                                             given)[0] for _ in range(2))
        self.assertTrue(torch.equal(first, second))

    def test_indices_of_no_row(self):
        """They add to none, wherever they point."""
        def add(given, indices):
            return torch.ops.aten.embedding_dense_backward(
                given, indices, 500, -1, False)
        indices = torch.randint(-9, 509, (600,))
        indices[:3] = torch.tensor([2 ** 62, -2 ** 62, 500])
        given = torch.randn(600, 24)
        counts = (indices >= 0) & (indices < 500)
        torch.testing.assert_close(self.compile(add)(given, indices),
                                   add(given[counts], indices[counts]))
        self.assertEqual(self.fallbacks(), set())

    def test_what_is_left_to_pytorch(self):
        def reasons(rows, width, count, by_count=False):
            fusion_torch.reset_report()
            torch._dynamo.reset()

            def add(given, indices):
                return torch.ops.aten.embedding_dense_backward(
                    given, indices, rows, -1, by_count)
            given = torch.randn(count, width)
            indices = torch.randint(0, rows, (count,))
            torch.testing.assert_close(self.compile(add)(given, indices),
                                       add(given, indices))
            return [one.reason for one in fusion_torch.report().fallbacks]
        self.assertEqual(reasons(30, 4, 50), [])
        self.assertIn("how often", *reasons(30, 4, 50, by_count=True))
        self.assertIn("more values", *reasons(100000, 8, 1 << 21))

    def test_elements_of_images(self):
        """Along dimensions behind others, by numbers from either end, twice."""
        def function(x, rows, columns):
            return x[:, rows, columns] ** 2
        self.check_gradients(function, torch.randn(5, 6, 7, 3),
                             torch.tensor([0, -1, 5, 2, 2]),
                             torch.tensor([[3], [-7]]))

    def test_what_data_name_otherwise(self):
        """Indices far apart, and what is added to what is given."""
        def apart(x, rows, columns):
            return x[rows, :, columns] ** 2
        x = torch.randn(5, 6, 7, requires_grad=True)
        numbers = torch.tensor([0, 3, 3])
        actual, = torch.autograd.grad(
            self.compile(apart)(x, numbers, numbers).sum(), x)
        expected, = torch.autograd.grad(apart(x, numbers, numbers).sum(), x)
        torch.testing.assert_close(actual, expected)
        reason, = {one.reason for one in fusion_torch.report().fallbacks
                   if one.operator == "aten.index_put.default"}
        self.assertIn("far apart", reason)

    def test_training_of_dlrm(self):
        """One package for the backward pass, a kernel for each table; columns
        of the indices are read where they are."""
        from architectures.blocks import BLOCKS
        module, inputs = BLOCKS["dlrm"].make("small")
        compiled = self.compile(module)
        compiled(*inputs).sum().backward()
        module.zero_grad()
        loss = compiled(*inputs).sum()
        activities = [torch.profiler.ProfilerActivity.CPU]
        with torch.profiler.profile(activities=activities) as profile:
            loss.backward()
        self.assertNotIn("aten::contiguous",
                         {one.name for one in profile.events()})
        forward, backward = fusion_torch.report()
        self.assertEqual(len(backward.parts), 1, str(backward))
        self.assertLessEqual(backward.parts[0].kernels, 18)


if __name__ == "__main__":
    unittest.main()
