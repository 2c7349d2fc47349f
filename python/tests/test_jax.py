# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX functions through jax.export, on the emulator; needs jax, torch-mlir."""

import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import numpy as np

import fusion_compiler as fusion

MISSING = [name for name in ("jax", "jaxlib", "torch_mlir")
           if importlib.util.find_spec(name) is None]
if not MISSING:
    import jax
    import jax.numpy as jnp
    from jax import export, lax

    import fusion_compiler.jax as fusion_jax


def draw(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(
        shape).astype(np.float32)


def mlp_gradient(weights, x, y):
    def loss(weights):
        hidden = jnp.tanh(x @ weights["in"] + weights["bias"])
        return jnp.mean((hidden @ weights["out"] - y) ** 2)
    return jax.value_and_grad(loss)(weights)


def attention(q, k, v):
    scores = q @ jnp.swapaxes(k, -1, -2) / np.float32(np.sqrt(q.shape[-1]))
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    return jax.nn.softmax(jnp.where(mask, scores, -jnp.inf), axis=-1) @ v


def layer_norm(x, scale, bias):
    mean = x.mean(axis=-1, keepdims=True)
    variance = x.var(axis=-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + bias


def convolution(x, filters):
    return jax.nn.relu(lax.conv_general_dilated(x, filters, (2, 2), "SAME"))


def scan(x, decay):
    def step(state, value):
        state = state * decay + value
        return state, state
    return lax.scan(step, jnp.zeros(x.shape[1:], x.dtype), x)


def associative_scan(x, decay):
    def combine(left, right):
        return left[0] * right[0], right[0] * left[1] + right[1]
    return lax.associative_scan(
        combine, (jnp.broadcast_to(decay, x.shape), x))[1]


def cross_entropy(logits, labels):
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None],
                                 axis=-1)
    return -jnp.mean(chosen)


LABELS = np.array([3, 0, 9, 5], np.int32)
# Name: the function and its arguments.
FUNCTIONS = {
    "mlp gradient": lambda: (mlp_gradient, (
        {"in": draw(8, 16), "bias": draw(16), "out": draw(16, 4)},
        draw(5, 8), draw(5, 4))),
    "attention": lambda: (attention, (draw(2, 16, 8), draw(2, 16, 8, seed=1),
                                      draw(2, 16, 8, seed=2))),
    "layer norm": lambda: (layer_norm, (draw(4, 32), draw(32), draw(32,
                                                                   seed=1))),
    "convolution": lambda: (convolution, (draw(1, 3, 9, 9),
                                          draw(4, 3, 3, 3))),
    "scan": lambda: (scan, (draw(6, 8), draw(8) / 4)),
    "associative scan": lambda: (associative_scan, (draw(9, 4), draw(4) / 4)),
    "cumsum": lambda: (lambda x: jnp.cumsum(x, axis=-1), (draw(3, 20),)),
    "gather": lambda: (lambda x, i: x[i], (draw(10, 4), LABELS)),
    "cross entropy": lambda: (cross_entropy, (draw(4, 10), LABELS)),
    "cross entropy gradient": lambda: (jax.grad(cross_entropy),
                                       (draw(4, 10), LABELS)),
    "two results": lambda: (lambda x: (jnp.argmax(x, -1), jnp.max(x, -1)),
                            (draw(4, 16),)),
    "gelu": lambda: (lambda x: jax.nn.gelu(x, approximate=False),
                     (draw(4, 16),)),
    "composites": lambda: (lambda x: (jnp.sinh(x), jnp.arccosh(2 + x * x)),
                           (draw(4, 16),)),
}


def in_double(function, args):
    """The results in float64, flattened."""
    with jax.enable_x64(True):
        wide = jax.tree_util.tree_map(
            lambda x: x.astype(np.float64) if x.dtype == np.float32 else x,
            args)
        return [np.asarray(value) for value in
                jax.tree_util.tree_leaves(jax.jit(function)(*wide))]


