# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of docs/examples against NumPy, written down independently.

fusion-run --verify compares a program with itself in float64; this compares it
with what its first comment says it computes. Runs on the emulator.
"""

import pathlib
import unittest

import numpy as np

import fusion_compiler as fusion

EXAMPLES = (pathlib.Path(__file__).resolve().parent.parent.parent / "docs" /
            "examples")

# Unit roundoff of the type of the result, for the bounds below.
BF16, F16, F32 = 2.0 ** -8, 2.0 ** -11, 2.0 ** -24


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def gelu_tanh(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def layer_norm(x, scale, bias, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    var = (centred ** 2).mean(-1, keepdims=True)
    return centred / np.sqrt(var + eps) * scale + bias


def rms_norm(x, scale, eps):
    return x / np.sqrt((x ** 2).mean(-1, keepdims=True) + eps) * scale


def conv3x3(x, w):
    """NHWC by HWCF, padding 1."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))
    return np.einsum("nhwcij,ijcf->nhwf", windows, w)


class ExampleTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.random = np.random.default_rng(20261121)

    def normal(self, *shape, scale=1.0):
        """Random numbers that bf16 and f16 hold exactly, in float32."""
        values = self.random.standard_normal(shape) * scale
        bits = values.astype(np.float32).view(np.uint32) & 0xFFFF0000
        return bits.view(np.float32)

    def check(self, name, inputs, expected, roundoff, factor=4):
        """`factor` roundoffs at the scale of the result bound the error."""
        text = (EXAMPLES / f"{name}.mlir").read_text()
        package = fusion.compile(text, target="sm_90a", device="emulator",
                                 file_name=f"{name}.mlir")
        results = package(*inputs)
        results = results if isinstance(results, tuple) else (results,)
        wide = [x.astype(np.float64) if getattr(x, "dtype", None) in
                (np.float32, np.float16) else x for x in inputs]
        references = expected(*wide)
        if not isinstance(references, tuple):
            references = (references,)
        self.assertEqual(len(results), len(references))
        for result, reference in zip(results, references):
            self.assertEqual(result.shape, np.shape(reference))
            bound = factor * roundoff * (np.abs(reference)
                                         + np.std(reference))
            error = np.abs(result.astype(np.float64) - reference)
            self.assertTrue((error <= bound).all(),
                            f"largest error {error.max():.3g}, at "
                            f"{(error / bound).max():.3g} of its bound")
        return package

    def test_pointwise_chain(self):
        self.check("pointwise-chain", [self.normal(64, 96)],
                   lambda x: np.maximum((x + 1) * 2, 0) ** 2, F32)

    def test_matmul_bias_relu_dynamic(self):
        for rows in (1, 17, 40):
            self.check("matmul-bias-relu-dynamic",
                       [self.normal(rows, 48), self.normal(48, 40),
                        self.normal(40)],
                       lambda x, w, b: np.maximum(x @ w + b, 0), F32, 48)

    def test_softmax(self):
        self.check("softmax", [self.normal(64, 200, scale=4)], softmax, F32,
                   64)

    def test_layer_norm(self):
        self.check("layer-norm", [self.normal(48, 192), self.normal(192),
                                  self.normal(192)], layer_norm, F32, 32)

    def test_layer_norm_dynamic(self):
        for rows in (1, 5, 33):
            self.check("layer-norm-dynamic",
                       [self.normal(rows, 160), self.normal(160),
                        self.normal(160)], layer_norm, F32, 32)

    def test_transpose_bias_relu(self):
        self.check("transpose-bias-relu", [self.normal(80, 136),
                                           self.normal(80)],
                   lambda x, b: np.maximum(x.T + b, 0), F32)

    def test_swiglu(self):
        self.check("swiglu", [self.normal(48, 208), self.normal(48, 208)],
                   lambda g, u: g * sigmoid(g) * u, BF16)

    def test_rmsnorm_residual(self):
        def expected(x, r, g):
            # The sum is rounded to bf16 before the norm; half a unit of that
            # reaches the result.
            return x + r, rms_norm(x + r, g, 1e-5)
        self.check("rmsnorm-residual", [self.normal(48, 192),
                                        self.normal(48, 192),
                                        self.normal(192)], expected, BF16)

    def test_conv_bn_relu(self):
        def expected(x, w, mean, deviation, gamma, beta):
            normal = (conv3x3(x, w) - mean) / np.sqrt(deviation ** 2 + 1e-3)
            return np.maximum(normal * gamma + beta, 0)
        deviation = np.abs(self.normal(16)) + np.float32(0.5)
        self.check("conv-bn-relu",
                   [self.normal(2, 10, 12, 8), self.normal(3, 3, 8, 16),
                    self.normal(16), deviation, self.normal(16),
                    self.normal(16)], expected, F32, 256)

    def test_attention(self):
        def expected(q, k, v):
            return softmax(q @ k.swapaxes(-1, -2) / 4) @ v
        self.check("attention", [self.normal(4, 32, 16),
                                 self.normal(4, 40, 16),
                                 self.normal(4, 40, 16)], expected, F32, 128)

    def test_dequantized_matmul(self):
        weights = self.random.integers(-127, 128, (96, 80)).astype(np.int8)
        self.check("dequantized-matmul",
                   [self.normal(16, 96), weights, self.normal(80)],
                   lambda x, w, s: (x @ w.astype(np.float64)) * s, BF16)

    def test_rope(self):
        def expected(x, cos, sin):
            first, second = np.split(x, 2, axis=-1)
            return x * cos + np.concatenate((-second, first), -1) * sin
        self.check("rope", [self.normal(2, 4, 24, 32), self.normal(24, 32),
                            self.normal(24, 32)], expected, BF16)

    def test_shared_intermediate(self):
        self.check("shared-intermediate",
                   [self.normal(40, 120), self.normal(40, 120),
                    self.normal(120)],
                   lambda x, r, g: (x + r, gelu_tanh(x + r) * g), F32, 16)

    def test_cross_entropy(self):
        def expected(logits, labels):
            log_sum = np.log(np.exp(logits).sum(-1))
            return np.mean(log_sum - logits[np.arange(len(labels)), labels])
        labels = self.random.integers(0, 300, 24)
        self.check("cross-entropy", [self.normal(24, 300), labels], expected,
                   F32, 64)

    def test_resnet_block(self):
        def expected(x, w1, scale1, shift1, w2, scale2, shift2):
            hidden = np.maximum(conv3x3(x, w1) * scale1 + shift1, 0)
            return np.maximum(conv3x3(hidden, w2) * scale2 + shift2 + x, 0)
        def half(*shape, scale=1.0):
            return self.normal(*shape, scale=scale).astype(np.float16)
        self.check("resnet-block",
                   [half(1, 9, 11, 16), half(3, 3, 16, 16, scale=1 / 12),
                    self.normal(16), self.normal(16),
                    half(3, 3, 16, 16, scale=1 / 12), self.normal(16),
                    self.normal(16)], expected, F16, 8)

    def test_group_norm_silu(self):
        def expected(x, scale, bias):
            groups = x.reshape(2, 4, -1)
            unit = layer_norm(groups, 1, 0).reshape(x.shape)
            y = unit * scale[:, None, None] + bias[:, None, None]
            return y * sigmoid(y)
        self.check("group-norm-silu", [self.normal(2, 12, 10, 14),
                                       self.normal(12), self.normal(12)],
                   expected, BF16)

    def test_linear_recurrence(self):
        def expected(gate, b, c):
            a, h = sigmoid(gate), np.zeros_like(b[:, 0])
            states = []
            for t in range(b.shape[1]):
                h = a[:, t] * h + b[:, t]
                states.append(h)
            return np.stack(states, 1) * c
        self.check("linear-recurrence", [self.normal(2, 70, 48)
                                         for _ in range(3)], expected, F32,
                   128)

    def test_bias_gelu_dropout(self):
        x, b = self.normal(48, 200), self.normal(200)
        package = fusion.compile(
            (EXAMPLES / "bias-gelu-dropout.mlir").read_text(),
            target="sm_90a", device="emulator")
        y = package(x, b, 7)
        kept = y != 0
        self.assertLess(abs(kept.mean() - 0.9), 0.02)
        np.testing.assert_array_equal(package(x, b, 7), y)
        self.assertTrue((kept != (package(x, b, 8) != 0)).any())
        # What is kept does not depend on the values, and is gelu / 0.9.
        from math import erf
        total = x.astype(np.float64) + b
        gelu = total / 2 * (1 + np.vectorize(erf)(total / np.sqrt(2))) / 0.9
        error = np.abs(y - gelu)[kept] - 4 * BF16 * (np.abs(gelu[kept]) + 0.1)
        self.assertLessEqual(error.max(), 0)

    def test_transformer_block(self):
        def expected(x, cos, sin, scale1, qkv, out, scale2, gate, up, down):
            def rope(x):
                first, second = np.split(x, 2, axis=-1)
                return np.concatenate((first * cos - second * sin,
                                       second * cos + first * sin), -1)
            heads = rms_norm(x, scale1, 1e-6) @ qkv / np.sqrt(128)
            q, k, v = heads.reshape(32, 3, 4, 32).transpose(1, 2, 0, 3)
            scores = rope(q) @ rope(k).swapaxes(-1, -2) / np.sqrt(32)
            scores = np.where(np.tri(32, dtype=bool), scores, -np.inf)
            context = (softmax(scores) @ v).transpose(1, 0, 2).reshape(32, 128)
            h = x + context @ out / np.sqrt(128)
            normal = rms_norm(h, scale2, 1e-6) / np.sqrt(128)
            hidden = normal @ gate
            hidden = hidden * sigmoid(hidden) * (normal @ up)
            return h + hidden @ down / 16
        angles = np.arange(32)[:, None] * 10000.0 ** (-np.arange(16) / 16)
        ones = np.ones(128, np.float32)
        self.check("transformer-block",
                   [self.normal(32, 128), np.cos(angles).astype(np.float32),
                    np.sin(angles).astype(np.float32), ones,
                    self.normal(128, 384), self.normal(128, 128), ones,
                    self.normal(128, 256), self.normal(128, 256), self.normal(256, 128)],
                   expected, BF16, 8)


if __name__ == "__main__":
    unittest.main()
