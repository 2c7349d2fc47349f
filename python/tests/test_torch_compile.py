# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.compile(backend="fusion") on CPU tensors, which run on the emulator."""

import os
import pathlib
import sys
import tempfile
import threading
import unittest
import unittest.mock

try:
    import torch
    import torch_mlir  # noqa: F401
    import fusion_compiler as fusion
    import fusion_compiler.torch as fusion_torch
    from fusion_compiler.importing import decompositions, fx, known_places
    from fusion_compiler.torch import partition
    from torch.fx.experimental.proxy_tensor import make_fx
    REASON = ""
except ImportError as error:
    torch, REASON = None, str(error)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]
                       / "benchmarks"))

# Launches of a forward pass.
KERNELS = {"mlp": 3, "dlrm": 6, "resnet": 9, "unet": 10, "vit": 8, "gpt": 8,
           "bert": 8, "llama": 12, "diffusion": 18, "lstm": 2, "mamba": 23,
           "moe": 5}


def _flat(values):
    return values if isinstance(values, tuple) else (values,)


def _step(module, inputs, run):
    """(results of a forward pass, gradients of the parameters)"""
    module.zero_grad()
    results = _flat(run(*inputs))
    wanted = [one for one in results if one.requires_grad]
    torch.manual_seed(5)
    # The same for every element type.
    torch.autograd.backward(wanted, [torch.randn(one.shape).to(one.dtype)
                                     for one in wanted])
    return ([one.detach() for one in results],
            [p.grad.clone() for p in module.parameters()
             if p.grad is not None])


@unittest.skipIf(REASON, REASON)
class CompileTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        # Nothing that an earlier compiler made.
        cls.folder = tempfile.TemporaryDirectory()
        cls.environment = unittest.mock.patch.dict(
            os.environ, FUSION_CACHE_DIR=cls.folder.name)
        cls.environment.start()

    @classmethod
    def tearDownClass(cls):
        cls.environment.stop()
        cls.folder.cleanup()

    def setUp(self):
        torch.manual_seed(1)
        torch._dynamo.reset()
        fusion_torch.reset_report()

    def compile(self, function, **options):
        return torch.compile(function, backend="fusion", **options)

    def check_same(self, function, *inputs, atol=2e-6, **options):
        """Results and their strides are eager's."""
        expected = _flat(function(*inputs))
        actual = _flat(self.compile(function, **options)(*inputs))
        for one, other in zip(actual, expected, strict=True):
            self.assertEqual(one.stride(), other.stride())
            torch.testing.assert_close(one, other, rtol=1e-5, atol=atol)

    def check_gradients(self, function, *inputs):
        """Gradients are those in float64, all computed by kernels."""
        def gradients(run, inputs):
            inputs = [one.detach().requires_grad_(one.is_floating_point())
                      for one in inputs]
            result = run(*inputs)
            torch.manual_seed(7)
            given = torch.randn(result.shape).to(result.dtype)
            return torch.autograd.grad(
                result, [one for one in inputs if one.requires_grad], given)
        torch._dynamo.reset()
        actual = gradients(self.compile(function), inputs)
        exact = gradients(function, [
            one.double() if one.is_floating_point() else one
            for one in inputs])
        for one, other in zip(actual, exact, strict=True):
            torch.testing.assert_close(one.double(), other, rtol=1e-5,
                                       atol=2e-6)
        self.assertEqual(self.fallbacks(), set(), str(fusion_torch.report()))

    def fallbacks(self):
        return {one.operator for one in fusion_torch.report().fallbacks}


class BlocksTest(CompileTest):
    """Forward and backward pass of real architectures."""

    def check_block(self, name):
        from architectures.blocks import BLOCKS
        module, inputs = BLOCKS[name].make("small")
        actual = _step(module, inputs, self.compile(module))
        exact = _step(module.double(), [
            one.double() if one.is_floating_point() else one
            for one in inputs], module)
        for ours, theirs in zip(actual, exact, strict=True):
            for one, other in zip(ours, theirs, strict=True):
                scale = other.abs().max().item() + 1e-6
                torch.testing.assert_close(
                    one.double() / scale, other / scale, rtol=0, atol=4e-6)
        self.assertEqual(self.fallbacks(), set(), str(fusion_torch.report()))
        forward = fusion_torch.report()[0]
        self.assertEqual(forward.fallbacks, ())
        self.assertLessEqual(sum(part.kernels for part in forward.parts),
                             KERNELS[name])


def _add_block_test(name):
    setattr(BlocksTest, f"test_{name}", lambda self: self.check_block(name))


for _name in KERNELS:
    _add_block_test(_name)


