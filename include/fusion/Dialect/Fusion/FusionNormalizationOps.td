//===- FusionNormalizationOps.td - Softmax and norms -------*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines softmax, log-softmax and the normalisations.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_FUSION_FUSIONNORMALIZATIONOPS_TD
#define FUSION_DIALECT_FUSION_FUSIONNORMALIZATIONOPS_TD

include "fusion/Dialect/Fusion/FusionOpBase.td"

class Fusion_SoftmaxBase<string mnemonic> : Fusion_SameShapeOp<mnemonic> {
  let arguments = (ins Fusion_FloatTensor:$input, I64Attr:$axis);
  let results = (outs Fusion_FloatTensor:$result);
  let assemblyFormat = [{
    $input `axis` `(` $axis `)` attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
}

def Fusion_SoftmaxOp : Fusion_SoftmaxBase<"softmax"> {
  let summary = "exp(x - max) / sum(exp(x - max)) along an axis";
  let description = [{
    `m = max_j x_j`, `y_j = exp(x_j - m) / sum_k exp(x_k - m)` along `axis`.
    f16 and bf16 are computed in f32 and rounded once. The sum may be made of
    parts, each relative to its own maximum, which are scaled then. A NaN in a
    row makes the row NaN, and so does a row of -inf. As `torch.softmax`.
  }];
}

def Fusion_LogSoftmaxOp : Fusion_SoftmaxBase<"log_softmax"> {
  let summary = "x - max - log(sum(exp(x - max))) along an axis";
  let description = [{
    `m = max_j x_j`, `y_j = (x_j - m) - log(sum_k exp(x_k - m))` along `axis`.
    Computed as `fusion.softmax` is. As `torch.log_softmax`.
  }];
}

/// A norm with an optional scale and an optional bias.
class Fusion_NormBase<string mnemonic>
    : Fusion_SameShapeOp<mnemonic, [AttrSizedOperandSegments]> {
  let results = (outs Fusion_FloatTensor:$result);
  let hasVerifier = 1;
}

def Fusion_LayerNormOp : Fusion_NormBase<"layer_norm"> {
  let summary = "(x - mean) / sqrt(variance + eps) over trailing dimensions";
  let description = [{
    Over the dimensions from `axis` on, of n elements together:
    `mean = sum(x) / n`, `var = sum((x - mean)^2) / n` (two passes, biased),
    `y = (x - mean) rsqrt(var + eps) scale + bias`. `scale` and `bias` have the
    shape of the normalised dimensions. Computed in f32 for f16 and bf16,
    rounded once. Ba et al., 2016; as `torch.nn.functional.layer_norm`.

    Example:
    ```mlir
    %y = fusion.layer_norm %x scale(%g) bias(%b) axis(1) eps(1.0e-5)
        : (tensor<?x4096xbf16>, tensor<4096xf32>, tensor<4096xf32>)
        -> tensor<?x4096xbf16>
    ```
  }];
  let arguments = (ins
    Fusion_FloatTensor:$input, Optional<Fusion_FloatTensor>:$scale,
    Optional<Fusion_FloatTensor>:$bias, I64Attr:$axis, F64Attr:$eps);
  let assemblyFormat = [{
    $input (`scale` `(` $scale^ `)`)? (`bias` `(` $bias^ `)`)?
    `axis` `(` $axis `)` `eps` `(` $eps `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Fusion_RmsNormOp : Fusion_NormBase<"rms_norm"> {
  let summary = "x / sqrt(mean(x^2) + eps) over trailing dimensions";
  let description = [{
    Over the dimensions from `axis` on, of n elements together:
    `y = x rsqrt(sum(x^2) / n + eps) scale + bias`. `scale` and `bias` have the
    shape of the normalised dimensions. Computed in f32 for f16 and bf16,
    rounded once. Zhang and Sennrich, 2019; as `torch.nn.functional.rms_norm`.
  }];
  let arguments = (ins
    Fusion_FloatTensor:$input, Optional<Fusion_FloatTensor>:$scale,
    Optional<Fusion_FloatTensor>:$bias, I64Attr:$axis, F64Attr:$eps);
  let assemblyFormat = [{
    $input (`scale` `(` $scale^ `)`)? (`bias` `(` $bias^ `)`)?
    `axis` `(` $axis `)` `eps` `(` $eps `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Fusion_GroupNormOp : Fusion_NormBase<"group_norm"> {
  let summary = "layer norm over groups of channels and all of space";
  let description = [{
    The input is [N, C, spatial...]; its C channels fall into `groups` equal
    groups of consecutive channels. Mean and biased variance (two passes) are
    over a group and all spatial dimensions of one sample;
    `y = (x - mean) rsqrt(var + eps) scale[c] + bias[c]`. Computed in f32 for
    f16 and bf16, rounded once. Wu and He, 2018; as
    `torch.nn.functional.group_norm`.
  }];
  let arguments = (ins
    Fusion_FloatTensor:$input, Optional<Fusion_FloatTensor>:$scale,
    Optional<Fusion_FloatTensor>:$bias, I64Attr:$groups, F64Attr:$eps);
  let assemblyFormat = [{
    $input (`scale` `(` $scale^ `)`)? (`bias` `(` $bias^ `)`)?
    `groups` `(` $groups `)` `eps` `(` $eps `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Fusion_InstanceNormOp : Fusion_NormBase<"instance_norm"> {
  let summary = "layer norm over space, per sample and channel";
  let description = [{
    The input is [N, C, spatial...], with at least one spatial dimension. Mean
    and biased variance (two passes) are over the spatial dimensions;
    `y = (x - mean) rsqrt(var + eps) scale[c] + bias[c]`. Computed in f32 for
    f16 and bf16, rounded once. Ulyanov et al., 2016; as
    `torch.nn.functional.instance_norm`.
  }];
  let arguments = (ins
    Fusion_FloatTensor:$input, Optional<Fusion_FloatTensor>:$scale,
    Optional<Fusion_FloatTensor>:$bias, F64Attr:$eps);
  let assemblyFormat = [{
    $input (`scale` `(` $scale^ `)`)? (`bias` `(` $bias^ `)`)?
    `eps` `(` $eps `)` attr-dict `:` functional-type(operands, results)
  }];
}

def Fusion_BatchNormOp : Fusion_NormBase<"batch_norm"> {
  let summary = "normalisation by given statistics, per channel";
  let description = [{
    `y = (x - mean[c]) rsqrt(variance[c] + eps) scale[c] + bias[c]`, where c is
    the index along `channel_axis`. Statistics come from outside (inference).
    Computed in f32 for f16 and bf16, rounded once. Ioffe and Szegedy, 2015; as
    `torch.nn.functional.batch_norm` with `training=False`.
  }];
  let arguments = (ins
    Fusion_FloatTensor:$input, Fusion_FloatTensor:$mean,
    Fusion_FloatTensor:$variance, Optional<Fusion_FloatTensor>:$scale,
    Optional<Fusion_FloatTensor>:$bias, I64Attr:$channel_axis, F64Attr:$eps);
  let assemblyFormat = [{
    $input `,` $mean `,` $variance (`scale` `(` $scale^ `)`)?
    (`bias` `(` $bias^ `)`)? `channel_axis` `(` $channel_axis `)`
    `eps` `(` $eps `)` attr-dict `:` functional-type(operands, results)
  }];
}

def Fusion_BatchNormTrainingOp
    : Fusion_ComputeOp<"batch_norm_training",
                       [AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "normalisation by the batch's own statistics, per channel";
  let description = [{
    Over all dimensions but `channel_axis`, of n elements together:
    `mean[c] = sum(x) / n`, `variance[c] = sum((x - mean[c])^2) / n` (two
    passes, biased), `y = (x - mean[c]) rsqrt(variance[c] + eps) scale[c] +
    bias[c]`. Returns y, of the input's type, and mean and variance, in the
    compute type (f32 for f16 and bf16). Running statistics are the caller's:
    they are ordinary arithmetic on the two.
  }];
  let arguments = (ins
    Fusion_FloatTensor:$input, Optional<Fusion_FloatTensor>:$scale,
    Optional<Fusion_FloatTensor>:$bias, I64Attr:$channel_axis, F64Attr:$eps);
  let results = (outs Fusion_FloatTensor:$result, Fusion_FloatTensor:$mean,
                      Fusion_FloatTensor:$variance);
  let assemblyFormat = [{
    $input (`scale` `(` $scale^ `)`)? (`bias` `(` $bias^ `)`)?
    `channel_axis` `(` $channel_axis `)` `eps` `(` $eps `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // FUSION_DIALECT_FUSION_FUSIONNORMALIZATIONOPS_TD
