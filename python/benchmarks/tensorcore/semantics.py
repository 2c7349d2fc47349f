# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the families compute, in PyTorch, and how their results are checked.

Each family is one function of its tensors. On the drawn tensors it is what a
user of PyTorch writes, which the benchmark times as a peer; on float64 ones it
is the reference.
"""

import math

import torch
import torch.nn.functional as F

from outputs import poison

TORCH_TYPES = {"bf16": torch.bfloat16, "f16": torch.float16,
               "f32": torch.float32, "f64": torch.float64,
               "i8": torch.int8, "i32": torch.int32,
               "f8E4M3FN": torch.float8_e4m3fn}


def draw(case, device):
    """Fresh random tensors for the arguments of the program."""
    tensors = []
    for spec in case.program.inputs:
        if spec.draw in ("integers", "bits"):
            low = -127 if spec.draw == "integers" else -128
            tensors.append(torch.randint(low, 128, spec.shape, device=device,
                                         dtype=torch.int8))
            continue
        if spec.draw == "offsets":
            tensors.append(_draw_offsets(spec, device))
            continue
        values = torch.randn(spec.shape, device=device)
        if spec.draw == "positive":
            values = values.abs() + 0.5
        tensors.append((values * spec.scale).to(TORCH_TYPES[spec.dtype]))
    return tuple(tensors)


def _draw_offsets(spec, device):
    """Groups of all rows, of sizes that differ by a factor of up to ten, and an
    empty one where there are several."""
    groups = spec.shape[0] - 1
    shares = torch.rand(groups, device=device, dtype=torch.float64) + 0.1
    if groups > 2:
        shares[groups // 2] = 0
    ends = (shares.cumsum(0) / shares.sum() * spec.scale).round()
    ends[-1] = spec.scale
    return torch.cat((ends.new_zeros(1), ends)).to(torch.int32)


def empty_results(case, device):
    """Tensors for the results, filled with what no right result contains."""
    tensors = []
    for value in case.program.results:
        out = torch.empty(value.shape, dtype=TORCH_TYPES[value.dtype],
                          device=device)
        poison(out)
        tensors.append(out)
    return tuple(tensors)


def evaluate(case, tensors):
    """The results as PyTorch computes them, a tuple."""
    result = FAMILIES[case.family](case, *tensors)
    return result if isinstance(result, tuple) else (result,)


def reference(case, tensors):
    """The results in float64, without any rounding between operations but
    those of dequantised weights, which the program declares."""
    return evaluate(case, [t if spec.draw in ("bits", "offsets") else t.double()
                           for t, spec in zip(tensors, case.program.inputs)])


# The families.


def columns_last(case, b):
    """B as a k x n matrix (a view)."""
    return b.mT if dict(case.numbers).get("b", "kn") == "nk" else b


def product(case, a, b):
    """A B in the type that a library's product gives."""
    b = columns_last(case, b)
    if a.dtype == torch.int8:
        return torch._int_mm(a, b)
    if a.dtype == torch.float8_e4m3fn:
        one = torch.ones((), device=a.device)
        return torch._scaled_mm(a, b, scale_a=one, scale_b=one,
                                out_dtype=torch.bfloat16)
    return a @ b


def gemm(case, a, b, *rest):
    values, epilogue = product(case, a, b), case["epilogue"]
    if epilogue == "scale":
        rows, columns = rest
        scaled = values.to(rows.dtype) * rows[:, None] * columns
        return scaled if values.dtype == torch.float64 else scaled.bfloat16()
    if epilogue == "none":
        return values
    values = values + rest[0]
    if "relu" in epilogue:
        values = F.relu(values)
    if "gelu" in epilogue:
        values = F.gelu(values, approximate="tanh")
    return values + rest[1] if epilogue.endswith("_res") else values


def batched_gemm(case, a, b):
    return a @ columns_last(case, b)


def weight_gradient(case, x, y):
    return x.mT @ y


def bias_gradient(case, y, w, z):
    values = product(case, y, w) * (z > 0)
    return values, values.sum(0, dtype=_wide(values))


def row_amax(case, a, b):
    values = product(case, a, b)
    return values, values.abs().amax(1).to(_wide(values))


def row_softmax(case, a, b):
    return product(case, a, b).softmax(1)


def log_sum_exp(case, a, b):
    return product(case, a, b).logsumexp(1).to(_wide(a))


def quantized_rows(case, a, b):
    values = product(case, a, b)
    scale = values.abs().amax(1).to(_wide(values)) / 127
    quotient = values / scale[:, None]
    # The reference stays unrounded: `compare` allows the half.
    return (quotient if values.dtype == torch.float64
            else quotient.round().to(torch.int8)), scale


def dual_swiglu(case, x, w1, w2):
    return F.silu(product(case, x, w1)) * product(case, x, w2)


def residual_layer_norm(case, a, w, rest, scale, shift):
    values = product(case, a, w) + rest
    return F.layer_norm(values, values.shape[-1:], scale, shift, 1e-5)


