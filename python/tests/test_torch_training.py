# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled graphs that write to their arguments, optimizers, autocast."""

import copy
import unittest

from test_torch_compile import REASON, CompileTest

if not REASON:
    import torch

    import fusion_compiler.torch as fusion_torch
    from fusion_compiler.importing import foreach


class MutationTest(CompileTest):

    def test_running_statistics(self):
        model = torch.nn.Sequential(
            torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU())
        exact = copy.deepcopy(model).double()
        compiled = self.compile(model)
        for _ in range(3):
            x = torch.randn(2, 3, 8, 8)
            torch.testing.assert_close(compiled(x).double(), exact(x.double()),
                                       rtol=0, atol=1e-5)
        for one, other in zip(model.buffers(), exact.buffers(), strict=True):
            torch.testing.assert_close(one.double(), other.double(), rtol=0,
                                       atol=1e-6)
        self.assertEqual(self.fallbacks(), set())

    def test_appending_to_a_cache(self):
        def step(cache, x, begin):
            cache[:, begin:begin + x.shape[1]] = x
            return cache.sum(1)
        caches = torch.zeros(2, 2, 16, 4).unbind()
        compiled = self.compile(step, dynamic=True)
        for begin in (2, 3, 9):
            x = torch.randn(2, 5, 4)
            torch.testing.assert_close(compiled(caches[0], x, begin),
                                       step(caches[1], x, begin))
            self.assertTrue(torch.equal(*caches))
        self.assertEqual(self.fallbacks(), set())

    def test_views_of_what_is_written(self):
        def function(x, y, out):
            x.add_(1)
            y[0].mul_(x[1])
            flat = x.view(-1)
            flat[::2].zero_()
            torch.add(x, y, out=out)
            return x + y, flat, out.sum()
        inputs = [torch.randn(4, 4) for _ in range(3)]
        others = [one.clone() for one in inputs]
        actual = self.compile(function)(*inputs)
        expected = function(*others)
        for one, other in zip((*inputs, *actual), (*others, *expected),
                              strict=True):
            torch.testing.assert_close(one, other)
        self.assertEqual(actual[1].data_ptr(), inputs[0].data_ptr())
        self.assertEqual(self.fallbacks(), set())


