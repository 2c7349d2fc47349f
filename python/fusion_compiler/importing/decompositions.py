# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which ATen operations are written in terms of others, and when.

`early()` is what AOTAutograd traces with: PyTorch's core decompositions and
what torch-mlir wants besides. `late()` is for a part that is imported, after
forward and backward pass were told apart: were attention taken apart before,
the matrix of scores would look worth keeping for the backward pass.

Attention (Vaswani et al. 2017, "Attention Is All You Need") with the
logarithm of its sums, l = log sum_j exp(s_ij), as FlashAttention keeps it (Dao
et al. 2022, equations of section 3 and appendix B.2):

    s = scale q k^T + bias,  o = exp(s - l) v
    p = exp(s - l),  ds = p (do v^T - rowsum(do o))
    dq = scale ds k,  dk = scale ds^T q,  dv = p^T do

Products are of the inputs' type, summed in f32; p and ds are rounded to it.
"""

import functools
import math

import torch

from fusion_compiler.importing import corrections
from fusion_compiler.importing.corrections import NotDecomposed
from fusion_compiler.importing.corrections import wide as _wide

aten = torch.ops.aten


# --- Attention ---------------------------------------------------------------

def _repeat_heads(tensor, heads):
    """Keys or values for as many heads as the queries have."""
    if tensor.shape[1] == heads:
        return tensor
    batch, own, length, width = tensor.shape
    shape = (batch, own, heads // own, length, width)
    return tensor[:, :, None].expand(shape).reshape(batch, heads, length,
                                                    width)


def _sum_heads(tensor, own):
    """The gradient of `_repeat_heads`."""
    batch, heads, length, width = tensor.shape
    if heads == own:
        return tensor
    return tensor.reshape(batch, own, heads // own, length, width).sum(2)


def _scores(query, key, bias, causal, scale):
    """(batch, heads, rows, keys) in f32; -inf where a row sees no key."""
    scores = torch.matmul(_wide(query),
                          _wide(key).transpose(-2, -1)) * scale
    if bias is not None:
        if bias.dtype == torch.bool:
            scores = scores.masked_fill(~bias, -math.inf)
        else:
            scores = scores + _wide(bias)
    if causal:
        rows = torch.arange(query.shape[-2], device=query.device)
        keys = torch.arange(key.shape[-2], device=query.device)
        scores = scores.masked_fill(keys > rows[:, None], -math.inf)
    return scores


def attention(query, key, value, bias=None, causal=False, scale=None):
    """(o, l) of the module's formula.

    Shapes: query (batch, heads, rows, width), key (batch, heads or a divisor
    of it, keys, width), value (…, keys, any width); bias broadcasts to
    (batch, heads, rows, keys) and is added, or, of bools, tells which keys are
    seen. l is (batch, heads, rows) of f32.
    """
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    heads = query.shape[1]
    key, value = _repeat_heads(key, heads), _repeat_heads(value, heads)
    scores = _scores(query, key, bias, causal, scale)
    greatest = scores.amax(-1, keepdim=True)
    exponentials = (scores - greatest).exp()
    total = exponentials.sum(-1, keepdim=True)
    weights = (exponentials / total).to(value.dtype)
    result = torch.matmul(_wide(weights), _wide(value)).to(query.dtype)
    return result, (greatest + total.log()).squeeze(-1)


def attention_backward(grad, query, key, value, result, logsumexp, bias=None,
                       causal=False, scale=None, with_bias=False):
    """(dq, dk, dv, dbias or None) of the module's formula."""
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    heads, own = query.shape[1], key.shape[1]
    key, value = _repeat_heads(key, heads), _repeat_heads(value, heads)
    scores = _scores(query, key, bias, causal, scale)
    weights = (scores - logsumexp[..., None]).exp()
    grad_weights = torch.matmul(_wide(grad), _wide(value).transpose(-2, -1))
    delta = (_wide(grad) * _wide(result)).sum(-1, keepdim=True)
    grad_scores = weights * (grad_weights - delta)
    narrow = _wide((grad_scores * scale).to(query.dtype))
    grad_query = torch.matmul(narrow, _wide(key))
    grad_key = torch.matmul(narrow.transpose(-2, -1), _wide(query))
    grad_value = torch.matmul(
        _wide(weights.to(query.dtype)).transpose(-2, -1), _wide(grad))
    grad_bias = None
    if with_bias:
        grad_bias = grad_scores.sum_to_size(bias.shape).to(bias.dtype)
    return (grad_query.to(query.dtype),
            _sum_heads(grad_key, own).to(key.dtype),
            _sum_heads(grad_value, own).to(value.dtype), grad_bias)