@unittest.skipIf(MISSING, f"not installed: {', '.join(MISSING)}")
class JaxTest(unittest.TestCase):

    def check(self, function, args, results):
        """RMSE to float64 is at most twice that of JAX, and a little."""
        theirs = jax.tree_util.tree_leaves(jax.jit(function)(*args))
        ours = jax.tree_util.tree_leaves(results)
        exact = in_double(function, args)
        self.assertEqual(len(ours), len(theirs))
        for one, other, wide in zip(ours, theirs, exact):
            other = np.asarray(other)
            self.assertEqual((one.shape, one.dtype),
                             (other.shape, other.dtype))
            if one.dtype.kind != "f":
                np.testing.assert_array_equal(one, other)
                continue
            error, allowed = (np.sqrt(np.mean((value - wide) ** 2))
                              for value in (one, other))
            scale = np.sqrt(np.mean(wide ** 2)) + 1e-30
            self.assertLessEqual(error, 2 * allowed + 5e-7 * scale)

    def test_exported(self):
        for name, case in FUNCTIONS.items():
            with self.subTest(name):
                function, args = case()
                exported = export.export(jax.jit(function),
                                         platforms=["cpu"])(*args)
                # What only a function can be rewritten into.
                reason = {"scan": "unroll=True",
                          "cross entropy gradient": "sums"}.get(name)
                if reason:
                    with self.assertRaisesRegex(fusion.FusionError,
                                                f"FUS-1307.*{reason}"):
                        fusion_jax.compile(exported, device="emulator")
                    continue
                compiled = fusion_jax.compile(exported, device="emulator")
                results = compiled(*args)
                self.assertEqual(
                    jax.tree_util.tree_structure(results),
                    jax.tree_util.tree_structure(function(*args)))
                self.check(function, args, results)

    def test_functions(self):
        for name in ("mlp gradient", "scan", "cross entropy gradient"):
            with self.subTest(name):
                function, args = FUNCTIONS[name]()
                compiled = fusion_jax.compile(function, device="emulator")
                self.check(function, args, compiled(*args))

    def test_cumulative(self):
        x = draw(3, 37)
        for function in (jnp.cumsum, lax.cumprod, lax.cummax, lax.cummin):
            for dtype in (np.float32, np.int32):
                for reverse in (False, True):
                    def program(x):
                        y = function(x, axis=1)
                        return y if not reverse else jnp.flip(function(
                            jnp.flip(x, 1), axis=1), 1)
                    a = (x * 3).astype(dtype)
                    compiled = fusion_jax.compile(program, a,
                                                  device="emulator")
                    self.assertIn("fusion.scan", compiled.specialize(a).text)
                    np.testing.assert_allclose(compiled(a), program(a), 1e-5,
                                               1e-4)
        gradient = jax.grad(lambda x: (jnp.cumsum(x, 1) * x).sum())
        compiled = fusion_jax.compile(gradient, x, device="emulator")
        self.assertIn("reverse", compiled.specialize(x).text)
        np.testing.assert_allclose(compiled(x), gradient(x), 1e-4, 1e-4)

    def test_scatters(self):
        i = np.array([3, 1, 3, -1, 99], np.int32)
        pairs = np.array([[0, 1], [2, 3], [0, 1]], np.int32)
        x = draw(5, 4)
        for function, args in (
                (lambda x, i: jnp.zeros((6, 4)).at[i].add(x), (x, i)),
                (lambda x, i: jnp.zeros((4, 7)).at[:, i].add(x.T), (x, i)),
                (lambda x, i: x.at[i, 2].add(1.5), (x, i)),
                (lambda x, p: x.at[p[:, 0], p[:, 1]].add(2.0), (x, pairs)),
                (lambda x, i: x.at[i[1]].set(x[0]), (x, i)),
                (lambda x, i: x.at[i].add(x, mode="clip"), (x, i)),
                (lambda x, i: x.at[i[:2]].set(7.0, unique_indices=True),
                 (x, i)),
                (lambda x, p: jnp.zeros((3, 9)).at[
                    jnp.arange(3)[:, None], p].add(x[:3, :2]), (x, pairs))):
            result = fusion_jax.compile(function, *args,
                                        device="emulator")(*args)
            wanted = function(*map(jnp.asarray, args))
            np.testing.assert_allclose(result, wanted, 1e-6, 1e-6)

    def test_compiled_for_each_shape_and_structure(self):
        compiled = fusion_jax.compile(
            lambda x, *, more=(): sum(more, x * 2), device="emulator")
        for shape in ((3,), (2, 5), ()):
            x = draw(*shape)
            np.testing.assert_array_equal(compiled(x), x * 2)
            np.testing.assert_array_equal(compiled(x, more=[x, x]),
                                          x * 2 + x + x)
        self.assertEqual(len(compiled._compiled), 6)

    def test_report_of_each_compilation(self):
        with tempfile.TemporaryDirectory() as folder:
            compiled = fusion_jax.compile(jnp.tanh, device="emulator",
                                          report=f"{folder}/page.html")
            for size in (3, 3, 7):
                compiled(draw(size))
            pages = {path.name: path.read_text()
                     for path in pathlib.Path(folder).iterdir()}
        self.assertEqual(set(pages), {"page.html", "page-2.html"})
        self.assertIn("tensor\\u003c3xf32>", pages["page.html"])
        self.assertIn("tensor\\u003c7xf32>", pages["page-2.html"])

    def test_arrays_of_the_function_are_arguments(self):
        table = draw(64, 64)
        compiled = fusion_jax.compile(lambda x: x @ table, draw(2, 64),
                                      device="emulator")
        executable = compiled.specialize(draw(2, 64))
        self.assertEqual(len(executable.constants), 1)
        self.assertLess(len(executable.text), 4000)
        np.testing.assert_allclose(compiled(draw(2, 64)), draw(2, 64) @ table,
                                   rtol=1e-5, atol=1e-5)

    def test_special_values_and_types(self):
        x = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.5], np.float32)

        def function(x):
            return (x * 0.0, x + 0.0, x - x, jnp.maximum(x, 0.0),
                    jnp.where(x == x, x, 7.0), -x)

        ours = fusion_jax.compile(function, x, device="emulator")(x)
        for one, other in zip(ours, function(x)):
            np.testing.assert_array_equal(one, other)
            finite = ~np.isnan(one)
            np.testing.assert_array_equal(np.signbit(one)[finite],
                                          np.signbit(other)[finite])
        for kind in (np.uint8, np.uint32, np.int16, jnp.bfloat16, np.bool_):
            a = np.array([0, 1, 2, 200], np.float32).astype(kind)
            for name in ("equal", "maximum"):
                operation = getattr(jnp, name)
                result = fusion_jax.compile(
                    operation, a, a[::-1], device="emulator")(a, a[::-1])
                wanted = np.asarray(operation(a, a[::-1]))
                self.assertEqual(result.dtype, wanted.dtype)
                np.testing.assert_array_equal(result, wanted)

    def test_unused_arguments(self):
        x = draw(4)
        result = fusion_jax.compile(lambda x, unused: x + 1, x, draw(9),
                                    device="emulator")(x, draw(9))
        np.testing.assert_array_equal(result, x + 1)

    def test_refusals(self):
        x = draw(4, 16)
        sizes = export.symbolic_shape("b, 16")
        for function, args, reason in (
                (lambda x: jnp.sort(x, axis=-1), (x,), "stablehlo.sort"),
                (lambda x: lax.top_k(x, 3), (x,), "stablehlo.sort"),
                (lambda x: lax.while_loop(lambda v: v.sum() < 100,
                                          lambda v: v * 2, abs(x)), (x,),
                 "stablehlo.while.*unrolled")):
            with self.assertRaisesRegex(fusion.FusionError,
                                        f"FUS-1307.*{reason}"):
                fusion_jax.compile(function, *args, device="emulator")
        symbolic = export.export(jax.jit(lambda x: x + 1))(
            jax.ShapeDtypeStruct(sizes, np.float32))
        with self.assertRaisesRegex(fusion.FusionError, "symbolic sizes"):
            fusion_jax.compile(symbolic, device="emulator")

    def test_wrong_arguments(self):
        exported = export.export(jax.jit(lambda x: x + 1))(draw(4))
        compiled = fusion_jax.compile(exported, device="emulator")
        with self.assertRaisesRegex(fusion.FusionError,
                                    "FUS-1309.*argument 0"):
            compiled(draw(5))
        with self.assertRaisesRegex(fusion.FusionError, "FUS-1309.*float64"):
            compiled(np.zeros(4))
        with self.assertRaises(TypeError):
            compiled(draw(4), draw(4))


