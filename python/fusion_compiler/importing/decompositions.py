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
Dropout D of the weights, the same function in both passes, makes that

    o = D(p) v,  ds = p (D(do v^T) - rowsum(do o)),  dv = D(p)^T do
"""

import functools
import math

import torch
from torch.fx.experimental.symbolic_shapes import statically_known_true

from fusion_compiler.importing import foreach

from fusion_compiler.importing import corrections, data_places
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


def _product(one, other, across=(False, False)):
    """The product of two tensors (batch, heads, rows, columns), in f32 at
    least, each of which is transposed before if `across` says so."""
    def turned(tensors):
        return [tensor.transpose(-2, -1) if transposed else tensor
                for tensor, transposed in zip(tensors, across)]
    pair = [_wide(one), _wide(other)]
    if all(isinstance(size, int) for size in (*one.shape, *other.shape)):
        return torch.matmul(*turned(pair))
    # Of sizes that are unknown torch-mlir takes no heads that are joined to the
    # batch behind a transposition.
    result = torch.bmm(*turned([tensor.flatten(0, 1) for tensor in pair]))
    return result.view(*one.shape[:2], *result.shape[1:])


def _scores(query, key, bias, causal, scale):
    """(batch, heads, rows, keys) in f32; -inf where a row sees no key."""
    scores = _product(query, key, (False, True)) * scale
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


def _keep_all(weights):
    return weights


def _dropout(seed, probability):
    """D of the module's formula."""
    if seed is None:
        return _keep_all

    def dropout(weights):
        # As a factor, with which the compiler still makes one walk of it.
        return weights * torch.ops.fusion.dropout(
            torch.ones_like(weights), seed, probability)
    return dropout


def attention(query, key, value, bias=None, causal=False, scale=None,
              dropout=_keep_all):
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
    weights = dropout(exponentials / total).to(value.dtype)
    result = _product(weights, value).to(query.dtype)
    logsumexp = greatest + total.log()
    if bias is not None:  # A row may see no key: it is zero, its weights too.
        seen = greatest != -math.inf
        result = torch.where(seen, result, 0)
        logsumexp = torch.where(seen, logsumexp, 0)
    return result, logsumexp.squeeze(-1)


def attention_backward(grad, query, key, value, result, logsumexp, bias=None,
                       causal=False, scale=None, with_bias=False,
                       dropout=_keep_all):
    """(dq, dk, dv, dbias or None) of the module's formula."""
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    heads, own = query.shape[1], key.shape[1]
    key, value = _repeat_heads(key, heads), _repeat_heads(value, heads)
    scores = _scores(query, key, bias, causal, scale)
    weights = (scores - logsumexp[..., None]).exp()
    grad_weights = dropout(_product(grad, value, (False, True)))
    delta = (_wide(grad) * _wide(result)).sum(-1, keepdim=True)
    grad_scores = weights * (grad_weights - delta)
    narrow = (grad_scores * scale).to(query.dtype)
    grad_query = _product(narrow, key)
    grad_key = _product(narrow, query, (True, False))
    grad_value = _product(dropout(weights).to(query.dtype), grad,
                          (True, False))
    grad_bias = None
    if with_bias:
        grad_bias = grad_scores.sum_to_size(bias.shape).to(bias.dtype)
    return (grad_query.to(query.dtype),
            _sum_heads(grad_key, own).to(key.dtype),
            _sum_heads(grad_value, own).to(value.dtype), grad_bias)


def _attention(query, key, value, bias, seed, dropout_p, is_causal, scale):
    """(o, l) with dropout, if there is a seed."""
    return attention(query, key, value, bias, is_causal, scale,
                     _dropout(seed, dropout_p))


def _attention_backward(grad_out, query, key, value, out, logsumexp, bias,
                        seed, dropout_p, is_causal, scale, with_bias):
    """(dq, dk, dv, dbias) with dropout; dbias is empty if it is not wanted."""
    *grads, grad_bias = attention_backward(
        grad_out, query, key, value, out, logsumexp, bias, is_causal, scale,
        with_bias, _dropout(seed, dropout_p))
    return (*grads, query.new_empty(0) if grad_bias is None else grad_bias)


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
    width = channels // groups
    # A view of what is stored, whichever of its dimensions are neighbours.
    wide = _wide(tensor.reshape(batch, groups, width, rest))
    variance, mean = _var_mean(wide, [-2, -1], correction=0, keepdim=True)
    rstd = (variance + eps).rsqrt()
    result = (wide - mean) * rstd
    if weight is not None:
        result = result * _wide(weight).reshape(groups, width, 1)
    if bias is not None:
        result = result + _wide(bias).reshape(groups, width, 1)
    return (result.to(tensor.dtype).reshape(shape),
            mean.reshape(batch, groups).to(tensor.dtype),
            rstd.reshape(batch, groups).to(tensor.dtype))