def rms_norm_gemm(case, x, w, gain):
    wide = x.to(_wide(x))
    inverse = torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6)
    return product(case, (wide * inverse * gain).to(x.dtype), w)


def dequant_int8(case, x, w, scale):
    return product(case, x, w.to(x.dtype)) * scale


def unpack_int4(packed):
    """Two integers of 4 bits from each byte, the low half first."""
    low = (packed << 4) >> 4
    return torch.stack((low, packed >> 4), dim=-1).flatten(-2)


def dequantized_int4(case, w, scale):
    """The weights times their factors, rounded to the type of the case."""
    axis = case["b"].index("k")
    wide = unpack_int4(w).to(_wide(scale))
    factors = scale.to(wide.dtype).repeat_interleave(case["group"], dim=axis)
    return (wide * factors).to(TORCH_TYPES[case.dtype])


def dequant_int4(case, x, w, scale):
    return product(case, x, dequantized_int4(case, w, scale).to(x.dtype))


def by_group(case, x, w, offsets, sizes=None):
    """One product for each group, as long as the host knows its rows."""
    ends = offsets.tolist() if sizes is None else sizes
    y = x.new_zeros(x.shape[0], columns_last(case, w).shape[-1])
    for group, (begin, end) in enumerate(zip(ends, ends[1:])):
        torch.matmul(x[begin:end], columns_last(case, w[group]),
                     out=y[begin:end])
    return y


def grouped_product(case, x, w, offsets):
    if x.dtype == torch.bfloat16 and hasattr(torch, "_grouped_mm"):
        return torch._grouped_mm(x, columns_last(case, w), offs=offsets[1:])
    return by_group(case, x, w, offsets)


def grouped_gemm(case, x, w, offsets, *bias):
    values = grouped_product(case, x, w, offsets)
    if not bias:
        return values
    rows = torch.arange(x.shape[0], device=x.device, dtype=torch.int32)
    groups = torch.searchsorted(offsets[1:], rows, right=True)
    return F.silu(values + bias[0][groups])


def grouped_swiglu(case, x, w1, w2, offsets):
    return (F.silu(grouped_product(case, x, w1, offsets))
            * grouped_product(case, x, w2, offsets))


def rope_projection(case, x, w, cos, sin):
    values = product(case, x, w).unflatten(-1, (-1, case["head"]))
    cos, sin = cos[:, None], sin[:, None]
    halves = case["pairs"] == "halves"
    first, second = (values.chunk(2, -1) if halves
                     else (values[..., ::2], values[..., 1::2]))
    turned = (first * cos - second * sin, second * cos + first * sin)
    turned = torch.cat(turned, -1) if halves else torch.stack(turned, -1)
    turned = turned.reshape(values.shape).to(values.dtype)
    return turned if case["outer"] == "rows" else turned.transpose(
        0, 1).contiguous()


def _convolved(case, x, w):
    """The convolution as torch's conv2d of channels-last views."""
    if case.family == "depthwise":
        filters, groups = w.permute(2, 0, 1)[:, None], x.shape[-1]
    else:
        layout = case["weights"]
        filters = w.permute(*(layout.index(d) for d in "fchw"))
        groups = 1
    if x.dtype == torch.float64:
        return _by_taps(x, filters, groups, case["stride"], 1)
    return F.conv2d(x.permute(0, 3, 1, 2), filters, stride=case["stride"],
                    padding=(case["window"] - 1) // 2, groups=groups
                    ).permute(0, 2, 3, 1)


def _by_taps(x, filters, groups, stride, dilation):
    """One matrix product for each position of the window: no convolution of a
    library is part of the reference. NHWC by FCHW to NHWC."""
    window = filters.shape[-1]
    around = (window - 1) // 2 * dilation
    x = F.pad(x, (0, 0, around, around, around, around))
    rows, columns = ((n - (window - 1) * dilation - 1) // stride + 1
                     for n in x.shape[1:3])
    total = 0
    for i in range(window):
        for j in range(window):
            part = x[:, i * dilation:, j * dilation:]
            part = part[:, :(rows - 1) * stride + 1:stride,
                        :(columns - 1) * stride + 1:stride]
            # Groups become a batch of products; depthwise ones have one term.
            part = part.unflatten(-1, (groups, -1))
            tap = filters[:, :, i, j].unflatten(0, (groups, -1))
            total = total + torch.einsum("nhwgc,gfc->nhwgf", part,
                                         tap).flatten(-2)
    return total


