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

    `axis` is a dimension of the input, counted from 0.

    Example:
    ```mlir
    func.func @softmax(%scores: tensor<8x?x128xbf16>) -> tensor<8x?x128xbf16> {
      %y = fusion.softmax %scores axis(2) : tensor<8x?x128xbf16>
      return %y : tensor<8x?x128xbf16>
    }
    ```
  }];
}

def Fusion_LogSoftmaxOp : Fusion_SoftmaxBase<"log_softmax"> {
  let summary = "x - max - log(sum(exp(x - max))) along an axis";
  let description = [{
    `m = max_j x_j`, `y_j = (x_j - m) - log(sum_k exp(x_k - m))` along `axis`.
    Computed as `fusion.softmax` is. As `torch.log_softmax`.

    `axis` is a dimension of the input, counted from 0.

    Example:
    ```mlir
    func.func @log_softmax(%logits: tensor<?x1000xf32>) -> tensor<?x1000xf32> {
      %y = fusion.log_softmax %logits axis(1) : tensor<?x1000xf32>
      return %y : tensor<?x1000xf32>
    }
    ```
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

    `eps` is finite and not negative.

    Example:
    ```mlir
    func.func @layer_norm(%x: tensor<?x4096xbf16>, %scale: tensor<4096xf32>,
                          %bias: tensor<4096xf32>) -> tensor<?x4096xbf16> {
      %y = fusion.layer_norm %x scale(%scale) bias(%bias) axis(1) eps(1.0e-5)
          : (tensor<?x4096xbf16>, tensor<4096xf32>, tensor<4096xf32>)
          -> tensor<?x4096xbf16>
      return %y : tensor<?x4096xbf16>
    }
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

    `eps` is finite and not negative.

    Example:
    ```mlir
    func.func @rms_norm(%x: tensor<?x4096xbf16>, %scale: tensor<4096xbf16>)
        -> tensor<?x4096xbf16> {
      %y = fusion.rms_norm %x scale(%scale) axis(1) eps(1.0e-6)
          : (tensor<?x4096xbf16>, tensor<4096xbf16>) -> tensor<?x4096xbf16>
      return %y : tensor<?x4096xbf16>
    }
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

def Fusion_GroupNormOp : Fusion_NormBase<"group_norm"> {
  let summary = "layer norm over groups of channels and all of space";
  let description = [{
    The input is [N, C, spatial...]; its C channels fall into `groups` equal
    groups of consecutive channels. Mean and biased variance (two passes) are
    over a group and all spatial dimensions of one sample;
    `y = (x - mean) rsqrt(var + eps) scale[c] + bias[c]`. Computed in f32 for
    f16 and bf16, rounded once. Wu and He, 2018; as
    `torch.nn.functional.group_norm`.

    `groups` is positive and divides C; `scale` and `bias` are [C]; `eps` is finite
    and not negative.

    Example:
    ```mlir
    func.func @group_norm(%x: tensor<2x64x14x14xf16>, %scale: tensor<64xf32>,
                          %bias: tensor<64xf32>) -> tensor<2x64x14x14xf16> {
      %y = fusion.group_norm %x scale(%scale) bias(%bias) groups(8) eps(1.0e-5)
          : (tensor<2x64x14x14xf16>, tensor<64xf32>, tensor<64xf32>)
          -> tensor<2x64x14x14xf16>
      return %y : tensor<2x64x14x14xf16>
    }
    ```
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

    `scale` and `bias` are [C]; `eps` is finite and not negative.

    Example:
    ```mlir
    func.func @instance_norm(%x: tensor<2x64x14x14xf16>, %scale: tensor<64xf32>)
        -> tensor<2x64x14x14xf16> {
      %y = fusion.instance_norm %x scale(%scale) eps(1.0e-5)
          : (tensor<2x64x14x14xf16>, tensor<64xf32>) -> tensor<2x64x14x14xf16>
      return %y : tensor<2x64x14x14xf16>
    }
    ```
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

    `mean`, `variance`, `scale` and `bias` are [C], with C the size along
    `channel_axis`; `eps` is finite and not negative.

    Example:
    ```mlir
    func.func @batch_norm(%x: tensor<2x64x14x14xf16>, %mean: tensor<64xf32>,
                          %variance: tensor<64xf32>, %scale: tensor<64xf32>)
        -> tensor<2x64x14x14xf16> {
      %y = fusion.batch_norm %x, %mean, %variance scale(%scale) channel_axis(1) eps(1.0e-5)
          : (tensor<2x64x14x14xf16>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)
          -> tensor<2x64x14x14xf16>
      return %y : tensor<2x64x14x14xf16>
    }
    ```
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

    The input has rank 2 or more; `scale` and `bias` are [C], with C the size along
    `channel_axis`; `eps` is finite and not negative. Ioffe and Szegedy, 2015.

    Example:
    ```mlir
    func.func @batch_norm_training(%x: tensor<8x64x14x14xf16>)
        -> (tensor<8x64x14x14xf16>, tensor<64xf32>, tensor<64xf32>) {
      %y, %mean, %variance = fusion.batch_norm_training %x channel_axis(1) eps(1.0e-5)
          : (tensor<8x64x14x14xf16>)
          -> (tensor<8x64x14x14xf16>, tensor<64xf32>, tensor<64xf32>)
      return %y, %mean, %variance : tensor<8x64x14x14xf16>, tensor<64xf32>, tensor<64xf32>
    }
    ```
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