def _weight_gradient(grad, tensor, weight, stride, padding, dilation, groups):
    """The gradient of the weight of a convolution: a convolution in as many
    groups in which channels and batch change their places and so do strides
    and dilations. torch-mlir's own is one in as many groups as there are
    images where strides are not 1, each rounded before they are added up."""
    batch, channels, *sizes = tensor.shape
    none = [0] * len(stride)
    inputs = tensor
    if groups > 1:
        inputs = tensor.reshape(batch, groups, channels // groups, *sizes)
        inputs = inputs.transpose(0, 2).flatten(1, 2)
    else:
        inputs = tensor.transpose(0, 1)
    # What strides leave out of the input at its end.
    rest = [size + 2 * p - (s * (out - 1) + d * (k - 1) + 1)
            for size, p, s, out, d, k in zip(
                sizes, padding, stride, grad.shape[2:], dilation,
                weight.shape[2:])]
    is_known = all(isinstance(one, int) for one in rest)
    if is_known and any(rest):
        ends = []
        for dim, (p, one) in enumerate(zip(padding, rest), 2):
            end = max(one - p, 0)
            inputs = inputs.narrow(dim, 0, inputs.shape[dim] - end)
            ends = [p, max(p - one, 0), *ends]
        inputs, padding = aten.constant_pad_nd(inputs, ends, 0), none
    result = aten.convolution(inputs, grad.transpose(0, 1), None, dilation,
                              padding, stride, False, none, groups)
    if not is_known:
        for dim, size in enumerate(weight.shape[2:], 2):
            result = result.narrow(dim, 0, size)
    return result.transpose(0, 1)


def _shifts(kernel, stride, padding, dilation):
    """(low, high, shifts) of a dimension. With the results of windows padded by
    `low` and `high` elements, elements stride * i … stride * (i + 1) - 1 are in
    the windows i + shift, of which some may lie beside an element."""
    reach = (kernel - 1) * dilation
    first = -((reach - padding) // stride)
    last = (stride - 1 + padding) // stride
    # Of windows there may be fewer than of groups of `stride` elements.
    missing = (stride - 1 - 2 * padding + reach) // stride
    low, high = max(0, -first), max(0, last + missing)
    return low, high, range(low + first, low + last + 1)


def _padded(tensor, dim, low, high):
    """`tensor` with zeros before and behind dimension `dim`."""
    if low == high == 0:
        return tensor
    return aten.constant_pad_nd(
        tensor, [0, 0] * (tensor.dim() - dim - 1) + [low, high], 0)


def _by_phases(weight, dim, phases, before, dilation):
    """Dimension `dim` of filters as (shift, phase): the factors of the element
    at a phase, of so many, in the window at a shift. Before the first factor
    there are `before` zeros."""
    kernel = weight.shape[dim]
    weight = _padded(weight.unsqueeze(dim + 1), dim + 1, 0, dilation - 1)
    reach = (kernel - 1) * dilation + 1
    weight = weight.flatten(dim, dim + 1).narrow(dim, 0, reach)
    weight = _padded(weight, dim, before, -(before + reach) % phases)
    return weight.unflatten(dim, (-1, phases)).flip(dim)


def _tensor_gradient(grad, tensor, weight, stride, padding, dilation, groups):
    """The gradient of the input of a convolution: one without strides, that has
    for each channel a feature for each place between two windows (Shi et al.
    2016). Between elements of `grad` there are no zeros that are multiplied."""
    batch, channels, *sizes = tensor.shape
    inputs, filters = grad, weight
    phases, origins, many = [], [], []
    for dim, (size, kernel, s, p, d) in enumerate(zip(
            sizes, weight.shape[2:], stride, padding, dilation)):
        # Places that are in no window are left out: then these begin at 0.
        reach = (kernel - 1) * d
        origins.append(p if reach < s else 0)
        phases.append(min(s, reach + 1))
        low, high, shifts = _shifts(kernel, s, p - origins[-1], d)
        many.append((size + origins[-1] + s - 1) // s)
        inputs = _padded(inputs, dim + 2, low, high).narrow(
            dim + 2, shifts[0], many[-1] + len(shifts) - 1)
        before = s * (shifts[-1] - low) - (p - origins[-1])
        filters = _by_phases(filters, 2 * dim + 2, phases[-1], before, d)
    rank = len(stride)
    # From (group, feature, channel, shift, phase, shift, phase, …).
    filters = filters.unflatten(0, (groups, -1)).permute(
        0, *range(4, 4 + 2 * rank, 2), 2, 1, *range(3, 3 + 2 * rank, 2))
    filters = filters.flatten(0, rank + 1)
    result = aten.convolution(inputs, filters, None, [1] * rank, [0] * rank,
                              [1] * rank, False, [0] * rank, groups)
    result = result.reshape(batch, groups, *phases, channels // groups, *many)
    # To (batch, group, channel, row, phase, column, phase, …).
    result = result.permute(0, 1, rank + 2, *(
        place for dim in range(rank) for place in (rank + 3 + dim, 2 + dim)))
    for dim, (s, phase) in enumerate(zip(stride, phases)):
        result = _padded(result, 2 * dim + 4, 0, s - phase)
    result = result.reshape(batch, channels, *(
        one * s for one, s in zip(many, stride)))
    for dim, (origin, size) in enumerate(zip(origins, sizes), 2):
        result = result.narrow(dim, origin, size)
    return result


def _convolution_backward(grad, tensor, weight, bias_sizes, stride, padding,
                          dilation, transposed, output_padding, groups,
                          wanted):
    """torch-mlir has those of inputs and biases of convolutions that are
    neither transposed nor in groups, and puts zeros between the elements of
    `grad` where there are strides. A transposed one is the adjoint of a
    convolution with the same weight: that of `grad`, and the gradient of its
    weight with the two tensors exchanged."""
    is_plain = not transposed and groups == 1 and (
        not wanted[0] or all(one == 1 for one in stride))
    if is_plain and not wanted[1]:
        return NotImplemented
    form = stride, padding, dilation, groups
    results = [None, None, None]
    if is_plain and (wanted[0] or wanted[2]):
        results[0], _, results[2] = aten.convolution_backward(
            grad, tensor, weight, bias_sizes, stride, padding, dilation,
            transposed, output_padding, groups, [wanted[0], False, wanted[2]])
        wanted = [False, True, False]
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


def _weight_norm_backward(grad, direction, length, norms, dim):
    """Salimans and Kingma 2016, equation 3, of w = g v / |v|: dg is the part of
    dw along v / |v|, dv the rest of dw times g / |v|. Norms are of all
    dimensions but `dim`."""
    others = [d for d in range(direction.dim()) if d != dim % direction.dim()]
    wide, unit = _wide(grad), _wide(direction) / norms
    along = (wide * unit).sum(others, keepdim=True)
    rest = (wide - unit * along) * (_wide(length) / norms)
    return rest.to(direction.dtype), along.to(length.dtype)


def _select_backward(grad, input_sizes, dim, index):
    return aten.select_scatter(grad.new_zeros(input_sizes), grad, dim, index)


def _slice_backward(grad, input_sizes, dim, start, end, step):
    return aten.slice_scatter(grad.new_zeros(input_sizes), grad, dim, start,
                              end, step)


def _copy(tensor, source, non_blocking=False):
    return source.to(tensor.dtype).expand(tensor.shape)


def _slice_scatter(tensor, source, dim=0, start=None, end=None, step=1):
    """At a place that is not known, an element looks whether it is there."""
    if (not isinstance(start, torch.SymInt) or step != 1
            or not statically_known_true(start >= 0)):
        return NotImplemented
    dim %= tensor.dim()
    size = source.shape[dim]
    place = torch.arange(tensor.shape[dim], device=tensor.device) - start
    inside = (place >= 0) & (place < size)
    inside = inside.view([-1 if d == dim else 1 for d in range(tensor.dim())])
    moved = source.index_select(dim, place.clamp(0, size - 1))
    return torch.where(inside, moved, tensor)


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


def _fma(one, other, addend):
    """Of narrow types rounded once; in f32 and f64 as kernels have it."""
    tensors = [value for value in (one, other, addend)
               if isinstance(value, torch.Tensor)]
    result = _wide(one) * _wide(other) + _wide(addend)
    return result.to(tensors[0].dtype)


# --- Gradients that PyTorch scatters ------------------------------------------

def _nll_loss_backward(grad, scores, target, weight, reduction, ignore_index,
                       total_weight):
    """Each element looks whether its class is the target, instead of being
    written by index. Shapes: scores (classes) or (batch, classes, …), target
    without the classes."""
    dim = min(scores.dim() - 1, 1)
    classes = [1] * scores.dim()
    classes[dim] = scores.shape[dim]
    grad = _wide(grad)
    if reduction == 1:  # The mean.
        grad = grad / _wide(total_weight)
    elif reduction == 0:
        grad = grad.unsqueeze(dim)
    if weight is not None:
        grad = grad * _wide(weight).reshape(classes)
    target = target.unsqueeze(dim)
    numbers = torch.arange(scores.shape[dim], device=scores.device)
    hit = (numbers.reshape(classes) == target) & (target != ignore_index)
    return torch.where(hit, -grad, 0).to(scores.dtype)


# Windows that an element may be in; with more, PyTorch's kernel is better.
_MOST_WINDOWS = 25


def _max_pool2d_backward(grad, tensor, kernel_size, stride, padding, dilation,
                         ceil_mode, indices):
    """Each element looks at the windows that it may be in, instead of being
    written by index: (…, height, width). As many elements as a step of the
    windows look at the same ones: they are computed as (…, rows, stride,
    columns, stride) of results that lie side by side."""
    kernel, stride, padding, dilation = (
        [*one] * (2 // len(one)) for one in (
            kernel_size, stride or kernel_size, padding, dilation))
    rows, columns = (
        _shifts(*one) for one in zip(kernel, stride, padding, dilation))
    if len(rows[2]) * len(columns[2]) > _MOST_WINDOWS:
        raise NotDecomposed("the windows of a maximum overlap much")
    sizes = tensor.shape[-2:]
    groups = [(size + step - 1) // step
              for size, step in zip(sizes, stride)]
    row, column = (
        torch.arange(many * step, device=grad.device).reshape(many, step)
        for many, step in zip(groups, stride))
    places = row[:, :, None, None] * sizes[1] + column
    # What lies beyond a row would be the place of the next one's first.
    places = torch.where(column < sizes[1], places, -2)
    edges = [*columns[:2], *rows[:2]]
    indices = aten.constant_pad_nd(indices, edges, -1)
    grad = aten.constant_pad_nd(grad, edges, 0)

    def shifted(results, down, right):
        part = results.narrow(-2, down, groups[0]).narrow(-1, right, groups[1])
        return part[..., :, None, :, None]

    total = 0
    for down in rows[2]:
        for right in columns[2]:
            total = total + torch.where(
                shifted(indices, down, right) == places,
                _wide(shifted(grad, down, right)), 0)
    total = total.reshape([*tensor.shape[:-2], groups[0] * stride[0],
                           groups[1] * stride[1]])
    return total[..., :sizes[0], :sizes[1]].to(tensor.dtype)


_LATE = {
    "_weight_norm_interface_backward": _weight_norm_backward,
    "convolution_backward": _convolution_backward,
    "gelu": _gelu,
    "index_put": data_places.index_put,
    "max_pool2d_with_indices_backward": _max_pool2d_backward,
    "copy": _copy,
    "embedding_dense_backward": data_places.embedding_dense_backward,
    "nll_loss2d_backward": _nll_loss_backward,
    "nll_loss_backward": _nll_loss_backward,
    "select_backward": _select_backward,
    "slice_backward": _slice_backward,
    "slice_scatter": _slice_scatter,
    "var_mean.correction": _var_mean,
    "var.correction": _var,
}


# Operations of importing/operations.py.
OWN = {"attention": _attention, "attention_backward": _attention_backward}


@functools.lru_cache(maxsize=None)
def late():
    """{overload: function} for `make_fx` over a part that is imported."""
    # It defines the operations of `OWN`, and needs that to do so.
    from fusion_compiler.importing import operations  # noqa: F401
    table = {getattr(torch.ops.fusion, name).default: function
             for name, function in OWN.items()}
    table[torch.ops.prims.fma.default] = _fma
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


# Kept whole by `early`: `late`, torch/forms.py or known_places.py has a better
# form of them, or PyTorch, which sums an embedding's gradient in the type of its
# table, where their places are not known.
_KEPT = ("_scaled_dot_product_flash_attention_for_cpu",
         "scaled_dot_product_attention", "nll_loss_backward",
         "nll_loss2d_backward", "select_backward", "slice_backward",
         "select_scatter", "slice_scatter", "native_dropout_backward",
         "embedding_dense_backward")
# What a backward pass computes again rather than have it kept.
_EARLY = {aten.native_group_norm.default: _group_norm}


def _with_own(table):
    return {overload: function for overload, function in table.items()
            if overload._overloadpacket._qualified_op_name.split("::")[-1]
            not in _KEPT} | foreach.decompositions() | _EARLY


@functools.lru_cache(maxsize=None)
def early():
    """{overload: function} for AOTAutograd: `of_exported` without operations
    that PyTorch implements by others. It takes those apart without being told,
    and to list them all takes as long as tracing a small network."""
    from torch_mlir.extras import fx_decomp_util as theirs
    excluded = set(theirs._EXPANDED_DECOMP_EXCLUDE)
    core = torch._decomp._core_aten_decompositions_post_autograd()
    table = {overload: function for overload, function in core.items()
             if overload._overloadpacket not in excluded}
    return _with_own(table | torch._decomp.get_decompositions(
        theirs.DEFAULT_DECOMPOSITIONS))


@functools.lru_cache(maxsize=None)
def of_exported():
    """{overload: function} for programs of torch.export, which keep what is not
    in it."""
    from torch_mlir.extras.fx_decomp_util import get_decomposition_table
    return _with_own(get_decomposition_table())
