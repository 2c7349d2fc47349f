# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers of torch.compile(backend="fusion"), drawn in kernels."""

import functools
import importlib
import unittest
import unittest.mock

from test_torch_compile import REASON, CompileTest

if not REASON:
    import torch
    from torch.utils.checkpoint import checkpoint

    import fusion_compiler.torch as fusion_torch
    from fusion_compiler.importing import operations
    from fusion_compiler.torch import partition
    backend = importlib.import_module("fusion_compiler.torch.backend")
    aten = torch.ops.aten
    dropout = torch.nn.functional.dropout


class RandomTest(CompileTest):

    def run_seeded(self, function, *inputs, seed=3):
        """(results, gradients of their sum) of a compiled function."""
        torch.manual_seed(seed)
        result = function(*inputs)
        wanted = [one for one in inputs if one.requires_grad]
        return result.detach(), torch.autograd.grad(result.sum(), wanted)

    def drawn_seeds(self, count, seed=3):
        """The seeds of a graph's first call after `manual_seed`."""
        torch.manual_seed(seed)
        return torch.ops.fusion.seeds(count, torch.device("cpu"))[:, 0]

    def check_rate(self, kept, probability):
        """At most four standard deviations from the expected number."""
        count = kept.numel()
        deviation = (probability * (1 - probability) / count) ** 0.5
        self.assertAlmostEqual(kept.double().mean().item(), 1 - probability,
                               delta=4 * deviation)


