# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of ATen in the forms that kernels take: `replace`.

Random ones become functions of seeds. `torch.ops.fusion.seeds` draws the seeds
of a graph, one for each operation that is random, from PyTorch's generator:
what `torch.manual_seed` sets, anew in each call. `torch.ops.fusion.dropout`
depends on nothing but its arguments. So a backward pass drops what the forward
pass dropped by its seed, and no mask is kept; nor is there anything to restore
where a forward pass is run again.

PyTorch has an operation of attention for each of its kernels, which hand to
their gradients what only they need; here it is one, `torch.ops.fusion.attention`.

All this is done before forward and backward pass are told apart.
"""

import math
import operator

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx.experimental.symbolic_shapes import statically_known_true

from fusion_compiler.importing import operations  # noqa: F401
from fusion_compiler.torch import layout

aten = torch.ops.aten
fusion = torch.ops.fusion


def replace(graph):
    """Rewrites a graph of forward and backward pass, or of neither. Seeds are
    drawn as it begins. What has no form here is left as it is."""
    rewriter = _Rewriter(graph)
    for node in list(graph.nodes):
        form = _FORMS.get(node.target)
        if form is not None:
            form(rewriter, node)
    rewriter.draw()


class _Rewriter:
    """Adds nodes to a graph. `seeds`: {device: the nodes of its seeds}."""

    def __init__(self, graph):
        self.graph, self.seeds = graph, {}
        first = next(n for n in graph.nodes if n.op != "placeholder")
        with graph.inserting_before(first):
            self.begin = graph.placeholder("begin")  # Until `draw`.
        self.mode = next((
            value.fake_mode for node in graph.nodes
            for value in [node.meta.get("val")]
            if isinstance(value, FakeTensor)), None)

    def _add(self, target, args, before, **options):
        with self.graph.inserting_before(before):
            node = self.graph.call_function(target, args, options)
        with self.mode:
            node.meta["val"] = target(*torch.fx.node.map_arg(
                args, lambda one: one.meta["val"]), **options)
        return node

    def add(self, target, args, node, **options):
        """A node before `node`, which it is a part of."""
        new = self._add(target, args, node, **options)
        new.meta = {**node.meta, "val": new.meta["val"]}
        new.meta.pop("tensor_meta", None)
        return new

    def seed(self, node):
        """A place for a seed that no other node has, on the device of `node`;
        `draw` fills it."""
        value = node.meta["val"]
        value = value[0] if isinstance(value, (tuple, list)) else value
        seeds = self.seeds.setdefault(value.device, [])
        with self.graph.inserting_before(self.begin):
            seeds.append(self.graph.placeholder("seed"))
        with self.mode:
            seeds[-1].meta["val"] = torch.empty((), dtype=torch.int64,
                                                device=value.device)
        return seeds[-1]

    def draw(self):
        """Draws all seeds of each device at once."""
        for device, seeds in self.seeds.items():
            rows = self._add(fusion.seeds.default, (len(seeds), device),
                             self.begin)
            column = self._add(aten.select.int, (rows, 1, 0), self.begin)
            drawn = self._add(aten.unbind.int, (column,), self.begin)
            for number, seed in enumerate(seeds):
                seed.replace_all_uses_with(self._add(
                    operator.getitem, (drawn, number), self.begin))
                self.graph.erase_node(seed)
        self.graph.erase_node(self.begin)

    def kept(self, tensor, seed, probability, node):
        """Bools of a tensor's shape: what dropout keeps of it."""
        ones = self.add(aten.full_like.default, (tensor, 1), node)
        ones = self.add(fusion.dropout.default, (ones, seed, probability),
                        node)
        return self.add(aten.ne.Scalar, (ones, 0), node)

    def replace_results(self, node, new):
        """What used the first tensors of `node` uses those of `new`, laid out
        in memory as they were; nothing uses the others."""
        for item in list(node.users):
            if item.users:
                result = self.add(operator.getitem, (new, item.args[1]), item)
                item.replace_all_uses_with(self._laid_out(result, item))
            self.graph.erase_node(item)
        self.graph.erase_node(node)

    def _laid_out(self, tensor, like):
        """A row-major tensor with the strides of the tensor of `like`."""
        one = layout.of(like.meta["val"])
        if one.plain or one.copied or one.repeated:
            return tensor
        inverse = [one.order.index(dim) for dim in range(len(one.order))]
        tensor = self.add(aten.permute.default, (tensor, one.order), like)
        tensor = self.add(aten.clone.default, (tensor,), like,
                          memory_format=torch.contiguous_format)
        return self.add(aten.permute.default, (tensor, inverse), like)


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


def _arguments(node):
    """{name: value} of an operation's arguments, defaults among them."""
    schema = node.target._schema.arguments
    return {**{one.name: one.default_value for one in schema
               if one.has_default_value()},
            **dict(zip((one.name for one in schema), node.args)),
            **node.kwargs}


def _gradients(node):
    """The gradients of attention in the graph; None where more is read of its
    results than `fusion.attention` has."""
    values, found = node.meta["val"], {}
    rows = _arguments(node)["query"].meta["val"].shape[:3]
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
    given, gradients = _arguments(node), _gradients(node)
    if gradients is None:
        return
    bias = given.get("attn_bias", given.get("attn_mask"))
    operands = [given[name] for name in ("query", "key", "value")]
    how = (bias, rewriter.seed(node) if given["dropout_p"] else None,
           given["dropout_p"], given["is_causal"], given["scale"])
    both = rewriter.add(fusion.attention.default, (*operands, *how), node)
    result, logsumexp = (rewriter.add(operator.getitem, (both, number), node)
                         for number in range(2))
    for one in gradients:
        with_bias = (bias is not None
                     and _arguments(one).get("grad_input_mask", [False])[-1])
        rewriter.replace_results(one, rewriter.add(
            fusion.attention_backward.default,
            (one.args[0], *operands, result, logsumexp, *how, with_bias), one))
    rewriter.replace_results(node, both)


_ATTENTION = {
    getattr(aten, f"_scaled_dot_product_{kind}").default:
    getattr(aten, f"_scaled_dot_product_{kind}_backward").default
    for kind in ("flash_attention", "flash_attention_for_cpu",
                 "efficient_attention", "cudnn_attention")}

_FORMS = {
    aten.native_dropout.default: _replace_dropout,
    aten.bernoulli.p: _replace_bernoulli,
    **dict.fromkeys(_ATTENTION, _replace_attention),
}
