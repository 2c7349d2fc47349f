# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's operations of attention, one for each of its kernels, as one:
`torch.ops.fusion.attention`.

Theirs hand to their gradients what only they need, and some of it is no tensor
that kernels take.
"""

import operator

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true

from fusion_compiler.torch.rewriter import arguments

aten = torch.ops.aten
fusion = torch.ops.fusion


def _gradients(node):
    """The gradients of attention in the graph; None where more is read of its
    results than `fusion.attention` has."""
    values, found = node.meta["val"], {}
    rows = arguments(node)["query"].meta["val"].shape[:3]
    padded = values[1].dim() != 3 or not all(map(
        statically_known_true, map(operator.eq, values[1].shape, rows)))
    for item in node.users:
        own = [user for user in item.users
               if user.target is _ATTENTION[node.target]]
        if len(own) < len(item.users) and item.args[1] >= 2 - padded:
            return None
        found.update(dict.fromkeys(own))
    return list(found)


def _replace_attention(rewriter, node):
    """Attention, and its gradients."""
    given, gradients = arguments(node), _gradients(node)
    if gradients is None:
        return
    bias = given.get("attn_bias", given.get("attn_mask"))
    operands = [given[name] for name in ("query", "key", "value")]
    how = (bias, rewriter.seed(node) if given["dropout_p"] else None,
           given["dropout_p"], given["is_causal"], given["scale"])
    both = rewriter.add(fusion.attention.default, (*operands, *how), node)
    # What follows and the gradients read one tensor: else two would be kept.
    result = rewriter.result(node, both, 0)
    logsumexp = rewriter.add(operator.getitem, (both, 1), node)
    for one in gradients:
        with_bias = (bias is not None
                     and arguments(one).get("grad_input_mask", [False])[-1])
        rewriter.replace_results(one, rewriter.add(
            fusion.attention_backward.default,
            (one.args[0], *operands, result, logsumexp, *how, with_bias), one))
    rewriter.replace_results(node, both, {0: result})


_ATTENTION = {
    getattr(aten, f"_scaled_dot_product_{kind}").default:
    getattr(aten, f"_scaled_dot_product_{kind}_backward").default
    for kind in ("flash_attention", "flash_attention_for_cpu",
                 "efficient_attention", "cudnn_attention")}

FORMS = dict.fromkeys(_ATTENTION, _replace_attention)
