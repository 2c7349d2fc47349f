# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`torch.ops.fusion`: operations of the compiler's own, as PyTorch's.

They stand in graphs for what ATen has no pure form of. A part that is compiled
takes `dropout` as the compiler's operation (importing/calls.py) and attention
apart (importing/decompositions.py); what is defined here are their schemas, and
the same numbers by PyTorch's operations, for where they are left to it.
"""

import torch

from fusion_compiler.importing import decompositions, philox

_LIBRARY = torch.library.Library("fusion", "FRAGMENT")
_LIBRARY.define("seeds(int count, Device device) -> Tensor",
                tags=(torch.Tag.nondeterministic_seeded,))
_LIBRARY.define("dropout(Tensor input, Tensor seed, float probability)"
                " -> Tensor")
_LIBRARY.define("random_bits(Tensor like, Tensor seed) -> Tensor")
_LIBRARY.define(
    "attention(Tensor query, Tensor key, Tensor value, Tensor? bias,"
    " Tensor? seed, float dropout_p, bool is_causal, float? scale)"
    " -> (Tensor, Tensor)")
_LIBRARY.define(
    "attention_backward(Tensor grad_out, Tensor query, Tensor key,"
    " Tensor value, Tensor out, Tensor logsumexp, Tensor? bias, Tensor? seed,"
    " float dropout_p, bool is_causal, float? scale, bool with_bias)"
    " -> (Tensor, Tensor, Tensor, Tensor)")


def _draw_seeds(count, device):
    """`count` rows of i64. The first of each is a seed: so they lie 16 bytes
    apart, as kernels want their arguments."""
    return torch.randint(-1 << 63, (1 << 63) - 1, (count, 2),
                         dtype=torch.int64, device=device)


def _fake_seeds(count, device):
    return torch.empty((count, 2), dtype=torch.int64, device=device)


def kept(shape, seed, probability):
    """What `fusion.dropout` keeps of a tensor: bools of `shape`. The bits are
    those that kernels draw (docs/Rationale/Random.md)."""
    count = torch.Size(shape).numel()
    words = philox.draw(torch.arange((count + 7) // 8, device=seed.device),
                        seed)
    bits = []
    for even, word in enumerate(words):
        following = words[(even + 1) % 4]
        bits += [word >> 8, (word << 8 | following >> 24) & 0xFFFFFF]
    drawn = torch.stack(bits, 1).view(-1)[:count].view(shape)
    threshold = probability * (1 << 24)
    return drawn >= threshold


def _dropout(tensor, seed, probability):
    """Dropout by PyTorch's own operations, for where it is left to them."""
    mask = kept(tensor.shape, seed, probability)
    wide = tensor.float() if tensor.dtype.itemsize < 4 else tensor
    scaled = wide * (1 / (1 - probability)) if probability < 1 else wide
    result = torch.empty_like(tensor)
    return result.copy_(torch.where(mask, scaled, 0))


def _fake_dropout(tensor, seed, probability):
    return torch.empty_like(tensor)


def _random_bits(like, seed):
    """32 random bits for each element of `like`, as i32."""
    counter = torch.arange((like.numel() + 3) // 4, device=seed.device)
    words = torch.stack(philox.draw(counter, seed), 1).view(-1)
    words = words[:like.numel()].view(like.shape)
    signed = words - (words >> 31 << 32)
    return torch.empty_like(like, dtype=torch.int32).copy_(signed)


def _fake_random_bits(like, seed):
    return torch.empty_like(like, dtype=torch.int32)


def _fake_attention(query, key, value, *_):
    shape = (*query.shape[:3], value.shape[3])
    return (query.new_empty(shape),
            query.new_empty(query.shape[:3], dtype=torch.float32))


def _fake_attention_backward(grad_out, query, key, value, out, logsumexp, bias,
                             seed, dropout_p, is_causal, scale, with_bias):
    grads = [one.new_empty(one.shape) for one in (query, key, value)]
    return (*grads, bias.new_empty(bias.shape) if with_bias
            else query.new_empty(0))


def _contiguous(function):
    def run(*arguments):
        return tuple(one.contiguous() for one in function(*arguments))
    return run


_LIBRARY.impl("seeds", _draw_seeds, "BackendSelect")
_LIBRARY.impl("dropout", _dropout, "CompositeExplicitAutograd")
_LIBRARY.impl("random_bits", _random_bits, "CompositeExplicitAutograd")
for _name, _function in decompositions.OWN.items():
    _LIBRARY.impl(_name, _contiguous(_function), "CompositeExplicitAutograd")
for _name, _function in (("seeds", _fake_seeds), ("dropout", _fake_dropout),
                         ("random_bits", _fake_random_bits),
                         ("attention", _fake_attention),
                         ("attention_backward", _fake_attention_backward)):
    torch.library.register_fake(f"fusion::{_name}", _function, lib=_LIBRARY)


def _keep_attention(ctx, inputs, output):
    query, key, value, bias, seed, *how = inputs
    ctx.save_for_backward(query, key, value, *output, bias, seed)
    ctx.how = how


def _attention_gradients(ctx, grad, _):
    """The gradients of attention's first result; the other has none."""
    *operands, bias, seed = ctx.saved_tensors
    with_bias = ctx.needs_input_grad[3]
    *grads, grad_bias = torch.ops.fusion.attention_backward(
        grad, *operands, bias, seed, *ctx.how, with_bias)
    return *grads, grad_bias if with_bias else None, *[None] * 4


torch.library.register_autograd(
    "fusion::attention", _attention_gradients, setup_context=_keep_attention,
    lib=_LIBRARY)
