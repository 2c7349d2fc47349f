# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random operations as functions of seeds.

`torch.ops.fusion.seeds` draws the seeds of a graph, one for each operation that
is random, from PyTorch's generator: what `torch.manual_seed` sets, anew in each
call. `torch.ops.fusion.dropout` and `random_bits` depend on nothing but their
arguments. So a backward pass drops what the forward pass dropped by its seed,
and no mask is kept; nor is there anything to restore where a forward pass is
run again.
"""

import functools
import math

import torch

from fusion_compiler.torch.rewriter import arguments

aten = torch.ops.aten
fusion = torch.ops.fusion


# --- Dropout -----------------------------------------------------------------

def _is_inverse(scale, probability):
    """Whether a factor is that of what dropout keeps."""
    if probability == 1:
        return scale == 0
    return (isinstance(scale, (int, float))
            and math.isclose(scale * (1 - probability), 1, rel_tol=1e-9))


def _replace_mask(rewriter, mask, tensor, seed, probability):
    """Gradients are dropout by the same seed; whoever else wants the mask of
    a dropout gets it."""
    for user in list(mask.users):
        if (user.target is aten.native_dropout_backward.default
                and user.args[1] is mask
                and _is_inverse(user.args[2], probability)):
            user.replace_all_uses_with(rewriter.add(
                fusion.dropout.default, (user.args[0], seed, probability),
                user))
            rewriter.graph.erase_node(user)
    if mask.users:
        mask.replace_all_uses_with(
            rewriter.kept(tensor, seed, probability, mask))


def _replace_dropout(rewriter, node):
    tensor, probability, train = node.args
    if train is False or not tensor.meta["val"].is_floating_point():
        return
    seed = rewriter.seed(node)
    for item in list(node.users):
        if item.args[1] == 0:
            item.replace_all_uses_with(rewriter.add(
                fusion.dropout.default, (tensor, seed, probability), item))
        else:
            _replace_mask(rewriter, item, tensor, seed, probability)
        rewriter.graph.erase_node(item)
    rewriter.graph.erase_node(node)


def _replace_bernoulli(rewriter, node):
    tensor, probability = node.args
    value = node.meta["val"]
    if node.kwargs.get("generator") or not value.is_floating_point():
        return
    kept = rewriter.kept(tensor, rewriter.seed(node), 1 - probability, node)
    node.replace_all_uses_with(rewriter.add(
        torch.ops.prims.convert_element_type.default, (kept, value.dtype),
        node))
    rewriter.graph.erase_node(node)


# --- Numbers -----------------------------------------------------------------

# Bits of a random number in [0, 1) that each type holds, as PyTorch has them.
# Numbers of f64 have more than a word's: PyTorch draws these.
_DIGITS = {torch.float32: 24, torch.float16: 11, torch.bfloat16: 8}


def _uniform(bits, dtype, given):
    """Numbers of a type in [0, 1), of as many digits as it holds."""
    digits = _DIGITS[dtype]
    return ((bits & (1 << digits) - 1).float() * 2.0 ** -digits).to(dtype)


def _uniform_between(bits, dtype, given):
    low, high = given["from"], given["to"]
    result = (_uniform(bits, torch.float32, given) * (high - low) + low)
    result = result.to(dtype)
    return torch.where(result >= high, low, result)  # Where it was rounded up.


def _inside(bits):
    """f32 in (0, 1). Near 0, where a logarithm is steep, it tells all 31 bits
    apart; near 1 they would be rounded to it."""
    inside = ((bits & 0x7FFFFFFF).float() + 0.5) * 2.0 ** -31
    return inside.clamp(max=1 - 2.0 ** -24)


def _normal(bits, other, dtype, given):
    """By Box and Muller 1958, of two words each; the greatest are 6.7."""
    radius = (-2 * _inside(bits).log()).sqrt()
    angle = other.float() * (math.pi * 2.0 ** -31)
    result = radius * angle.cos()
    return (result * given.get("std", 1) + given.get("mean", 0)).to(dtype)


def _exponential(bits, dtype, given):
    return (-_inside(bits).log() / given["lambd"]).to(dtype)


def _integers(bits, dtype, given):
    """In [low, high), each with a chance within 2^-32 of the others'."""
    low = given.get("low", 0)
    words = bits.to(torch.int64) & 0xFFFFFFFF
    return ((words * (given["high"] - low) >> 32) + low).to(dtype)


def _replace_numbers(words, function, dtypes, rewriter, node):
    """Random numbers of the sizes of an argument, or of sizes, as a function
    of `words` random words for each."""
    given, value = arguments(node), node.meta["val"]
    if value.dtype not in dtypes or given.get("generator") is not None:
        return
    if given.get("memory_format") not in (None, torch.preserve_format):
        return
    like = given.get("self")
    if like is None:
        like = rewriter.add(aten.empty.memory_format, (given["size"],), node,
                            dtype=torch.int32, device=value.device)
    words = [rewriter.add(fusion.random_bits.default,
                          (like, rewriter.seed(node)), node)
             for _ in range(words)]
    node.replace_all_uses_with(rewriter.trace(functools.partial(
        function, dtype=value.dtype, given=given), words, node))
    rewriter.graph.erase_node(node)


def _replace_integers(rewriter, node):
    given = arguments(node)
    bounds = given.get("low", 0), given["high"]
    if (all(isinstance(one, int) for one in bounds)
            and bounds[1] - bounds[0] < 1 << 31):
        _replace_numbers(1, _integers, (torch.int64, torch.int32, *_DIGITS),
                         rewriter, node)


def _numbers(words, function):
    return functools.partial(_replace_numbers, words, function, _DIGITS)


FORMS = {
    aten.native_dropout.default: _replace_dropout,
    aten.bernoulli.p: _replace_bernoulli,
    aten.rand.default: _numbers(1, _uniform),
    aten.rand_like.default: _numbers(1, _uniform),
    aten.uniform.default: _numbers(1, _uniform_between),
    aten.randn.default: _numbers(2, _normal),
    aten.randn_like.default: _numbers(2, _normal),
    aten.normal_functional.default: _numbers(2, _normal),
    aten.exponential.default: _numbers(1, _exponential),
    aten.randint.default: _replace_integers,
    aten.randint.low: _replace_integers,
    aten.randint_like.default: _replace_integers,
    aten.randint_like.low_dtype: _replace_integers,
}
