# Part of the Fusion project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a case is compared with: libraries, PyTorch and its compiler.

    bare    the library's product or convolution alone: what the same work
            costs without anything fused
    fused   the library's own fused call, where it has one for the case
    eager   the case as written in PyTorch
    compile the same through torch.compile

Copies of weights into the layout that a library likes best are made once, here,
and not timed.
"""

import torch
import torch.nn.functional as F

from . import semantics

ALL = ("bare", "fused", "eager", "compile")


def make(case, tensors, names):
    """{name: function without arguments} of those that the case has."""
    found = {}
    if "bare" in names and (bare := _bare(case, tensors)):
        found["bare"] = bare
    if "fused" in names and (fused := _fused(case, tensors)):
        found["fused"] = fused
    eager = _composition(case, tensors)
    if "eager" in names:
        found["eager"] = eager
    if "compile" in names:
        torch._dynamo.reset()
        found["compile"] = torch.compile(eager, dynamic=False)
    return found


def _composition(case, tensors):
    function = semantics.FAMILIES[case.family]
    if case.family in ("conv", "depthwise"):
        tensors = _channels_last(case, tensors)

        def convolution():
            return _convolution(case, *tensors)
        return convolution
    return lambda: function(case, *tensors)


def _bare(case, tensors):
    a, b = tensors[:2]
    if case.family in ("grouped_gemm", "grouped_swiglu"):
        # The host knows the rows of each group without asking the device.
        offsets = tensors[1 + _weights(case)]
        ends = offsets.tolist()
        return lambda: [semantics.by_group(case, a, w, offsets, ends)
                        for w in tensors[1:1 + _weights(case)]]
    if case.family == "conv_general":
        return None  # The convolution with its bias is all there is: eager.
    if case.family in ("conv", "depthwise"):
        x, w, *_ = _channels_last(case, tensors)
        return lambda: _conv2d(case, x, w)
    if case.family == "dual_swiglu":
        first, second = (semantics.columns_last(case, w)
                         for w in tensors[1:3])
        outs = [torch.empty((a.shape[0], first.shape[1]), dtype=a.dtype,
                            device=a.device) for _ in range(2)]

        def two():
            torch.matmul(a, first, out=outs[0])
            torch.matmul(a, second, out=outs[1])
        return two
    if case.family == "dequant_int8":
        b = b.to(a.dtype)
    elif case.family == "dequant_int4":
        b = semantics.dequantized_int4(case, *tensors[1:3])
    if case.family == "weight_gradient":
        a = a.mT
    if a.dtype in (torch.int8, torch.float8_e4m3fn):
        return lambda: semantics.product(case, a, b)
    b = semantics.columns_last(case, b)
    out = torch.empty((*a.shape[:-1], b.shape[-1]), dtype=a.dtype,
                      device=a.device)
    return lambda: torch.matmul(a, b, out=out)


def _weights(case):
    return 2 if case.family == "grouped_swiglu" else 1


def _fused(case, tensors):
    """cuBLASLt's or cuDNN's fused call for the case, or None."""
    numbers = dict(case.numbers)
    if case.family in ("grouped_gemm", "grouped_swiglu"):
        x, offsets = tensors[0], tensors[1 + _weights(case)]
        if x.dtype != torch.bfloat16 or not hasattr(torch, "_grouped_mm"):
            return None
        # The library's product of groups, without an epilogue.
        return lambda: [torch._grouped_mm(
            x, semantics.columns_last(case, w), offs=offsets[1:])
            for w in tensors[1:1 + _weights(case)]]
    epilogue = numbers.get("epilogue")
    if case.family == "gemm" and case.dtype in ("bf16", "f16", "tf32"):
        a, b, *rest = tensors
        b = semantics.columns_last(case, b)
        if epilogue == "bias":
            return lambda: torch.addmm(rest[0], a, b)
        if epilogue in ("bias_gelu", "bias_relu"):
            gelu = epilogue == "bias_gelu"
            return lambda: torch._addmm_activation(rest[0], a, b,
                                                   use_gelu=gelu)
        if epilogue == "bias_gelu_res":
            return lambda: torch._addmm_activation(
                rest[0], a, b, use_gelu=True).add_(rest[1])
    if case.family == "gemm" and epilogue == "scale" and case.dtype == "fp8":
        a, b, rows, columns = tensors
        return lambda: torch._scaled_mm(
            a, b.mT, scale_a=rows[:, None], scale_b=columns[None],
            out_dtype=torch.bfloat16, use_fast_accum=True)
    if case.family == "conv" and epilogue in ("bn_relu", "bn_add_relu"):
        x, w, *rest = _channels_last(case, tensors)
        folded, shift = _folded(w, *rest[:4])
        around = [(case["window"] - 1) // 2] * 2
        stride = [case["stride"]] * 2
        if epilogue == "bn_relu":
            return lambda: torch.cudnn_convolution_relu(
                x, folded, shift, stride, around, [1, 1], 1)
        return lambda: torch.cudnn_convolution_add_relu(
            x, folded, rest[4], 1.0, shift, stride, around, [1, 1], 1)
    if case.family == "depthwise" and epilogue == "bn_relu":
        x, w, *rest = _channels_last(case, tensors)
        folded, shift = _folded(w, *rest[:4])
        return lambda: F.relu(_conv2d(case, x, folded, shift), inplace=True)
    return None


def _channels_last(case, tensors):
    """Image, weights and a full-size tensor as torch's NCHW and FCHW shapes in
    channels-last memory."""
    x, w, *rest = tensors
    if case.family == "depthwise":
        filters = w.permute(2, 0, 1)[:, None]
    else:
        filters = w.permute(*(case["weights"].index(d) for d in "fchw"))
    filters = filters.contiguous(memory_format=torch.channels_last)
    return (x.permute(0, 3, 1, 2), filters,
            *(t.permute(0, 3, 1, 2) if t.dim() == 4 else t for t in rest))


def _conv2d(case, x, w, bias=None):
    return F.conv2d(x, w, bias, case["stride"], (case["window"] - 1) // 2,
                    groups=x.shape[1] if case.family == "depthwise" else 1)


def _folded(w, mean, variance, gamma, beta):
    """Weights and bias with the normalisation in them."""
    scale = torch.rsqrt(variance + 1e-5) * gamma
    return ((w * scale[:, None, None, None]).to(w.dtype).contiguous(
        memory_format=torch.channels_last),
        (beta - mean * scale).to(w.dtype))


def _convolution(case, x, w, *rest):
    epilogue = case["epilogue"]
    if epilogue == "bias_silu":
        return F.silu(_conv2d(case, x, w, rest[0]))
    values = _conv2d(case, x, w)
    if epilogue.startswith("bn"):
        mean, variance, gamma, beta = rest[:4]
        values = F.batch_norm(values, mean, variance, gamma, beta, False, 0.0,
                              1e-5)
        values = F.relu(values + rest[4] if "add" in epilogue else values)
    return values