class MissingTest(unittest.TestCase):
    """What is said without the packages."""

    def test_jax(self):
        import fusion_compiler.jax as module
        with unittest.mock.patch.object(module.importlib.util, "find_spec",
                                        return_value=None):
            with self.assertRaisesRegex(fusion.FusionError,
                                        "FUS-1305.*pip install jax"):
                module.compile(abs)


@unittest.skipIf(MISSING, f"not installed: {', '.join(MISSING)}")
class ConvertTest(unittest.TestCase):
    """python -m fusion_compiler.importing FILE.mlir"""

    def convert(self, text):
        folder = pathlib.Path(self.enterContext(
            tempfile.TemporaryDirectory()))
        (folder / "in.mlir").write_text(text)
        done = subprocess.run(
            [sys.executable, "-m", "fusion_compiler.importing",
             folder / "in.mlir", "-o", folder / "out.mlir"],
            capture_output=True, text=True,
            cwd=pathlib.Path(fusion.__file__).parents[1])
        out = folder / "out.mlir"
        return done, out.read_text() if out.exists() else None

    def test_converts(self):
        text = export.export(jax.jit(lambda x: jnp.tanh(x) @ x))(
            draw(4, 4)).mlir_module()
        done, out = self.convert(text)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        x = draw(4, 4)
        np.testing.assert_allclose(
            fusion.compile(out, device="emulator")(x), np.tanh(x) @ x,
            rtol=1e-5, atol=1e-5)

    def test_refuses(self):
        text = export.export(jax.jit(jnp.sort))(draw(8)).mlir_module()
        for bad, reason in ((text, "FUS-1307: stablehlo.sort"),
                            ("not MLIR", "FUS-1307: torch-mlir")):
            done, out = self.convert(bad)
            self.assertEqual((done.returncode, out), (1, None))
            self.assertIn(reason, done.stderr)


if __name__ == "__main__":
    unittest.main()