def _without_dropout(probability):
    if probability:
        raise NotDecomposed("dropout of attention's weights is drawn by "
                            "PyTorch's own kernel")


def _nothing(query):
    """Of what a forward pass hands to its backward pass and ours do not
    need: seeds of dropout and the like."""
    return query.new_zeros((), dtype=torch.int64)


def _flash_for_cpu(query, key, value, dropout_p=0.0, is_causal=False, *,
                   attn_mask=None, scale=None):
    _without_dropout(dropout_p)
    return attention(query, key, value, attn_mask, is_causal, scale)


def _flash_for_cpu_backward(grad_out, query, key, value, out, logsumexp,
                            dropout_p, is_causal, *, attn_mask=None,
                            scale=None):
    _without_dropout(dropout_p)
    return attention_backward(grad_out, query, key, value, out, logsumexp,
                              attn_mask, is_causal, scale)[:3]


def _flash(query, key, value, dropout_p=0.0, is_causal=False,
           return_debug_mask=False, *, scale=None):
    _without_dropout(dropout_p)
    if return_debug_mask:
        raise NotDecomposed("the debug mask of attention")
    result, logsumexp = attention(query, key, value, None, is_causal, scale)
    none = _nothing(query)
    return (result, logsumexp, None, None, query.shape[2], key.shape[2], none,
            none, none)


def _flash_backward(grad_out, query, key, value, out, logsumexp, cum_seq_q,
                    cum_seq_k, max_q, max_k, dropout_p, is_causal,
                    philox_seed, philox_offset, *, scale=None):
    _without_dropout(dropout_p)
    return attention_backward(grad_out, query, key, value, out, logsumexp,
                              None, is_causal, scale)[:3]


def _efficient(query, key, value, attn_bias, compute_log_sumexp,
               dropout_p=0.0, is_causal=False, *, scale=None):
    _without_dropout(dropout_p)
    result, logsumexp = attention(query, key, value, attn_bias, is_causal,
                                  scale)
    none = _nothing(query)
    return result, logsumexp, none, none


def _efficient_backward(grad_out_, query, key, value, attn_bias, out,
                        logsumexp, philox_seed, philox_offset, dropout_p,
                        grad_input_mask, is_causal=False, *, scale=None):
    _without_dropout(dropout_p)
    with_bias = attn_bias is not None and grad_input_mask[3]
    # The kernel that this stands for pads the rows of l.
    return attention_backward(grad_out_, query, key, value, out,
                              logsumexp[..., :query.shape[2]], attn_bias,
                              is_causal, scale, with_bias)


def _cudnn(query, key, value, attn_bias, compute_log_sumexp, dropout_p=0.0,
           is_causal=False, return_debug_mask=False, *, scale=None):
    _without_dropout(dropout_p)
    result, logsumexp = attention(query, key, value, attn_bias, is_causal,
                                  scale)
    none = _nothing(query)
    return (result, logsumexp[..., None], None, None, query.shape[2],
            key.shape[2], none, none, none)