class GraphsTest(CompileTest):

    def test_sizes_of_which_none_is_compiled_twice(self):
        module = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU())
        compiled = self.compile(module, dynamic=True)
        with torch.no_grad():
            for rows in (3, 5, 1000, 2):
                x = torch.randn(rows, 8)
                torch.testing.assert_close(compiled(x), module(x))
        self.assertEqual(len(fusion_torch.report()), 1)

    def test_sizes_of_quotients(self):
        """Rounded up as they are written, of numbers of either sign, and by
        comparisons."""
        import torch.nn.functional as F

        def repeated(x):
            return x[:1].expand(-(-x.shape[0] // 2), x.shape[1]) * 2

        def padded(x):
            missing = (-x.shape[0]) % 4
            return F.pad(x, (0, 0, 0, missing)).view(-1, 4, x.shape[1]).sum(1)

        def of_a_difference(x):
            rows = (10 - x.shape[0]) // -3 + 5 + (3 - x.shape[0]) % 5
            return torch.ones(rows, x.shape[1]) * x[0]

        def between(x):
            return x[max(x.shape[0] - 10, 0):min(x.shape[0], 11)].exp()

        def windows(x):
            return F.avg_pool1d(x.t()[None], 3, 2, 1, ceil_mode=True)

        for function in (repeated, padded, of_a_difference, between, windows):
            torch._dynamo.reset()
            compiled = self.compile(function, dynamic=True)
            for rows in (7, 12, 16):
                x = torch.randn(rows, 8)
                torch.testing.assert_close(compiled(x).double(),
                                           function(x.double()).double(),
                                           rtol=1e-5, atol=2e-6)
        self.assertEqual(self.fallbacks(), set(), str(fusion_torch.report()))

    def test_memory_formats(self):
        x = torch.randn(2, 3, 4, 5)
        self.check_same(lambda x: (x * 2).relu(),
                        x.contiguous(memory_format=torch.channels_last))
        self.check_same(lambda x: (x + 1).transpose(1, 3), x)
        self.check_same(lambda x, y: x.exp() * y, x[:, :, ::2],
                        torch.randn(3, 2, 5).expand(2, 3, 2, 5))
        self.check_same(lambda x: x.sum(), x.flip(0)[1:].permute(3, 1, 0, 2))

    def test_aliases(self):
        def function(x):
            y = x.sin()
            return y, y.view(-1), y[1:], x.t(), x
        x = torch.randn(3, 4)
        y, flat, rest, turned, same = self.compile(function)(x)
        self.check_same(function, x)
        self.assertEqual(flat.data_ptr(), y.data_ptr())
        self.assertEqual(rest.data_ptr(), y[1:].data_ptr())
        self.assertEqual(turned.data_ptr(), x.data_ptr())
        self.assertIs(same, x)

    def test_mutation(self):
        def function(x, state):
            state.mul_(0.5).add_(x)
            return state * 2
        x, state = torch.randn(2, 3, 4)
        other = state.clone()
        actual = self.compile(function)(x, other)
        torch.testing.assert_close(actual, function(x, state))
        torch.testing.assert_close(other, state)

    def test_what_is_left_to_pytorch(self):
        def function(x):
            values, order = (x * 2).sort(-1)
            return values.exp(), order
        self.check_same(function, torch.randn(4, 9))
        self.assertEqual(self.fallbacks(), {"aten.sort.default"})
        report = str(fusion_torch.report())
        self.assertIn("aten.sort.default: ", report)
        self.assertIn("test_torch_compile.py:", report)

    def test_what_no_error_names_is_found(self):
        def function(x):
            values, order = (x * 2).exp().sort(-1)
            return values.sin().relu(), order
        with unittest.mock.patch("fusion_compiler.importing.fx.failing_nodes",
                                 return_value={}):
            self.check_same(function, torch.randn(4, 9))
        self.assertEqual(self.fallbacks(), {"aten.sort.default"})

    def test_devices_are_forgotten(self):
        from fusion_compiler.importing import fx
        from torch.fx.experimental.proxy_tensor import make_fx
        graph = make_fx(lambda x: x * torch.scalar_tensor(2.0),
                        tracing_mode="fake")(torch.ones(3)).graph
        scalar, = (node for node in graph.nodes if "device" in node.kwargs)
        scalar.update_kwarg("device", torch.device("cuda", 1))
        self.assertNotIn("torch.", fx.to_linalg(fx.to_torch_dialect(graph)))

    def test_parameters_are_read_in_place(self):
        model = torch.nn.Sequential(
            torch.nn.Conv2d(4, 8, 3), torch.nn.Flatten(),
            torch.nn.Linear(8 * 36, 5)).to(memory_format=torch.channels_last)
        passed = []
        launcher = fusion.Entry.launcher

        def recorded(entry, *orders, **others):
            launch = launcher(entry, *orders, **others)

            def run(values):
                passed.extend(one.data_ptr() for one in values)
                return launch(values)
            return run
        x = torch.randn(2, 4, 8, 8)
        with unittest.mock.patch.object(fusion.Entry, "launcher", recorded):
            self.compile(model)(x).sum().backward()
        for parameter in model.parameters():
            self.assertIn(parameter.data_ptr(), passed)
        self.assertIn(x.data_ptr(), passed)
        # What the optimizer writes there is what the next call reads.
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(2)
            torch.testing.assert_close(self.compile(model)(x), model(x))

    def test_gradients_have_the_strides_of_what_they_are_of(self):
        x = torch.randn(2, 4, 6, 6).contiguous(
            memory_format=torch.channels_last).requires_grad_()
        y = torch.randn(6, 5).t().requires_grad_()

        def function(x, y):
            return x.exp().sum((0, 1)) * torch.nn.functional.pad(
                y, (0, 0, 0, 1)).sin()
        actual = torch.autograd.grad(
            self.compile(function)(x, y).sum(), (x, y))
        expected = torch.autograd.grad(function(x, y).sum(), (x, y))
        for one, other in zip(actual, expected):
            torch.testing.assert_close(one, other)
            self.assertEqual(one.stride(), other.stride())

    def test_empty_memory_is_no_result_of_a_part(self):
        def function(x):
            y = x.sin()
            return torch.empty_like(y).exponential_() * y
        torch.manual_seed(3)
        x = torch.randn(4, 9, dtype=torch.float64)
        torch.manual_seed(3)
        expected = function(x)
        torch.manual_seed(3)
        torch.testing.assert_close(self.compile(function)(x), expected)
        self.assertEqual(self.fallbacks(), {"aten.exponential.default"})

    def test_types(self):
        for dtype in (torch.float16, torch.bfloat16, torch.float64):
            x = torch.randn(5, 7).to(dtype)
            self.check_same(lambda x: (x + 1).relu() * x, x, atol=2e-2)
        self.check_same(lambda x: (x // 3, x % 3, x > 2),
                        torch.arange(-5, 9).view(2, 7))
        with torch.autocast("cpu", torch.bfloat16):
            self.check_same(lambda x, y: (x @ y).float().softmax(-1),
                            torch.randn(4, 8), torch.randn(8, 4), atol=1e-2)

    def test_complex_numbers_and_no_elements(self):
        self.check_same(lambda x: torch.view_as_complex(x).abs() + 1,
                        torch.randn(3, 2))
        self.check_same(lambda x: x * 2 + 1, torch.randn(0, 4))
        self.check_same(lambda x: x.exp(), torch.tensor(1.5))

    def test_attention_is_one_kernel(self):
        def function(query, key, value):
            return torch.nn.functional.scaled_dot_product_attention(
                query, key, value, is_causal=True)
        inputs = [torch.randn(1, 2, 128, 64).half() for _ in range(3)]
        self.check_same(function, *inputs, atol=4e-3)
        self.assertEqual(fusion_torch.report().kernels, 1)

    def test_gradients_in_half_precision(self):
        query, key, value = [
            torch.randn(1, 2, 128, 64).bfloat16().requires_grad_()
            for _ in range(3)]
        function = self.compile(
            torch.nn.functional.scaled_dot_product_attention)
        grads = torch.randn(1, 2, 128, 64).bfloat16()
        actual = torch.autograd.grad(function(query, key, value),
                                     (query, key, value), grads)
        exact = [one.detach().double().requires_grad_()
                 for one in (query, key, value)]
        expected = torch.autograd.grad(
            torch.nn.functional.scaled_dot_product_attention(*exact), exact,
            grads.double())
        for one, other in zip(actual, expected):
            torch.testing.assert_close(one.double(), other, rtol=0.05,
                                       atol=0.03)
        self.assertEqual(self.fallbacks(), set())

    def test_gradients_of_normalised_weights(self):
        for dim in 0, 1:
            module = torch.nn.utils.parametrizations.weight_norm(
                torch.nn.Linear(6, 5), dim=dim)
            x = torch.randn(3, 6, requires_grad=True)
            grads = torch.randn(3, 5)
            values = x, *module.parameters()
            actual = torch.autograd.grad(self.compile(module)(x), values,
                                         grads)
            expected = torch.autograd.grad(module(x), values, grads)
            for one, other in zip(actual, expected):
                torch.testing.assert_close(one, other)
        self.assertEqual(self.fallbacks(), set())

    def test_gradients_of_convolutions(self):
        """With groups, transposed and of filters, which torch-mlir has not,
        or wrong."""
        convolution, transposed = torch.nn.Conv2d, torch.nn.ConvTranspose2d
        for make, channels, options in (
                (convolution, (6, 4), {"groups": 2}),
                (convolution, (4, 6), {"groups": 2, "stride": 2}),
                (convolution, (4, 4), {"groups": 4, "padding": 1}),
                (convolution, (4, 4), {"groups": 2, "padding": 3}),
                (convolution, (4, 6), {"padding": 1}),
                (convolution, (4, 6), {"stride": 2, "padding": 1}),
                (convolution, (4, 6), {"stride": 3, "dilation": 2}),
                (convolution, (4, 6), {"stride": 4}),
                (convolution, (4, 6), {"stride": 4, "padding": 2}),
                (convolution, (4, 6), {"stride": (2, 1), "padding": (0, 2)}),
                (transposed, (4, 6), {"groups": 2, "stride": 2}),
                (transposed, (4, 6), {"stride": 3, "output_padding": 2,
                                      "padding": 2})):
            with self.subTest(f"{make.__name__} {options}"):
                torch._dynamo.reset()  # It compiles a few of one kind only.
                module = make(*channels, 3, **options)
                x = torch.randn(2, channels[0], 7, 8)
                grads = torch.randn(module(x).shape)
                values = x.requires_grad_(), *module.parameters()
                actual = torch.autograd.grad(self.compile(module)(x), values,
                                             grads)
                expected = torch.autograd.grad(module(x), values, grads)
                for one, other in zip(actual, expected):
                    torch.testing.assert_close(one, other, rtol=1e-5,
                                               atol=1e-4)
        self.assertEqual(self.fallbacks(), set(), str(fusion_torch.report()))

    def test_gradients_of_images_of_any_sizes(self):
        """With strides, of images whose sizes are not known."""
        for kernel, padding in ((3, 1), (1, 0)):
            torch._dynamo.reset()
            module = torch.nn.Conv2d(4, 6, kernel, 2, padding)
            compiled = self.compile(module, dynamic=True)
            for sizes in ((2, 4, 9, 8), (3, 4, 6, 11)):
                x = torch.randn(sizes, requires_grad=True)
                grad = torch.randn(module(x).shape)
                actual, = torch.autograd.grad(compiled(x), x, grad)
                wide = torch.nn.Conv2d(4, 6, kernel, 2, padding).double()
                wide.load_state_dict(module.state_dict())
                exact = x.detach().double().requires_grad_()
                expected, = torch.autograd.grad(wide(exact), exact,
                                                grad.double())
                torch.testing.assert_close(actual.double(), expected,
                                           rtol=1e-5, atol=2e-6)
        self.assertEqual(self.fallbacks(), set(), str(fusion_torch.report()))

    def test_gradients_of_images_multiply_no_zeros(self):
        """Where windows are two elements apart, a product has a quarter of the
        image's places, and as many channels for each of the four between."""
        from torch.fx.experimental.proxy_tensor import make_fx

        from fusion_compiler.importing import decompositions
        grad, x, weight = (torch.randn(sizes) for sizes in (
            (2, 6, 4, 4), (2, 4, 8, 8), (6, 4, 3, 3)))
        traced = make_fx(
            lambda *tensors: torch.ops.aten.convolution_backward(
                *tensors, None, [2, 2], [1, 1], [1, 1], False, [0, 0], 1,
                [True, False, False])[0],
            decomposition_table=decompositions.late())(grad, x, weight)
        made, = (node.meta["val"] if "val" in node.meta else
                 node.meta["tensor_meta"] for node in traced.graph.nodes
                 if node.target is torch.ops.aten.convolution.default)
        self.assertEqual(list(made.shape), [2, 16, 4, 4])

    def test_gradients_of_filters_are_rounded_once(self):
        """With strides, torch-mlir's are, for each image by itself."""
        module = torch.nn.Conv2d(4, 6, 3, stride=2, padding=1,
                                 bias=False).bfloat16()
        x = torch.randn(48, 4, 9, 8).bfloat16()
        grads = torch.randn(module(x).shape).bfloat16()
        actual, = torch.autograd.grad(self.compile(module)(x), module.weight,
                                      grads)
        exact = module.double()
        expected, = torch.autograd.grad(exact(x.double()), exact.weight,
                                        grads.double())
        torch.testing.assert_close(actual.double(), expected, rtol=2**-8,
                                   atol=1e-4)
        self.assertEqual(self.fallbacks(), set())


class GradientsTest(CompileTest):
    """What PyTorch's own gradients write by index."""

    def test_images_of_another_size(self):
        import torch.nn.functional as F
        x = torch.randn(2, 3, 5, 6)
        for options in (dict(scale_factor=2.0), dict(size=(7, 9)),
                        dict(size=(2, 13)),
                        dict(size=(7, 3), mode="bilinear")):
            with self.subTest(**options):
                self.check_gradients(
                    lambda x: F.interpolate(x, **options), x)

    def test_places_in_any_order(self):
        def function(x):
            order = torch.arange(9, device=x.device) * 5 % 4
            return x[:, order] * torch.arange(9.0).to(x.dtype)
        self.check_gradients(function, torch.randn(3, 6))

    def test_places_are_computed_once(self):
        """Of sums each of which has places made of the last one's."""
        def function(x, values):
            places = torch.arange(7)
            for _ in range(16):
                places = places * 5 % 7
                x = x.index_put((places,), values, accumulate=True)
            return x
        graph = make_fx(function, tracing_mode="fake")(
            torch.randn(7), torch.randn(7)).graph
        with unittest.mock.patch.object(
                known_places, "_compute",
                wraps=known_places._compute) as compute:
            refusals = partition.Refusals(torch.device("cpu"))
            self.assertEqual(list(refusals.of(graph)), [])
        self.assertEqual(compute.call_count, 1 + 16 * 2)

    def test_embeddings(self):
        """Of positions, at places that are known, and of data, with rows that
        do not count."""
        import torch.nn.functional as F
        table = torch.randn(9, 4)

        def positions(table):
            places = torch.arange(12, device=table.device).reshape(3, 4) % 7
            return F.embedding(places, table) ** 2
        self.check_gradients(positions, table)
        self.check_gradients(lambda table, rows: F.embedding(rows, table, 2)
                             ** 2, table, torch.randint(0, 9, (3, 5)))

    def test_maximum_of_windows(self):
        import torch.nn.functional as F
        x = torch.randn(2, 3, 7, 8)
        self.check_gradients(lambda x: F.max_pool2d(x, 2), x)
        self.check_gradients(lambda x: F.max_pool2d(x, 3, 2, 1), x)
        self.check_gradients(lambda x: F.max_pool2d(
            x, (2, 3), (1, 2), (1, 1), (1, 2), ceil_mode=True), x)
        # Steps as long as windows and longer, which leave elements out, and
        # equal elements.
        self.check_gradients(lambda x: F.max_pool2d(x.round(), 2, 3), x)
        self.check_gradients(lambda x: F.max_pool2d(x, 3, (4, 3), 1), x)

    def test_maximum_of_windows_of_any_sizes(self):
        import torch.nn.functional as F
        compiled = self.compile(
            lambda x: F.max_pool2d(x.exp(), 3, 2, 1), dynamic=True)
        for sizes in ((2, 3, 9, 11), (3, 2, 12, 8)):
            x = torch.randn(sizes, requires_grad=True)
            result = compiled(x)
            grad = torch.randn_like(result)
            got, = torch.autograd.grad(result, x, grad)
            wide = x.detach().double().requires_grad_()
            wanted, = torch.autograd.grad(
                F.max_pool2d(wide.exp(), 3, 2, 1), wide, grad.double())
            torch.testing.assert_close(got.double(), wanted, rtol=1e-5,
                                       atol=1e-5)
        self.assertEqual(self.fallbacks(), set(), str(fusion_torch.report()))

    def test_losses_of_classes(self):
        import torch.nn.functional as F
        scores, target = torch.randn(7, 5), torch.randint(0, 5, (7,))
        target[2] = -100
        for reduction in ("mean", "sum", "none"):
            self.check_gradients(lambda x, y: F.cross_entropy(
                x, y, reduction=reduction, label_smoothing=0.1), scores,
                target)
        self.check_gradients(lambda x, y: F.cross_entropy(
            x, y, torch.arange(1, 6).to(x.dtype)), scores, target)
        self.check_gradients(lambda x, y: F.nll_loss(x[0], y[0]), scores,
                             target)
        self.check_gradients(F.cross_entropy, torch.randn(2, 4, 3, 3),
                             torch.randint(0, 4, (2, 3, 3)))


class RefusalsTest(CompileTest):
    """Errors of the compiler that name no operation."""

    def refuse(self, wrong):
        """The compiler, but for texts of which `wrong` holds."""
        from fusion_compiler import compiler
        from fusion_compiler.errors import FusionError
        take = compiler.compile

        def refusing(text, **options):
            if wrong(text):
                raise FusionError.of("FUS-1014", "too much", "take less")
            return take(text, **options)
        return unittest.mock.patch("fusion_compiler.compiler.compile",
                                   side_effect=refusing)

    def test_large_programs_are_cut(self):
        def function(x, y):
            for number in range(12):
                x = (x * y + number).sin()
            return x, x + y
        with self.refuse(lambda text: text.count("math.sin") > 4):
            self.check_same(function, *torch.randn(2, 3, 4))
        self.assertEqual(self.fallbacks(), set())
        self.assertIn(len(fusion_torch.report()[0].parts), (3, 4))

    def test_the_operation_is_found(self):
        def function(x):
            for _ in range(5):
                x = (x + 1).sin() * 2
            x = x.tanh()
            for _ in range(5):
                x = (x + 1).cos() * 2
            return x
        with self.refuse(lambda text: "math.tanh" in text):
            self.check_same(function, torch.randn(3, 4))
        left, = fusion_torch.report().fallbacks
        self.assertEqual((left.operator, left.reason),
                         ("aten.tanh.default", "too much"))

    def test_one_like_another_is_not_tried(self):
        def function(x):
            for _ in range(6):
                x = (x + 1).sort(-1)[0] * 2
            return x
        with unittest.mock.patch("fusion_compiler.importing.fx.to_linalg",
                                 side_effect=fx.to_linalg) as importer:
            self.check_same(function, torch.randn(3, 4))
        self.assertEqual(self.fallbacks(), {"aten.sort.default"})
        # The whole, and then the seven parts between.
        self.assertLessEqual(importer.call_count, 8)

    def test_where_nothing_is_taken_that_is_found_soon(self):
        def function(x):
            for _ in range(100):
                x = (x + 1).sin()
            return x
        with self.refuse(lambda text: True) as compiler:
            self.check_same(function, torch.randn(3, 4), atol=1e-5)
            self.assertLess(compiler.call_count, 40)


class ColdTest(CompileTest):
    """What a first call does once, or at once."""

    def test_operations_that_are_alike_are_traced_once(self):
        def function(x, y):
            for _ in range(40):
                x = (x * y).sin() + x
            return x
        with unittest.mock.patch.object(
                torch.fx.Interpreter, "call_function", autospec=True,
                side_effect=torch.fx.Interpreter.call_function) as traced:
            self.check_same(function, *torch.randn(2, 3, 4), atol=1e-5)
        self.assertEqual(self.fallbacks(), set())
        # AOTAutograd's interpreter calls it for each of the 120.
        parts = [call for call in traced.call_args_list
                 if type(call.args[0]).__module__ == "fusion_compiler.torch."
                 "parts"]
        self.assertEqual(len(parts), 3)

    def test_operations_that_are_nearly_alike(self):
        def function(x, y):
            return (x * x, x * y, y * x, 1 / (x * 0.0), 1 / (x * -0.0),
                    x.sum(1), x.sum(1, True), x.reshape(16), x.t().reshape(16),
                    x.t() * 2, x.int() + 1, x + 1, (x + 1).double() * 2,
                    y.chunk(2), y.t().chunk(2))
        x, y = torch.rand(2, 4, 4) + 1

        def flat(x, y):
            *rest, a, b = function(x, y)
            return (*rest, *(one + 0 for one in a), *(one + 0 for one in b))
        self.check_same(flat, x, y)
        self.assertEqual(self.fallbacks(), set())

    def test_a_graph_that_is_supported_is_one_part(self):
        def function(x, y):
            return x.sin(), y.cos()
        self.check_same(function, *torch.randn(2, 3, 4))
        self.assertEqual(len(fusion_torch.report()[0].parts), 1)

    def operations_of_parts(self, function, *inputs):
        self.check_same(function, *inputs)
        self.assertEqual(self.fallbacks(), {"aten.sort.default"})
        return [part.operations for part in fusion_torch.report()[0].parts]

    def test_operations_are_in_the_first_part_that_can_have_them(self):
        def function(x, y):
            last = x.sin().sort(-1)[0].cos()
            return last, (y * 2).sum(0), x.exp() + y
        self.assertEqual(
            self.operations_of_parts(function, *torch.randn(2, 5, 4)), [5, 1])

    def test_what_is_greater_than_its_operands_is_where_it_is_read(self):
        def function(x, y):
            wide = torch.full((5, 4), 0.5) * y.sum()
            return x.sin().sort(-1)[0] + wide
        self.assertEqual(
            self.operations_of_parts(function, *torch.randn(2, 5, 4)), [2, 4])

    def test_items_are_in_the_part_of_their_operation(self):
        def function(x, y):
            largest, place = y.max(-1)
            last = x.sin().sort(-1)[0]
            return last.max(-1)[0] + largest, place
        self.check_same(function, *torch.randn(2, 5, 4))

    def test_an_error_that_says_nothing(self):
        with unittest.mock.patch("fusion_compiler.compiler.compile",
                                 side_effect=RuntimeError):
            self.check_same(lambda x: (x + 7).sin(), torch.randn(5, 4))
        self.assertEqual(self.fallbacks(),
                         {"aten.add.Tensor", "aten.sin.default"})

    def test_parts_are_compiled_at_once(self):
        from fusion_compiler import compiler
        both = threading.Barrier(2, timeout=120)
        take = compiler.compile

        def meet(*args, **options):
            both.wait()
            return take(*args, **options)
        with unittest.mock.patch("fusion_compiler.compiler.compile",
                                 side_effect=meet):
            self.check_same(lambda x: x.sin().sort(-1)[0].cos(),
                            torch.randn(3, 4))
        self.assertEqual(self.fallbacks(), {"aten.sort.default"})
        self.assertEqual(len(fusion_torch.report()[0].parts), 2)

    def test_what_pytorch_makes_of_others_is_not_listed(self):
        from torch_mlir.extras import fx_decomp_util
        decompositions.early.cache_clear()
        fx_decomp_util.get_expanded_decomposition_table.cache_clear()
        with unittest.mock.patch(
                "torch._export.utils._materialize_cpp_cia_ops") as listed:
            self.check_same(
                lambda x: torch.nn.functional.cosine_similarity(
                    x.reshape(-1, 4).square(), x.tile(1, 1)),
                torch.randn(3, 4), atol=1e-5)
        self.assertEqual(self.fallbacks(), set())
        listed.assert_not_called()

    def test_garbage_is_collected_again(self):
        import gc
        self.check_same(lambda x: x.sin(), torch.randn(3))
        self.assertTrue(gc.isenabled())


class CacheTest(CompileTest):

    def test_a_second_process_compiles_nothing(self):
        def function(x):
            return (x * 3).tanh()
        x = torch.randn(4, 4)
        self.check_same(function, x)
        torch._dynamo.reset()
        fusion_torch.reset_report()
        with unittest.mock.patch("fusion_compiler.compiler._run",
                                 side_effect=AssertionError):
            self.check_same(function, x)
        self.assertTrue(fusion_torch.report()[0].parts[0].cached)

    def test_damaged_files_are_compiled_again(self):
        def function(x):
            return (x * 5).tanh()
        x = torch.randn(4, 4)
        self.check_same(function, x)
        for path in pathlib.Path(self.folder.name).rglob("*"):
            if path.is_file():
                path.write_bytes(path.read_bytes()[:-40] + b"?" * 40)
        torch._dynamo.reset()
        fusion_torch.reset_report()
        self.check_same(function, x)
        self.assertFalse(fusion_torch.report()[0].parts[0].cached)


class OptionsTest(CompileTest):

    def test_unknown_ones_are_refused(self):
        with self.assertRaisesRegex(Exception, "FUS-1309.*no option 'depth'"):
            self.compile(lambda x: x + 1, options={"depth": 3})(torch.ones(2))

    def test_report_of_each_package(self):
        with tempfile.TemporaryDirectory() as folder:
            options = {"report": f"{folder}/page.html"}
            for _ in range(2):  # The second time from no cache.
                torch._dynamo.reset()
                self.compile(lambda x: torch.tanh(x) + 1, options=options)(
                    torch.ones(2, 3))
            parts = [part for graph in fusion_torch.report()
                     for part in graph.parts]
            self.assertEqual([part.report.name for part in parts],
                             ["page.html", "page-2.html"])
            for part in parts:
                self.assertFalse(part.cached)
                self.assertIn("tensor\\u003c2x3xf32>",
                              part.report.read_text())

    def test_unknown_modes_are_refused(self):
        with self.assertRaisesRegex(Exception, "FUS-1309.*no mode 'fastest'"):
            self.compile(lambda x: x + 1, mode="fastest")(torch.ones(2))

    def test_target(self):
        self.compile(lambda x: x + 1, options={"target": "sm_80"})(
            torch.ones(2))
        part = fusion_torch.report()[0].parts[0]
        self.assertEqual(part.package.target, "sm_80")


class CudaGraphsTest(CompileTest):
    """What PyTorch's trees of CUDA graphs are handed, on tensors of the CPU."""

    def step(self, **options):
        linear = torch.nn.Linear(3, 5)
        x = torch.randn(4, 3, requires_grad=True)
        results = []
        for _ in range(2):
            result = self.compile(lambda x: linear(x).tanh(), **options)(x)
            results += [result, *torch.autograd.grad(
                result.sum(), [x, *linear.parameters()])]
        expected = linear(x).tanh()
        for one, other in zip(results, 2 * [expected, *torch.autograd.grad(
                expected.sum(), [x, *linear.parameters()])], strict=True):
            torch.testing.assert_close(one, other)

    def test_tensors_of_the_cpu_are_not_recorded(self):
        with self.assertLogs("fusion.torch", "INFO") as log:
            self.step(mode="reduce-overhead")
        self.assertIn("without a CUDA graph", "".join(log.output))
        self.assertEqual(self.fallbacks(), set())

    def test_what_is_recorded(self):
        from torch._dynamo.backends import cudagraphs
        from torch._inductor import cudagraph_trees
        recorded = []

        def record(run, inputs, fixed, **options):
            def replay(arguments):
                results = run(arguments)
                self.assertEqual(arguments, [])  # As PyTorch demands.
                return results
            recorded.append((options["is_backward"], len(inputs), len(fixed)))
            return replay
        with unittest.mock.patch.object(
                cudagraphs, "check_for_skip", lambda *_: None), \
            unittest.mock.patch.object(
                cudagraphs, "get_device_index", lambda _: 0), \
            unittest.mock.patch.object(
                cudagraph_trees, "cudagraphify_impl", record):
            self.step(options={"cuda_graphs": True})
            # Parameters, and what the forward pass keeps, stay where they are.
            (forward, backward) = recorded
            self.assertEqual(forward, (False, 3, 2))
            self.assertEqual(backward[0], True)
            self.assertEqual(backward[1], backward[2] + 1)
            recorded.clear()
            torch._dynamo.reset()
            for mode in ("default", "max-autotune-no-cudagraphs"):
                self.step(mode=mode)
            self.assertEqual(recorded, [])


class ExportTest(CompileTest):

    def test_a_package_runs_by_itself(self):
        import numpy as np
        module = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(
            approximate="tanh"), torch.nn.LayerNorm(16))
        x = torch.randn(3, 8)
        rows = torch.export.Dim("rows", min=2)
        program = torch.export.export(module, (x,),
                                      dynamic_shapes=({0: rows},))
        path = pathlib.Path(self.folder.name) / "model.fpk"
        fusion_torch.export(program, path)
        weights = [p.detach().numpy() for p in module.parameters()]
        for size in (3, 7):
            x = torch.randn(size, 8)
            result = fusion.load(path, "emulator")(*weights, x.numpy())
            np.testing.assert_allclose(result, module(x).detach().numpy(),
                                       rtol=1e-5, atol=2e-6)

    def test_operations_are_taken_apart(self):
        class Product(torch.nn.Module):
            def forward(self, x, y, z):
                return torch.addmv(z, x, y)
        inputs = torch.randn(3, 4), torch.randn(4), torch.randn(3)
        package = fusion_torch.export(torch.export.export(Product(), inputs))
        torch.testing.assert_close(package["main"](*inputs),
                                   Product()(*inputs))
        self.check_same(Product(), *inputs)
        self.assertEqual(self.fallbacks(), set())

    def test_attention_of_sequences_with_lengths(self):
        attend = torch.nn.functional.scaled_dot_product_attention

        class Attention(torch.nn.Module):
            def forward(self, q, k, v, lengths):
                places = torch.arange(k.shape[-2], device=q.device)
                seen = places[None, :] < lengths[:, None]
                seen = seen.view(-1, *[1] * (q.dim() - 2), k.shape[-2])
                return attend(q, k, v, attn_mask=seen, enable_gqa=q.dim() == 4)
        lengths = torch.tensor([40, 7, 96])
        for heads, own in (((4,), (2,)), ((), ())):
            q = torch.randn(3, *heads, 64, 32, dtype=torch.bfloat16)
            k, v = (torch.randn(3, *own, 96, 32, dtype=torch.bfloat16)
                    for _ in range(2))
            inputs = q, k, v, lengths
            wanted = Attention()(*(one.double() for one in inputs[:3]), lengths)
            package = fusion_torch.export(
                torch.export.export(Attention(), inputs))
            for run in (package["main"],
                        torch.compile(Attention(), backend="fusion")):
                torch.testing.assert_close(run(*inputs).double(), wanted,
                                           rtol=2e-2, atol=2e-2)
            self.assertEqual(self.fallbacks(), set())

    def test_what_cannot_be_one_package(self):
        class Counter(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("count", torch.zeros(1))

            def forward(self, x):
                self.count += 1
                return x + self.count
        program = torch.export.export(Counter(), (torch.ones(2),))
        with self.assertRaisesRegex(RuntimeError, "FUS-1310: .*count"):
            fusion_torch.export(program)

        class Sort(torch.nn.Module):
            def forward(self, x):
                return x.sort()[0]
        program = torch.export.export(Sort(), (torch.ones(2),))
        with self.assertRaisesRegex(RuntimeError, "FUS-1310: .*sort"):
            fusion_torch.export(program)

        program = torch.export.export(torch.nn.Dropout(0.5), (torch.ones(2),))
        with self.assertRaisesRegex(RuntimeError, "FUS-1310: .*random"):
            fusion_torch.export(program)


if __name__ == "__main__":
    unittest.main()
