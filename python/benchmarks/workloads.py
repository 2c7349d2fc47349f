# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The workloads of the benchmark, each with its PyTorch peer.

A workload is one file of workloads/ and, here, how its inputs are drawn and
what it computes as a PyTorch function. That one function is the peer that is
timed (eager, or through torch.compile) and, evaluated on float64 inputs, the
reference for the result. Arguments are in the order of the MLIR function.
"""

import dataclasses
import math
from typing import Callable, Optional

import torch
import torch.nn.functional as F

BF16, F16, F32 = torch.bfloat16, torch.float16, torch.float32


@dataclasses.dataclass(frozen=True)
class Workload:
    """One row of the table.

    `draw` returns fresh random inputs on the GPU; `peer` maps them to the
    result or a tuple of results; `reference` replaces "the peer in float64"
    where that would be meaningless or would not fit in memory; `compare`
    replaces the comparison of every element (random results). `flops` counts
    the multiply-adds of contractions as two. `length` is the number of terms
    of each sum, where the result has the precision that the sum is made in.
    """
    name: str
    draw: Callable
    peer: Callable
    flops: float = 0.0
    length: int = 1
    reference: Optional[Callable] = None
    compare: Optional[Callable] = None


def normal(*shape, dtype=F32, scale=1.0):
    values = torch.randn(shape, device="cuda", dtype=F32)
    return (values * scale if scale != 1.0 else values).to(dtype)


def wide(x):
    """f32, or f64 when the function computes the reference."""
    return x if x.dtype == torch.float64 else x.float()


def as_reference(peer):
    def run(*inputs):
        return peer(*(x.double() if x.is_floating_point() else x
                      for x in inputs))
    return run


def by_batch(peer):
    """The peer in float64, one item of the first axis at a time."""
    def run(q, k, v, *rest):
        parts = [peer(*(x[i:i + 1].double() for x in (q, k, v)),
                      *(x.double() for x in rest)) for i in range(len(q))]
        return torch.cat(parts)
    return run


def rope(x, cos, sin):
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


def draw_rope(batch, heads, length, width, dtype):
    rates = 10000.0 ** (-torch.arange(0, width, 2, device="cuda") / width)
    angles = torch.arange(length, device="cuda")[:, None] * rates
    angles = torch.cat((angles, angles), dim=-1)
    return (normal(batch, heads, length, width, dtype=dtype),
            angles.cos().to(dtype), angles.sin().to(dtype))


def layer_norm(x, gamma, beta):
    return F.layer_norm(x, x.shape[-1:], gamma, beta, 1e-5)


def residual_rmsnorm(x, r, g):
    h = x + r
    w = wide(h)
    scale = torch.rsqrt(w.square().mean(-1, keepdim=True) + 1e-6)
    return h, (w * scale * wide(g)).to(h.dtype)


def batchnorm_relu(x, gamma, beta):
    return F.relu(F.batch_norm(x, None, None, gamma, beta, True, 0.0, 1e-5))


def dequant_matmul(x, w, s):
    return (x @ w.to(x.dtype)) * s


def conv_bn_relu(x, w, mean, var, gamma, beta):
    # NHWC activations and HWCF weights, viewed as torch's NCHW and FCHW.
    y = F.conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), padding=1)
    y = F.batch_norm(y, mean, var, gamma, beta, False, 0.0, 1e-5)
    return F.relu(y).permute(0, 2, 3, 1)


def draw_conv(batch, size, channels):
    def channel():
        return normal(channels)
    return (normal(batch, size, size, channels, dtype=F16),
            # Stored so that torch's view of it is channels-last too.
            normal(channels, 3, 3, channels, dtype=F16,
                   scale=1 / math.sqrt(9 * channels)
                   ).permute(1, 2, 3, 0).contiguous(),
            channel(), channel().abs() + 0.5, channel(), channel())


def attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def attention_causal(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def attention_alibi(q, k, v, slopes):
    scores = wide(q @ k.transpose(-1, -2)) / math.sqrt(q.shape[-1])
    position = torch.arange(q.shape[-2], device=q.device)
    distance = (position[:, None] - position[None, :]).abs()
    scores = scores - slopes[:, None, None] * distance
    return torch.softmax(scores, dim=-1).to(q.dtype) @ v


def draw_attention(batch, heads, length, width):
    return tuple(normal(batch, heads, length, width, dtype=BF16)
                 for _ in range(3))


def cross_entropy(logits, labels):
    return F.cross_entropy(wide(logits), labels)


def recurrence_by_cumsum(a, b, c):
    # What a PyTorch user writes: h = exp(A) * cumsum(b * exp(-A)).
    log = torch.cumsum(torch.log(a), dim=1)
    return torch.exp(log) * torch.cumsum(b * torch.exp(-log), dim=1) * c


def recurrence_reference(a, b, c):
    h = torch.zeros_like(a[:, 0], dtype=torch.float64)
    y = torch.empty_like(a, dtype=torch.float64)
    for t in range(a.shape[1]):
        h = a[:, t].double() * h + b[:, t].double()
        y[:, t] = h * c[:, t].double()
    return y


def bias_gelu_dropout(x, b):
    return F.dropout(F.gelu(x + b), 0.1, training=True)


def compare_dropout(inputs, outputs, _eager):
    """Kept elements must be gelu / 0.9, and 90 % of them must be kept."""
    x, b = inputs
    out = outputs[0].double()
    expected = F.gelu(x.double() + b.double()) / 0.9
    kept = out != 0
    # Two roundings to bf16 (8 bits) before the scaling and one after it.
    error = ((out - expected).abs() - expected.abs() * 3 * 2.0 ** -8
             - 2.0 ** -8)[kept].max().item()
    share = kept.double().mean().item()
    deviation = 6 * math.sqrt(0.1 * 0.9 / out.numel()) + 1e-3
    rows = kept.double().mean(dim=1)
    spread = 8 * math.sqrt(0.1 * 0.9 / out.shape[1])
    fine = (error <= 0 and abs(share - 0.9) <= deviation
            and (rows - 0.9).abs().max().item() <= spread)
    return fine, f"kept {share:.5f} of the elements"


def gelus(*tensors):
    return tuple(F.gelu(x) for x in tensors)


def matmul_flops(m, n, k):
    return 2.0 * m * n * k


def _weights(k, n, dtype=BF16):
    return normal(k, n, dtype=dtype, scale=1 / math.sqrt(k))


def _f32_map(function):
    return dict(draw=lambda: (normal(8192, 8192),), peer=function)


ALL = [
    Workload("add_mul_100m_f32",
             draw=lambda: tuple(normal(100_000_000) for _ in range(3)),
             peer=lambda x, y, z: (x + y) * z),
    Workload("sigmoid_tanh_8192x8192_f32",
             **_f32_map(lambda x: torch.sigmoid(x) * torch.tanh(x + 1))),
    Workload("chain_add_mul_relu_sq_8192x8192_f32",
             **_f32_map(lambda x: torch.relu((x + 1) * 2) ** 2)),
    Workload("bias_gelu_8192x8192_bf16",
             draw=lambda: (normal(8192, 8192, dtype=BF16),
                           normal(8192, dtype=BF16)),
             peer=lambda x, b: F.gelu(x + b)),
    Workload("swiglu_8192x14336_bf16",
             draw=lambda: tuple(normal(8192, 14336, dtype=BF16)
                                for _ in range(2)),
             peer=lambda g, u: F.silu(g) * u),
    Workload("bias_gelu_dropout_8192x8192_bf16",
             draw=lambda: (normal(8192, 8192, dtype=BF16),
                           normal(8192, dtype=BF16)),
             peer=bias_gelu_dropout, compare=compare_dropout),
    Workload("rope_4x32x4096x128_bf16",
             draw=lambda: draw_rope(4, 32, 4096, 128, BF16), peer=rope),
    Workload("transpose_bias_relu_8192x8192_f32",
             draw=lambda: (normal(8192, 8192), normal(8192)),
             peer=lambda x, b: torch.relu(x.t() + b).contiguous()),
    Workload("layernorm_4096x1024_f32",
             draw=lambda: (normal(4096, 1024), normal(1024), normal(1024)),
             peer=layer_norm),
    Workload("layernorm_16384x8192_bf16",
             draw=lambda: (normal(16384, 8192, dtype=BF16),
                           normal(8192, dtype=BF16), normal(8192, dtype=BF16)),
             peer=layer_norm),
    Workload("residual_rmsnorm_16384x4096_bf16",
             draw=lambda: (normal(16384, 4096, dtype=BF16),
                           normal(16384, 4096, dtype=BF16),
                           normal(4096, dtype=BF16)),
             peer=residual_rmsnorm),
    Workload("softmax_1024x512_f32",
             draw=lambda: (normal(1024, 512),),
             peer=lambda x: torch.softmax(x, dim=-1)),
    Workload("softmax_16384x8192_bf16",
             draw=lambda: (normal(16384, 8192, dtype=BF16),),
             peer=lambda x: torch.softmax(x, dim=-1)),
    Workload("cross_entropy_8192x128256_bf16",
             draw=lambda: (normal(8192, 128256, dtype=BF16),
                           torch.randint(0, 128256, (8192,), device="cuda")),
             peer=cross_entropy),
    Workload("colsum_bias_grad_16384x8192_bf16",
             draw=lambda: (normal(16384, 8192, dtype=BF16),),
             peer=lambda x: wide(x).sum(dim=0)),
    Workload("batchnorm_train_relu_64x256x56x56_f32",
             draw=lambda: (normal(64, 256, 56, 56), normal(256), normal(256)),
             peer=batchnorm_relu),
    Workload("groupnorm_silu_16x320x64x64_bf16",
             draw=lambda: (normal(16, 320, 64, 64, dtype=BF16),
                           normal(320, dtype=BF16), normal(320, dtype=BF16)),
             peer=lambda x, g, b: F.silu(F.group_norm(x, 32, g, b, 1e-5))),
    Workload("matmul_bias_relu_128x784x256_f32",
             draw=lambda: (normal(128, 784), _weights(784, 256, F32),
                           normal(256)),
             peer=lambda a, b, c: torch.relu(a @ b + c),
             flops=matmul_flops(128, 256, 784), length=784),
    Workload("matmul_bias_gelu_8192_bf16",
             draw=lambda: (normal(8192, 8192, dtype=BF16),
                           _weights(8192, 8192), normal(8192, dtype=BF16)),
             peer=lambda a, b, c: F.gelu(a @ b + c, approximate="tanh"),
             flops=matmul_flops(8192, 8192, 8192)),
    Workload("matmul_bias_gelu_residual_4096x14336x4096_bf16",
             draw=lambda: (normal(4096, 14336, dtype=BF16),
                           _weights(14336, 4096), normal(4096, dtype=BF16),
                           normal(4096, 4096, dtype=BF16)),
             peer=lambda a, b, c, d:
                 F.gelu(a @ b + c, approximate="tanh") + d,
             flops=matmul_flops(4096, 4096, 14336)),
    Workload("mlp_swiglu_gate_up_4096x4096x14336_bf16",
             draw=lambda: (normal(4096, 4096, dtype=BF16),
                           _weights(4096, 14336), _weights(4096, 14336)),
             peer=lambda x, v, w: F.silu(x @ v) * (x @ w),
             flops=2 * matmul_flops(4096, 14336, 4096)),
    Workload("dequant_int8_matmul_16x8192x8192_bf16",
             draw=lambda: (normal(16, 8192, dtype=BF16),
                           torch.randint(-127, 128, (8192, 8192),
                                         device="cuda", dtype=torch.int8),
                           normal(8192, dtype=BF16, scale=1 / 8192)),
             peer=dequant_matmul, flops=matmul_flops(16, 8192, 8192)),
    Workload("conv_bn_relu_resnet_64x256x56x56_f16",
             draw=lambda: draw_conv(64, 56, 64), peer=conv_bn_relu,
             flops=matmul_flops(64 * 56 * 56, 64, 9 * 64)),
    Workload("conv_bn_relu_256x28x28_f16",
             draw=lambda: draw_conv(128, 28, 256), peer=conv_bn_relu,
             flops=matmul_flops(128 * 28 * 28, 256, 9 * 256)),
    Workload("attention_4x32x4096x128_bf16",
             draw=lambda: draw_attention(4, 32, 4096, 128), peer=attention,
             reference=by_batch(attention),
             flops=4.0 * 4 * 32 * 4096 * 4096 * 128),
    Workload("attention_causal_4x32x4096x128_bf16",
             draw=lambda: draw_attention(4, 32, 4096, 128),
             peer=attention_causal, reference=by_batch(attention_causal),
             flops=2.0 * 4 * 32 * 4096 * 4096 * 128),
    Workload("attention_alibi_explicit_2x16x2048x64_bf16",
             draw=lambda: (*draw_attention(2, 16, 2048, 64),
                           2.0 ** (-8 * torch.arange(1, 17, device="cuda")
                                   / 16)),
             peer=attention_alibi, reference=by_batch(attention_alibi),
             flops=4.0 * 2 * 16 * 2048 * 2048 * 64),
    Workload("attn_out_residual_layernorm_8192x4096_bf16",
             draw=lambda: (normal(8192, 4096, dtype=BF16),
                           _weights(4096, 4096),
                           normal(8192, 4096, dtype=BF16),
                           normal(4096, dtype=BF16), normal(4096, dtype=BF16)),
             peer=lambda a, w, r, g, b: layer_norm(a @ w + r, g, b),
             flops=matmul_flops(8192, 4096, 4096)),
    Workload("linear_recurrence_8x4096x2048_f32",
             draw=lambda: (torch.exp(-0.02 * torch.rand(
                               8, 4096, 2048, device="cuda")),
                           normal(8, 4096, 2048), normal(8, 4096, 2048)),
             peer=recurrence_by_cumsum, reference=recurrence_reference),
    Workload("horizontal_64_small_gelu_bf16",
             draw=lambda: tuple(normal(64, 1024, dtype=BF16)
                                for _ in range(64)),
             peer=gelus),
]