def _cudnn_backward(grad_out, query, key, value, out, logsumexp, philox_seed,
                    philox_offset, attn_bias, cum_seq_q, cum_seq_k, max_q,
                    max_k, dropout_p, is_causal, *, scale=None):
    _without_dropout(dropout_p)
    return attention_backward(grad_out, query, key, value, out,
                              logsumexp[..., 0], attn_bias, is_causal,
                              scale)[:3]


# --- Statistics --------------------------------------------------------------

def _var_mean(tensor, dim=None, *, correction=None, keepdim=False):
    """Variance and mean in f32 for narrow types: torch-mlir sums in f64."""
    correction = 1 if correction is None else correction
    dims = list(range(tensor.dim())) if dim is None else list(dim)
    count = math.prod(tensor.shape[d] for d in dims)
    wide = _wide(tensor)
    mean = wide.mean(dims, True)
    centred = wide - mean
    degrees = count - correction
    if isinstance(degrees, (int, float)):
        degrees = max(degrees, 0)
    variance = (centred * centred).sum(dims, keepdim) / degrees
    if not keepdim:
        mean = mean.reshape(variance.shape)
    return variance.to(tensor.dtype), mean.to(tensor.dtype)


def _var(tensor, dim=None, *, correction=None, keepdim=False):
    return _var_mean(tensor, dim, correction=correction, keepdim=keepdim)[0]


def _group_norm(tensor, weight, bias, batch, channels, rest, groups, eps):
    """(result, mean, rstd) of Wu and He 2018; PyTorch's own decomposition for
    the CPU reads by strides."""
    shape = tensor.shape
    wide = _wide(tensor).reshape(batch, groups, channels // groups * rest)
    variance, mean = _var_mean(wide, [-1], correction=0, keepdim=True)
    rstd = (variance + eps).rsqrt()
    result = ((wide - mean) * rstd).reshape(batch, channels, rest)
    if weight is not None:
        result = result * _wide(weight)[:, None]
    if bias is not None:
        result = result + _wide(bias)[:, None]
    return (result.to(tensor.dtype).reshape(shape),
            mean.squeeze(-1).to(tensor.dtype),
            rstd.squeeze(-1).to(tensor.dtype))


def _weight_gradient(grad, tensor, weight, stride, padding, dilation, groups):
    """The gradient of the weight of a convolution. With groups it is itself a
    convolution in groups, in which channels and batch change their places and
    so do strides and dilations."""
    none = [0] * len(stride)
    if groups == 1:
        return aten.convolution_backward(
            grad, tensor, weight, None, stride, padding, dilation, False, none,
            groups, [False, True, False])[1]
    batch, channels, *sizes = tensor.shape
    own = channels // groups
    inputs = tensor.reshape(batch, groups, own, *sizes).transpose(
        0, 2).reshape(own, groups * batch, *sizes)
    result = aten.convolution(inputs, grad.transpose(0, 1), None, dilation,
                              padding, stride, False, none, groups)
    # Where strides left a rest of the input out there is too much.
    for dim, size in enumerate(weight.shape[2:], 2):
        result = result.narrow(dim, 0, size)
    return result.transpose(0, 1)


def _tensor_gradient(grad, tensor, weight, stride, padding, dilation, groups):
    """The gradient of the input of a convolution: the transposed one; without
    strides that is one with the filters turned round, which torch-mlir has of
    a channel for each group as well."""
    border = [d * (k - 1) - p for k, p, d in zip(weight.shape[2:], padding,
                                                 dilation)]
    if all(s == 1 for s in stride) and min(border) >= 0:
        turned = weight.reshape(groups, -1, *weight.shape[1:]).transpose(
            1, 2).flatten(0, 1).flip(list(range(2, weight.dim())))
        return aten.convolution(grad, turned, None, stride, border, dilation,
                                False, [0] * len(stride), groups)
    rest = [size - ((out - 1) * s - 2 * p + d * (k - 1) + 1)
            for size, out, k, s, p, d in zip(
                tensor.shape[2:], grad.shape[2:], weight.shape[2:], stride,
                padding, dilation)]
    return aten.convolution(grad, weight, None, stride, padding, dilation,
                            True, rest, groups)


def _convolution_backward(grad, tensor, weight, bias_sizes, stride, padding,
                          dilation, transposed, output_padding, groups,
                          wanted):
    """torch-mlir has those of convolutions that are neither transposed nor in
    groups. A transposed one is the adjoint of a convolution with the same
    weight: that of `grad`, and the gradient of its weight with the two tensors
    exchanged."""
    if not transposed and groups == 1:
        return NotImplemented
    form = stride, padding, dilation, groups
    results = [None, None, None]
    if wanted[0]:
        results[0] = aten.convolution(
            grad, weight, None, stride, padding, dilation, False,
            [0] * len(stride), groups) if transposed else _tensor_gradient(
                grad, tensor, weight, *form)
    if wanted[1]:
        one, other = (tensor, grad) if transposed else (grad, tensor)
        results[1] = _weight_gradient(one, other, weight, *form)
    if wanted[2]:
        results[2] = grad.sum([d for d in range(grad.dim()) if d != 1])
    return tuple(results)


def _select_backward(grad, input_sizes, dim, index):
    return aten.select_scatter(grad.new_zeros(input_sizes), grad, dim, index)


def _slice_backward(grad, input_sizes, dim, start, end, step):
    return aten.slice_scatter(grad.new_zeros(input_sizes), grad, dim, start,
                              end, step)


def _gelu(tensor, *, approximate="none"):
    """Hendrycks and Gimpel 2016. torch-mlir's constant of the approximation by
    a tanh has three digits."""
    wide = _wide(tensor)
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi) * (wide + 0.044715 * wide * wide * wide)
        factor = inner.tanh()
    else:
        factor = (wide * math.sqrt(0.5)).erf()
    return (0.5 * wide * (1 + factor)).to(tensor.dtype)


