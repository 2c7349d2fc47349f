# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a first call of torch.compile(backend="fusion") spares."""

import subprocess
import sys
import textwrap
import unittest
import unittest.mock

try:
    import torch
    import fusion_compiler.torch as fusion_torch  # noqa: F401
    from fusion_compiler import libraries
    from fusion_compiler.torch.repeats import Repeats
    from test_torch_compile import CompileTest
    REASON = ""
except ImportError as error:
    torch, REASON, CompileTest = None, str(error), unittest.TestCase


@unittest.skipIf(REASON, REASON)
class ImportsTest(unittest.TestCase):

    def test_a_first_call_imports_little(self):
        """Neither PyTorch's own compiler nor a class for each operation of
        torch-mlir's."""
        done = subprocess.run([sys.executable, "-c", textwrap.dedent("""
            import sys
            import torch
            import fusion_compiler.torch

            x = torch.randn(3, 4)
            result = torch.compile(lambda x: x.sin() + 1, backend="fusion")(x)
            torch.testing.assert_close(result, x.sin() + 1)
            graph, = fusion_compiler.torch.report()
            print(len(graph.parts), *sorted(sys.modules))
            """)], stdout=subprocess.PIPE, text=True, check=True, timeout=120)
        parts, *modules = done.stdout.split()
        self.assertEqual(parts, "1")
        self.assertIn("torch_mlir.extras.fx_importer", modules)
        for name in ("torch._inductor.debug", "torch._inductor.scheduler",
                     "torch_mlir.dialects._torch_ops_gen"):
            self.assertNotIn(name, modules)

    def test_libraries_are_loaded_ahead(self):
        loaded = unittest.mock.Mock()
        library = libraries._Library("libm.so.6", "NOT_SET_ANYWHERE",
                                     lambda handle: None)
        library.path = libraries.pathlib.Path(libraries.path("compiler"))
        with unittest.mock.patch.dict(
                libraries._libraries, {"other": library}), \
                unittest.mock.patch("ctypes.CDLL", loaded):
            before = set(libraries.threading.enumerate())
            libraries.load_ahead("other", library.path)
            for thread in set(libraries.threading.enumerate()) - before:
                thread.join()
            dlopen = loaded.return_value.dlopen
            self.assertEqual([call.args[0] for call in dlopen.call_args_list],
                             2 * [str(library.path).encode()])
            library.handle = object()
            libraries.load_ahead("other", library.path)
        self.assertEqual(dlopen.call_count, 2)


@unittest.skipIf(REASON, REASON)
class RepeatsTest(CompileTest):
    """Decompositions of operations that are alike."""

    @staticmethod
    def model():
        def layer():
            return torch.nn.Sequential(
                torch.nn.LayerNorm(8), torch.nn.Linear(8, 8),
                torch.nn.Hardswish(), torch.nn.Dropout(0.0))
        return torch.nn.Sequential(*(layer() for _ in range(3)),
                                   torch.nn.LogSoftmax(-1))

    def graphs(self, model, x):
        """What AOTAutograd gives to be compiled: of each graph a list of what
        is known of its nodes."""
        backend = sys.modules["fusion_compiler.torch.backend"]
        graphs = []

        def describe(node, first):
            value = node.meta.get("val")
            number = node.meta.get("seq_nr")
            return (node.name, node.target, node.args, node.kwargs,
                    *((value.dtype, value.shape, value.stride(), value.device)
                      if isinstance(value, torch.Tensor) else (value,)),
                    number and number - first, *(str(node.meta.get(key)) for key in (
                        "stack_trace", "nn_module_stack", "original_aten",
                        "source_fn_stack", "recompute")))

        def look(module, *args, compile_graph=backend.compile_graph, **options):
            # Numbers are given out for all of a process.
            first = min((node.meta["seq_nr"] for node in module.graph.nodes
                         if "seq_nr" in node.meta), default=0)
            # Names stand for nodes of either trace.
            graphs.append([str(describe(node, first))
                           for node in module.graph.nodes])
            return compile_graph(module, *args, **options)
        torch._dynamo.reset()
        with unittest.mock.patch.object(backend, "compile_graph", look):
            result = self.compile(model)(x)
            if result.requires_grad:
                result.sum().backward()
        return graphs

    def test_graphs(self):
        model, x = self.model().eval(), torch.randn(4, 8)
        for parameter in model.parameters():
            parameter.requires_grad_(False)
        run = Repeats.run
        with unittest.mock.patch.object(Repeats, "decompositions",
                                        lambda self, table: table):
            expected = self.graphs(model, x)
        traced = []

        def count_calls(self, call, target, args, kwargs):
            def counted(*arguments):
                traced.append(str(target))
                return call(*arguments)
            return run(self, counted, target, args, kwargs)
        with unittest.mock.patch.object(Repeats, "run", count_calls):
            actual = self.graphs(model, x)
        self.assertEqual(len(actual), 1)
        self.assertEqual(expected, actual)
        for name in ("addmm.default", "native_layer_norm.default"):
            self.assertEqual(traced.count(f"aten.{name}"), 1, name)

    def test_values_of_nodes_are_their_own(self):
        """Parts are told their inputs apart by them."""
        def function(x):
            rows = [torch.nn.functional.hardswish(x + n) for n in range(3)]
            # No part has the sort.
            return torch.stack(rows).sort(0)[0] * rows[1] + rows[2]
        self.check_same(function, torch.randn(4, 8), atol=1e-5)
        self.assertEqual(self.fallbacks(), {"aten.sort.default"})

    def test_training(self):
        self.check_gradients(lambda x, *weights: self.layers(x, weights),
                             torch.randn(4, 8), *torch.randn(3, 8, 8) / 3)

    @staticmethod
    def layers(x, weights):
        for weight in weights:
            x = torch.nn.functional.layer_norm(x, (8,)) @ weight
            x = torch.nn.functional.hardswish(x)
        return x

    def test_results(self):
        self.check_same(self.model().eval(), torch.randn(4, 8), atol=1e-5)

    def test_random_numbers_differ(self):
        """Operations that are alike are not the same operation."""
        def function(x):
            return (torch.nn.functional.dropout(x, 0.5),
                    torch.nn.functional.dropout(x, 0.5))
        one, other = self.compile(function)(torch.ones(64, 64))
        self.assertFalse(torch.equal(one, other))

    def test_what_is_written_later(self):
        def function(x):
            parts = []
            for _ in range(3):
                x = torch.nn.functional.softplus(x)
                parts.append(x.squeeze((0, 2)))
                x = x.clone()
                parts[-1] = parts[-1].add_(1)
            return tuple(parts)
        self.check_same(function, torch.randn(1, 5, 1), atol=1e-5)