def conv_general(case, x, w, bias):
    grouped, layout = case["groups"] > 1, case["layout"]
    # Groups are the outer part of the channels.
    channel = 1 if layout == "nchw" else 3
    if grouped:
        x, w = x.flatten(channel, channel + 1), w.flatten(0, 1)
        bias = bias.flatten()
    to_nchw = (0, 1, 2, 3) if layout == "nchw" else (0, 3, 1, 2)
    x, w = x.permute(to_nchw), w.permute(to_nchw)
    if x.dtype == torch.float64:
        values = _by_taps(x.permute(0, 2, 3, 1), w, case["groups"],
                          case["stride"], case["dilation"]
                          ).permute(0, 3, 1, 2)
        values = values + bias[:, None, None]
    else:
        values = F.conv2d(x, w, bias, case["stride"],
                          (case["window"] - 1) // 2 * case["dilation"],
                          case["dilation"], case["groups"])
    values = F.relu(values)
    if layout == "nhwc":
        values = values.permute(0, 2, 3, 1)
    return (values.unflatten(channel, (case["groups"], -1)) if grouped
            else values)


def conv(case, x, w, *rest):
    values, epilogue = _convolved(case, x, w), case["epilogue"]
    if epilogue.startswith("bn"):
        mean, variance, gamma, beta = rest[:4]
        wide = values.to(mean.dtype)
        values = ((wide - mean) * torch.rsqrt(variance + 1e-5) * gamma
                  + beta).to(values.dtype)
        if "add" in epilogue:
            values = values + rest[4]
        return F.relu(values)
    return F.silu(values + rest[0]) if epilogue == "bias_silu" else values


def _wide(x):
    return torch.float64 if x.dtype == torch.float64 else torch.float32


FAMILIES = {function.__name__: function for function in (
    gemm, batched_gemm, weight_gradient, bias_gradient, row_amax,
    row_softmax, log_sum_exp, quantized_rows, dual_swiglu, residual_layer_norm, rms_norm_gemm,
    dequant_int8, dequant_int4, rope_projection, grouped_gemm, grouped_swiglu,
    conv, conv_general)}
FAMILIES["depthwise"] = conv


# Comparison.


def sum_error(case):
    """How far the sum of a contraction in f32 may be off, relative to the root
    mean square of the results."""
    terms = case.terms
    if case.dtype == "int8":
        return 0.0
    if case.dtype == "fp8":
        # Tensor cores of sm_90 keep 13 bits below the largest of 32 terms.
        return terms / 32 * 2.0 ** -13
    if case.dtype == "tf32":
        # Operands of 10 bits; the errors of the products add up as a walk.
        return 8 * 2.0 ** -11
    # Sums are cut off, not rounded, after every few terms.
    error = max(terms, 64) / 8 * 2.0 ** -23
    if case.family in ("rms_norm_gemm", "dequant_int8", "dequant_int4"):
        # The operand is rounded, or its factor moved past the sum.
        error += 2 * _unit(TORCH_TYPES[case.dtype])
    return error


def _unit(dtype):
    return torch.finfo(dtype).eps / 2


def compare(case, outputs, references):
    """(right, note, relative error in the 2-norm), over all results."""
    wrong, worst, norm = [], 0.0, 0.0
    for number, (out, wanted) in enumerate(zip(outputs, references,
                                               strict=True)):
        difference = (out.double() - wanted).abs()
        rms = wanted.square().mean().sqrt()
        bound = torch.full_like(difference, 4 * sum_error(case)) * rms
        if out.dtype == torch.int8:
            bound += 0.5 + 127 * 2.0 ** -11
        elif out.is_floating_point():
            # Twice the error of one rounding at the element, and at the mean.
            bound += 2 * _unit(out.dtype) * (wanted.abs() + rms / 8)
        # NaN, left over or computed, must not pass: hence "not <=".
        bad = ~(difference <= bound)
        if bad.any():
            wrong.append(f"result {number}: {_describe(bad, out, wanted)}")
            norm = math.inf if difference.isnan().any() else norm
        # Exact integers have no bound to be a share of.
        share = torch.where(difference > 0, difference / bound, 0.0)
        worst = max(worst, share.max().item())
        norm = max(norm, (difference.square().sum()
                          / wanted.square().sum()).sqrt().item())
        del difference, bound, bad, share
    return (not wrong, "; ".join(wrong) or
            f"error {norm:.1e}, at {worst:.2f} of its bound", norm)


def _describe(bad, out, wanted):
    """Which elements are wrong: how many, within which ranges, an example."""
    count = int(bad.sum())
    # A tensor may have more elements than indices can be listed for.
    ranges = []
    for dim in range(bad.dim()):
        others = [d for d in range(bad.dim()) if d != dim]
        found = (bad.sum(others) if others else bad).nonzero()
        ranges.append(f"{int(found[0])}..{int(found[-1])}")
    first = int(bad.reshape(-1).to(torch.uint8).argmax())
    text = (f"{count} of {bad.numel()} elements wrong, in "
            f"[{', '.join(ranges)}], element {first} is "
            f"{out.reshape(-1)[first].item():.6g}, not "
            f"{wanted.reshape(-1)[first].item():.6g}")
    if out.is_floating_point() and (nans := int(out.isnan().sum())):
        text += f"; {nans} NaN, never written or computed"
    return text