_LATE = {
    "_scaled_dot_product_flash_attention_for_cpu": _flash_for_cpu,
    "_scaled_dot_product_flash_attention_for_cpu_backward":
        _flash_for_cpu_backward,
    "_scaled_dot_product_flash_attention": _flash,
    "_scaled_dot_product_flash_attention_backward": _flash_backward,
    "_scaled_dot_product_efficient_attention": _efficient,
    "_scaled_dot_product_efficient_attention_backward": _efficient_backward,
    "_scaled_dot_product_cudnn_attention": _cudnn,
    "_scaled_dot_product_cudnn_attention_backward": _cudnn_backward,
    "convolution_backward": _convolution_backward,
    "gelu": _gelu,
    "native_group_norm": _group_norm,
    "select_backward": _select_backward,
    "slice_backward": _slice_backward,
    "var_mean.correction": _var_mean,
    "var.correction": _var,
}


@functools.lru_cache(maxsize=None)
def late():
    """{overload: function} for `make_fx` over a part that is imported."""
    table = {}
    for name, function in {**corrections.TABLE, **_LATE}.items():
        packet, _, overload = name.partition(".")
        packet = getattr(aten, packet, None)
        if packet is not None:
            table[getattr(packet, overload or "default")] = function
    return table


def of_pytorch(overload):
    """PyTorch's own decomposition of an operation, or None. What torch-mlir
    does not lower may be made of what it does."""
    return torch._decomp.decomposition_table.get(overload)


# Kept whole by `early`: `late` has a better form of them.
_KEPT = ("_scaled_dot_product_flash_attention_for_cpu",
         "scaled_dot_product_attention", "native_group_norm",
         "select_backward", "slice_backward", "select_scatter",
         "slice_scatter")


@functools.lru_cache(maxsize=None)
def early():
    """{overload: function} for AOTAutograd."""
    from torch_mlir.extras.fx_decomp_util import get_decomposition_table
    return {overload: function
            for overload, function in get_decomposition_table().items()
            if overload._overloadpacket._qualified_op_name.split("::")[-1]
            not in _KEPT}