class DropoutTest(RandomTest):

    def test_rate_scale_and_gradient(self):
        for dtype in (torch.float32, torch.float64, torch.float16,
                      torch.bfloat16):
            x = (torch.rand(37, 211) + 1).to(dtype).requires_grad_()
            result, (grad,) = self.run_seeded(
                self.compile(lambda x: dropout(x, 0.3)), x)
            kept = result != 0
            self.check_rate(kept, 0.3)
            expected = torch.where(kept, x.detach().double() / 0.7, 0)
            torch.testing.assert_close(
                result.double(), expected, atol=0,
                rtol=2 * torch.finfo(dtype).eps)
            torch.testing.assert_close(
                grad.double(), kept.double() / 0.7, atol=0,
                rtol=2 * torch.finfo(dtype).eps)
            (seed,) = self.drawn_seeds(1)
            self.assertTrue(torch.equal(
                operations.kept(x.shape, seed, 0.3), kept))

    def test_what_a_seed_gives(self):
        compiled = self.compile(lambda x: dropout(x * 2, 0.5))
        x = torch.randn(8, 16)
        torch.manual_seed(3)
        first, second = compiled(x), compiled(x)
        torch.manual_seed(3)
        again = compiled(x)
        torch.manual_seed(4)
        other = compiled(x)
        self.assertTrue(torch.equal(first, again))
        self.assertFalse(torch.equal(first, second))
        self.assertFalse(torch.equal(first, other))
        # A generator that moved on gives the next call's numbers.
        torch.manual_seed(3)
        compiled(x)
        torch.rand(1)
        self.assertFalse(torch.equal(compiled(x), second))

    def test_two_of_a_graph_are_independent(self):
        x = torch.ones(500, 400)
        one, two = self.compile(lambda x: (dropout(x, 0.5), dropout(x, 0.5)))(x)
        self.check_rate(one != 0, 0.5)
        self.check_rate(two != 0, 0.5)
        self.check_rate((one != 0) & (two != 0), 0.75)

    def test_layouts_and_sizes(self):
        x = torch.randn(2, 3, 8, 4).contiguous(
            memory_format=torch.channels_last).requires_grad_()
        result, (grad,) = self.run_seeded(
            self.compile(lambda x: dropout(x, 0.5)), x)
        self.assertEqual(result.stride(), x.stride())
        (seed,) = self.drawn_seeds(1)
        kept = operations.kept(x.shape, seed, 0.5)
        self.assertTrue(torch.equal(result, torch.where(kept, 2 * x, 0)))
        self.assertTrue(torch.equal(grad, 2.0 * kept))
        torch._dynamo.reset()
        fusion_torch.reset_report()
        compiled = self.compile(lambda x: dropout(x.t() + 1, 0.5),
                                dynamic=True)
        for rows in (9, 5, 1000):
            x = torch.rand(rows, 7, requires_grad=True)
            result, (grad,) = self.run_seeded(compiled, x)
            self.assertTrue(torch.equal(result.t() != 0, grad != 0))
        self.assertEqual(len(fusion_torch.report()), 2)

    def test_none_and_all(self):
        x = torch.randn(5, 6, requires_grad=True)
        for probability in (0.0, 1.0):
            result, (grad,) = self.run_seeded(
                self.compile(lambda x: dropout(x, probability)), x)
            self.assertTrue(torch.equal(result, x * (1 - probability)))
            self.assertTrue(torch.equal(
                grad, torch.full_like(x, 1 - probability)))

    def test_small_probabilities(self):
        x = torch.ones(400, 500)
        result = self.compile(lambda x: dropout(x, 1e-4))(x)
        self.check_rate(result != 0, 1e-4)
        self.assertEqual(result.max().item(), (x / (1 - 1e-4)).max().item())
        torch._dynamo.reset()
        self.compile(lambda x: dropout(x, 1e-5))(x)
        self.assertEqual(self.fallbacks(), set())

    def test_whole_channels(self):
        x = torch.ones(40, 50, 3, 2, requires_grad=True)
        result, (grad,) = self.run_seeded(self.compile(
            lambda x: torch.nn.functional.dropout2d(x, 0.4)), x)
        self.assertTrue(torch.equal(result, grad))
        self.assertTrue(torch.equal(
            result, result[:, :, :1, :1].expand_as(result)))
        self.check_rate(result[:, :, 0, 0] != 0, 0.4)
        self.assertAlmostEqual(result.max().item(), 1 / 0.6, places=6)
        self.assertEqual(self.fallbacks(), set())

    def test_costs_no_kernel(self):
        def kernels(probability):
            torch.manual_seed(2)
            model = torch.nn.Sequential(
                torch.nn.Linear(16, 32), torch.nn.GELU(),
                torch.nn.Dropout(probability), torch.nn.Linear(32, 16),
                torch.nn.Dropout(probability), torch.nn.LayerNorm(16))
            torch._dynamo.reset()
            fusion_torch.reset_report()
            self.compile(model)(torch.randn(24, 16)).square().mean().backward()
            self.assertEqual(self.fallbacks(), set())
            return [graph.parts[0].kernels for graph in fusion_torch.report()]
        self.assertEqual(kernels(0.1), kernels(0.0))

    def test_equal_layers_are_compiled_once(self):
        class Layer(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = torch.nn.Linear(32, 32)

            def forward(self, x):
                return dropout(self.linear(x).relu(), 0.1)

        def kernels(count):
            fusion_torch.reset_report()
            model = torch.nn.Sequential(*(Layer() for _ in range(count)))
            self.compile(model)(torch.randn(24, 32))
            (part,) = fusion_torch.report()[0].parts
            self.assertEqual(part.kernels, count)
            return part.package.num_kernels
        self.assertEqual(kernels(2), kernels(5))

    def test_no_mask_is_kept_for_the_backward_pass(self):
        def function(x, weight):
            return dropout(dropout(x @ weight, 0.5).relu(), 0.5)

        def kept_of(*arguments, **options):
            passes = partition_graph(*arguments, **options)
            kept.extend(node.meta["val"] for node in
                        passes[0].graph.output_node().args[0][1:])
            return passes
        kept, partition_graph = [], backend.min_cut_rematerialization_partition
        inputs = [torch.randn(*shape, requires_grad=True)
                  for shape in ((8, 16), (16, 4))]
        with unittest.mock.patch.object(
                backend, "min_cut_rematerialization_partition", kept_of):
            self.run_seeded(self.compile(function), *inputs)
        seeds = [one for one in kept if one.dtype == torch.int64]
        self.assertEqual([one.shape for one in seeds], [(), ()])
        # The matrices, transposed, and which elements of relu are positive.
        self.assertEqual(len(kept) - len(seeds), 3)

    def test_running_a_forward_pass_again(self):
        linear = torch.nn.Linear(16, 16)

        def block(x):
            return dropout(linear(dropout(x, 0.5)).tanh(), 0.3) * x

        x = torch.randn(24, 16, requires_grad=True)
        actual = self.run_seeded(self.compile(
            lambda x: checkpoint(block, x, use_reentrant=False)), x)
        kept = [operations.kept(x.shape, seed, probability) / (1 - probability)
                for seed, probability in zip(self.drawn_seeds(2), (0.5, 0.3))]
        linear.double()
        exact = x.detach().double().requires_grad_()
        result = (linear(exact * kept[0]).tanh() * kept[1]) * exact
        (grad,) = torch.autograd.grad(result.sum(), exact)
        torch.testing.assert_close(actual[0].double(), result, rtol=0,
                                   atol=1e-5)
        torch.testing.assert_close(actual[1][0].double(), grad, rtol=0,
                                   atol=1e-5)

    def test_left_to_pytorch_it_is_the_same(self):
        def function(x):
            return dropout(x.exp(), 0.3).sin()
        x = torch.randn(24, 16, requires_grad=True)
        here, (grad,) = self.run_seeded(self.compile(function), x)
        torch._dynamo.reset()
        reason = partition.Refusals.reason
        with unittest.mock.patch.object(
                partition.Refusals, "reason", lambda self, node: "refused"
                if node.target is torch.ops.fusion.dropout.default
                else reason(self, node)):
            there, (other,) = self.run_seeded(self.compile(function), x)
        self.assertEqual(self.fallbacks(), {"fusion.dropout.default"})
        torch.testing.assert_close(here, there)
        torch.testing.assert_close(grad, other)

    def test_nothing_is_drawn_in_evaluation(self):
        model = torch.nn.Sequential(torch.nn.Linear(4, 4),
                                    torch.nn.Dropout(0.5)).eval()
        state = torch.get_rng_state()
        self.check_same(model, torch.randn(3, 4).fill_(0.5))
        torch.set_rng_state(state)
        self.compile(model)(torch.ones(3, 4))
        self.assertTrue(torch.equal(torch.get_rng_state(), state))


class AttentionTest(RandomTest):

    def attention_of(self, kind, probability, causal, *inputs):
        """The result of one of CUDA's operations of attention."""
        function = getattr(aten, f"_scaled_dot_product_{kind}_attention")
        between = () if kind == "flash" else (None, True)
        return function(*inputs, *between, probability, causal)[0]

    def test_result_and_gradients(self):
        inputs = [torch.randn(1, 40, 2, 32).transpose(1, 2).requires_grad_()
                  for _ in range(3)]
        (seed,) = self.drawn_seeds(1)
        kept = operations.kept((1, 2, 40, 40), seed, 0.2)
        query, key, value = [one.detach().double().requires_grad_()
                             for one in inputs]
        scores = query @ key.transpose(-1, -2) / 32 ** 0.5
        scores = scores + torch.full((40, 40), -torch.inf).triu(1)
        exact = (scores.softmax(-1) * kept / 0.8) @ value
        expected = torch.autograd.grad(exact.sum(), (query, key, value))
        for kind in ("flash", "efficient", "cudnn"):
            torch._dynamo.reset()
            result, grads = self.run_seeded(self.compile(functools.partial(
                self.attention_of, kind, 0.2, True)), *inputs)
            for one, other in zip((result, *grads), (exact, *expected),
                                  strict=True):
                torch.testing.assert_close(one.double(), other, rtol=0,
                                           atol=1e-5)
        self.assertEqual(self.fallbacks(), set())

    def test_is_one_kernel_all_the_same(self):
        inputs = [torch.randn(1, 2, 128, 64).half() for _ in range(3)]
        for probability in (0.0, 0.1):
            torch._dynamo.reset()
            fusion_torch.reset_report()
            self.compile(functools.partial(
                self.attention_of, "flash", probability, False))(*inputs)
            self.assertEqual(fusion_torch.report().kernels, 1)
            self.assertEqual(self.fallbacks(), set())

    def test_of_products(self):
        """PyTorch's own form for CPUs, whose weights are stored."""
        query, key, value = [torch.randn(1, 2, 24, 16, requires_grad=True)
                             for _ in range(3)]
        compiled = self.compile(lambda query, key, value: (
            torch.nn.functional.scaled_dot_product_attention(
                query, key, value, dropout_p=0.5)))
        result, grads = self.run_seeded(compiled, query, key, value)
        self.assertEqual(self.fallbacks(), set())
        (seed,) = self.drawn_seeds(1)
        kept = operations.kept((1, 2, 24, 24), seed, 0.5)
        exact = [one.detach().double().requires_grad_()
                 for one in (query, key, value)]
        weights = (exact[0] @ exact[1].transpose(-1, -2) / 4).softmax(-1)
        expected = (weights * kept * 2) @ exact[2]
        torch.testing.assert_close(result.double(), expected, rtol=0, atol=1e-5)
        for one, other in zip(grads, torch.autograd.grad(expected.sum(),
                                                         exact)):
            torch.testing.assert_close(one.double(), other, rtol=0, atol=1e-5)


class NumbersTest(RandomTest):

    def words(self, number, *shape):
        """The random words of the operation of a number in a first call."""
        seeds = self.drawn_seeds(number + 1)
        return torch.ops.fusion.random_bits(torch.empty(shape), seeds[number])

    def check_distribution(self, numbers, chance):
        """Kolmogorov's statistic, which one sample in a thousand exceeds.
        `chance` is that of a number below a number."""
        numbers = numbers.double().flatten().sort()[0]
        steps = torch.arange(len(numbers) + 1).double() / len(numbers)
        below = chance(numbers)
        distance = torch.maximum((below - steps[:-1]).abs(),
                                 (below - steps[1:]).abs()).max()
        self.assertLess(distance.item(), 1.95 / len(numbers) ** 0.5)

    def test_words_are_pytorchs(self):
        seed = torch.tensor(-0x123456789ABCDEF)
        for shape in ((), (5,), (7, 9), (2, 3, 4), (0, 3)):
            like = torch.zeros(shape)
            for dynamic in (False, True):
                torch._dynamo.reset()
                actual = self.compile(
                    lambda like, seed: torch.ops.fusion.random_bits(
                        like + 1, seed) + 1, dynamic=dynamic)(like, seed)
                self.assertTrue(torch.equal(
                    actual, torch.ops.fusion.random_bits(like, seed) + 1))
        self.assertEqual(self.fallbacks(), set())

    def test_uniform(self):
        x = torch.empty(150, 140)
        for dtype, digits in ((torch.float32, 24), (torch.float16, 11),
                              (torch.bfloat16, 8)):
            like = x.to(dtype)
            torch.manual_seed(3)
            result = self.compile(torch.rand_like)(like)
            words = self.words(0, 150, 140)
            expected = (words & (1 << digits) - 1).double() / (1 << digits)
            self.assertTrue(torch.equal(result, expected.to(dtype)))
            self.assertTrue(torch.equal(result.double(), expected))
            self.assertLess(result.max().item(), 1)
        self.check_distribution(self.compile(torch.rand_like)(x), lambda u: u)
        self.assertEqual(self.fallbacks(), set())

    def test_others(self):
        def function(rows):
            return (torch.randn(rows, 200),
                    torch.empty(rows, 200).uniform_(2, 5),
                    torch.empty(rows, 200).exponential_(0.5),
                    torch.randint(-2, 5, (rows, 200)),
                    torch.randint_like(torch.empty(rows, 200), 7),
                    torch.bernoulli(torch.full((rows, 200), 0.3)))
        compiled = self.compile(function, dynamic=True)
        for rows in (100, 70):
            torch.manual_seed(3)
            (normal, uniform, exponential, integers, others,
             coins) = compiled(rows)
            radius, angle = [self.words(i, rows, 200).double()
                             for i in range(2)]
            radius = (radius + (radius < 0) * 2 ** 31 + 0.5) / 2 ** 31
            torch.testing.assert_close(
                normal.double(), (-2 * radius.log()).sqrt()
                * (angle * torch.pi / 2 ** 31).cos(), rtol=0, atol=1e-5)
            self.check_distribution(normal, torch.special.ndtr)
            self.check_distribution(uniform, lambda u: (u - 2) / 3)
            self.check_distribution(exponential,
                                    lambda u: 1 - (-0.5 * u).exp())
            self.assertGreater(exponential.min().item(), 0)
            for value in range(-2, 5):
                self.check_rate(integers != value, 1 / 7)
                self.check_rate(others != value + 2, 1 / 7)
            self.check_rate(coins == 0, 0.3)
        self.assertEqual(self.fallbacks(), set())

    def test_in_training(self):
        def function(x):
            return x * torch.randn_like(x).sigmoid()
        x = torch.randn(24, 16, requires_grad=True)
        compiled = self.compile(function)
        result, (grad,) = self.run_seeded(compiled, x)
        torch.testing.assert_close(result, x * grad)
        self.assertTrue(torch.equal(self.run_seeded(compiled, x)[0], result))
        self.assertFalse(torch.equal(compiled(x), result))
        self.assertEqual(self.fallbacks(), set())

    def test_numbers_of_f64_are_pytorchs(self):
        torch.manual_seed(3)
        expected = torch.rand(4, dtype=torch.float64)
        torch.manual_seed(3)
        actual = self.compile(lambda: torch.rand(4, dtype=torch.float64))()
        self.assertTrue(torch.equal(actual, expected))
        self.assertEqual(self.fallbacks(), {"aten.rand.default"})


if __name__ == "__main__":
    unittest.main()
