# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's operations of attention, one for each of its kernels, as one:
`torch.ops.fusion.attention`.

Theirs hand to their gradients what only they need, and some of it is no tensor
that kernels take. Where PyTorch has no kernel, as for heads that share keys
under a mask, it writes attention out in f32, with all weights in memory. Where
it has one, it makes numbers of masks of bools, for some kernels finite ones:
what they hide would have to be read.
"""

import operator

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true
from torch.utils._python_dispatch import TorchDispatchMode

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


class _Kernels(TorchDispatchMode):
    """Whether PyTorch runs a kernel of its own for attention."""
    found = False

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.found |= function in _ATTENTION
        return function(*args, **(kwargs or {}))


def _same(tensor):
    return tensor


def _own(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False,
         scale=None, enable_gqa=False):
    """The arguments of `fusion.attention` for those of PyTorch's function,
    without dropout."""
    return query, key, value, attn_mask, None, 0.0, is_causal, scale


def _is_taken(node, query, key, value, attn_mask=None, dropout_p=0.0,
              is_causal=False, scale=None, enable_gqa=False):
    """Whether PyTorch has no kernel for a call of attention that
    `fusion.attention` can be, or would make numbers of its mask; the arguments
    are stand-ins."""
    own = (query.dtype, query.device, query.shape[0])
    if (dropout_p or any(
            one.dim() != 4 or (one.dtype, one.device) != own[:2]
            or not statically_known_true(one.shape[0] == own[2])
            for one in (query, key, value))
            or query.dtype not in (torch.float16, torch.bfloat16,
                                   torch.float32)
            # Autocast would make it another type.
            or node.meta["example_value"].dtype != query.dtype
            or not (enable_gqa or statically_known_true(
                query.shape[1] == key.shape[1]))
            or not statically_known_true(key.shape[1] == value.shape[1])):
        return False
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        return True
    kernels = _Kernels()
    # Hooks of the program are not for stand-ins.
    hooks = torch.autograd.graph.saved_tensors_hooks(_same, _same)
    with hooks, query.fake_mode, kernels:
        node.target(query, key, value, attn_mask, dropout_p, is_causal,
                    scale=scale, enable_gqa=enable_gqa)
    return not kernels.found


def _may_have_kernels():
    """Whether a program has not asked for attention that is written out."""
    backends = torch.backends.cuda
    return backends.flash_sdp_enabled() or backends.mem_efficient_sdp_enabled()


def take(module):
    """Makes `fusion.attention` of what PyTorch would write out, or would lose
    the mask of, in a graph of Dynamo."""
    for node in module.graph.find_nodes(
            op="call_function",
            target=torch._C._nn.scaled_dot_product_attention):
        known = all("example_value" in one.meta
                    for one in (node, *node.all_input_nodes))
        if not known or not _may_have_kernels():
            continue
        args, kwargs = torch.fx.node.map_arg(
            (node.args, dict(node.kwargs)),
            lambda one: one.meta["example_value"])
        if _is_taken(node, *args, **kwargs):
            _take(module.graph, node)
            module.recompile()


def _take(graph, node):
    with graph.inserting_before(node):
        both = graph.call_function(fusion.attention.default,
                                   _own(*node.args, **node.kwargs))
        result = graph.call_function(operator.getitem, (both, 0))
    both.meta, result.meta = ({**node.meta} for _ in range(2))
    both.meta.pop("example_value")
    node.replace_all_uses_with(result)
    graph.erase_node(node)


def _replace_composite(rewriter, node):
    """Attention as torch.export keeps it, before a kernel is chosen."""
    given = arguments(node)
    operands = [given[name] for name in ("query", "key", "value")]
    ranks = [one.meta["val"].dim() for one in operands]
    batches = [one.meta["val"].shape[:max(rank - 3, 0)]
               for one, rank in zip(operands, ranks)]
    if given["dropout_p"] or len(set(ranks)) > 1 or ranks[0] > 4 or not all(
            statically_known_true(one == batches[0][0])
            for batch in batches for one in batch):
        return
    missing = range(4 - ranks[0])
    for _ in missing:
        operands = [rewriter.add(aten.unsqueeze.default, (one, 0), node)
                    for one in operands]
    given.update(zip(("query", "key", "value"), operands))
    both = rewriter.add(fusion.attention.default, _own(**given), node)
    result = rewriter.add(operator.getitem, (both, 0), node)
    for _ in missing:
        result = rewriter.add(aten.squeeze.dim, (result, 0), node)
    node.replace_all_uses_with(result)
    rewriter.graph.erase_node(node)


FORMS = {**dict.fromkeys(_ATTENTION, _replace_attention),
         aten.scaled_dot_product_attention.default: _replace_composite}