class KeptTest(CompileTest):
    """What a forward pass keeps for the backward pass."""

    def kept(self, model, x, elements=None):
        """How many memories of so many elements, by default those of the input
        `x`, are kept, beside `x` itself."""
        elements = elements or x.numel()
        found = set()

        def keep(tensor):
            if tensor.numel() == elements:
                found.add(tensor.untyped_storage().data_ptr())
            return tensor
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda one: one):
            result = self.compile(model)(x)
        self.assertTrue(result.requires_grad)
        return len(found - {x.untyped_storage().data_ptr()})

    def test_attention(self):
        class Attention(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inputs = torch.nn.ModuleList(
                    torch.nn.Linear(16, 16) for _ in range(3))
                self.outputs = torch.nn.Linear(16, 16)

            def forward(self, x):
                heads = [one(x).view(3, 8, 4, 4).transpose(1, 2)
                         for one in self.inputs]
                y = torch.nn.functional.scaled_dot_product_attention(*heads)
                return self.outputs(y.transpose(1, 2).flatten(2))
        # Queries, keys, values, and what is made of them, once.
        self.assertEqual(self.kept(Attention(), torch.randn(3, 8, 16)), 4)

    def test_attention_that_pytorch_writes_out(self):
        """It has no kernel for a bias that is learned."""
        class Biased(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.bias = torch.nn.Parameter(torch.randn(3, 5, 5))

            def forward(self, x):
                return torch.nn.functional.scaled_dot_product_attention(
                    x, x, x, attn_mask=self.bias)
        weights = 2 * 3 * 5 * 5
        x = torch.randn(2, 3, 5, 7, requires_grad=True)
        self.assertEqual(self.kept(Biased(), x, weights), 0)
        torch._dynamo.reset()  # It does not see which kernels are wanted.
        with torch.nn.attention.sdpa_kernel(
                torch.nn.attention.SDPBackend.MATH):
            self.assertGreater(self.kept(Biased(), x, weights), 0)

    def test_group_norm(self):
        model = torch.nn.Sequential(torch.nn.GroupNorm(2, 8), torch.nn.SiLU(),
                                    torch.nn.Conv2d(8, 4, 3))
        # What the convolution reads; the norm's result is computed again.
        self.assertEqual(self.kept(model, torch.randn(2, 8, 6, 6)), 1)


class AttentionTest(CompileTest):

    def check(self, mask, shared, narrow=False):
        """Results and gradients of f32, or of bf16, beside those of f64."""
        dtype, tolerance = ((torch.bfloat16, 0.05) if narrow
                            else (torch.float32, 1e-5))
        inputs = [torch.randn(2, 4, 6, 8, dtype=dtype),
                  *(torch.randn(2, 4 // shared, 7, 8, dtype=dtype)
                    for _ in range(2))]
        if mask.dtype != torch.bool:
            inputs.append(mask.to(dtype))

        def attend(query, key, value, bias=mask):
            return torch.nn.functional.scaled_dot_product_attention(
                query, key, value, attn_mask=bias, enable_gqa=shared > 1)

        def run(function, dtype):
            values = [one.to(dtype).requires_grad_() for one in inputs]
            result = function(*values)
            return [result, *torch.autograd.grad(result.square().sum(),
                                                 values)]
        expected = run(attend, torch.float64)
        for one, other in zip(run(self.compile(attend), dtype), expected,
                              strict=True):
            self.assertEqual(one.dtype, dtype)
            torch.testing.assert_close(one.double(), other, rtol=tolerance,
                                       atol=tolerance)
        self.assertEqual(self.fallbacks(), set())

    def test_masks_of_bools_stay(self):
        """PyTorch makes them numbers before it chooses a kernel."""
        from fusion_compiler.torch import attention
        taken = []

        def see(module, inputs):
            attention.take(module)
            taken.extend(node.args[3].meta["example_value"].dtype
                         for node in module.graph.find_nodes(
                             op="call_function",
                             target=torch.ops.fusion.attention.default))
            return module
        q = torch.randn(2, 4, 6, 8)
        for mask in (torch.rand(6, 6) < 0.6, torch.rand(6, 6)):
            torch.compile(torch.nn.functional.scaled_dot_product_attention,
                          backend=see)(q, q, q, attn_mask=mask)
        self.assertEqual(taken, [torch.bool])

    def test_rows_that_see_no_key(self):
        mask = torch.rand(6, 7) < 0.6
        mask[2] = False
        for shared in (1, 2):
            self.check(mask, shared)
            self.check(mask, shared, narrow=True)

    def test_a_bias_that_is_learned(self):
        for shared in (1, 4):
            self.check(torch.randn(4, 6, 7), shared)
            self.check(torch.randn(2, 1, 1, 7), shared)

    def test_unknown_sizes(self):
        def attend(query, key, value):
            return torch.nn.functional.scaled_dot_product_attention(
                query, key, value)
        compiled = self.compile(attend, dynamic=True)
        for batch, rows, keys in ((2, 6, 9), (3, 5, 4)):
            inputs = [torch.randn(batch, 4, size, 8, requires_grad=True)
                      for size in (rows, keys, keys)]
            gradients = [torch.autograd.grad(
                function(*inputs).square().sum(), inputs)
                for function in (compiled, attend)]
            torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-4)
        self.assertEqual(self.fallbacks(), set())

    def test_autocast(self):
        def attend(query, bias):
            return torch.nn.functional.scaled_dot_product_attention(
                query, query, query, attn_mask=bias)
        inputs = (torch.randn(1, 2, 6, 8), torch.randn(6, 6))
        with torch.autocast("cpu", torch.bfloat16):
            for one in inputs:
                one.requires_grad_()
            self.assertEqual(self.compile(attend)(*inputs).dtype,
                             attend(*inputs).dtype)


class ReuseTest(CompileTest):
    """What PyTorch runs between packages writes over what nothing reads."""

    def operations(self, call):
        """(what a call gives, the names of the operations that PyTorch ran)"""
        activities = [torch.profiler.ProfilerActivity.CPU]
        with torch.profiler.profile(activities=activities) as profile:
            result = call()
        return result, {event.name for event in profile.events()}

    def run_compiled(self, function, *inputs):
        """The same of a second call of a function, compiled."""
        compiled = self.compile(function)
        compiled(*inputs)
        return self.operations(lambda: compiled(*inputs))

    def test_what_nothing_reads_again(self):
        def function(x, places, values):
            rows = torch.zeros(6, 4).index_put((places,), values)
            return (x + 1).index_put((places,), values), rows * 2
        inputs = (torch.randn(6, 4), torch.tensor([1, 1, 5]),
                  torch.ones(3, 4))
        result, names = self.run_compiled(function, *inputs)
        self.assertIn("aten::index_put_", names)
        self.assertNotIn("aten::index_put", names)
        # Zeros that a package gave would be there as long as it runs.
        self.assertIn("aten::full_like", names)
        torch.testing.assert_close(result, function(*inputs))

    def test_what_is_read_again(self):
        def function(x, places, values):
            y = x + 1
            return y.index_put((places,), values, accumulate=True), y
        inputs = (torch.randn(6, 4), torch.tensor([1, 1, 5]),
                  torch.randn(3, 4))
        result, names = self.run_compiled(function, *inputs)
        self.assertIn("aten::index_put", names)
        torch.testing.assert_close(result, function(*inputs))

    def test_what_is_given(self):
        def function(x, places, values):
            return x.index_put((places,), values, accumulate=True)
        inputs = (torch.randn(6, 4), torch.tensor([1, 1, 5]),
                  torch.randn(3, 4))
        given = inputs[0].clone()
        result, names = self.run_compiled(function, *inputs)
        self.assertIn("aten::index_put", names)
        self.assertTrue(torch.equal(inputs[0], given))
        torch.testing.assert_close(result, function(*inputs))


class OptimizerTest(CompileTest):

    def check_steps(self, make):
        parameters = [torch.randn(*shape, requires_grad=True)
                      for shape in ((5, 3), (7,))]
        exact = [p.detach().double().requires_grad_() for p in parameters]
        optimizer, other = make(parameters), make(exact)

        def step():
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
        compiled = self.compile(step)
        for _ in range(3):
            for one, two in zip(parameters, exact):
                one.grad = torch.randn_like(one)
                two.grad = one.grad.double()
            compiled()
            torch.nn.utils.clip_grad_norm_(exact, 1.0)
            other.step()
        for one, two in zip(parameters, exact):
            torch.testing.assert_close(one.double(), two, rtol=0, atol=2e-6)
        self.assertEqual(self.fallbacks(), set(), str(fusion_torch.report()))

    def test_sgd(self):
        self.check_steps(lambda p: torch.optim.SGD(p, 0.1, momentum=0.9))

    def test_adamw(self):
        self.check_steps(lambda p: torch.optim.AdamW(p, 1e-2))

    def test_adamw_on_lists(self):
        self.check_steps(lambda p: torch.optim.AdamW(p, 1e-2, foreach=True))

    def test_operations_on_lists(self):
        """Each is what PyTorch's own kernel makes of it."""
        table = foreach.decompositions()
        self.assertIn(torch.ops.aten._foreach_add.ScalarList, table)
        for overload, function in table.items():
            arguments = []
            for one in overload._schema.arguments:
                if one.kwarg_only or one.has_default_value():
                    continue
                kind = str(one.real_type)
                arguments.append(
                    list(torch.rand(2, 3, 3).add(0.1).clamp(max=0.9).unbind())
                    if kind == "List[Tensor]" else
                    [0.7, 0.3] if kind.startswith("List") else
                    torch.tensor(0.6) if kind == "Tensor" else 0.7)
            with self.subTest(str(overload)):
                torch.testing.assert_close(
                    list(function(*arguments)), list(overload(*arguments)))


class AutocastTest(CompileTest):

    def test_a_training_step(self):
        model = torch.nn.Sequential(
            torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.LayerNorm(32),
            torch.nn.Linear(32, 4))
        x = torch.randn(64, 16)

        def step(run, model, x):
            model.zero_grad()
            result = run(x)
            result.double().square().mean().backward()
            return [result.detach(), *(p.grad for p in model.parameters())]
        double = copy.deepcopy(model).double()
        exact = step(double, double, x.double())
        with torch.autocast("cpu", torch.bfloat16):
            eager = step(model, model, x)
            actual = step(self.compile(model), model, x)
        for one, other, wanted in zip(actual, eager, exact, strict=True):
            self.assertEqual(one.dtype, other.dtype)
            ours, theirs = [(value.double() - wanted).square().mean().sqrt()
                            for value in (one, other)]
            self.assertLessEqual(ours.item(), 2 * theirs.item() + 1e-4)
        self.assertEqual(self.fallbacks(), set())


if __name__ == "__main__":
    unittest.main()
