//===- FusionLossOps.td - Losses ---------------------------*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines cross-entropy and its form with the last linear layer
// inside.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_FUSION_FUSIONLOSSOPS_TD
#define FUSION_DIALECT_FUSION_FUSIONLOSSOPS_TD

include "fusion/Dialect/Fusion/FusionOpBase.td"

def Fusion_LossReduction
    : I32EnumAttr<"LossReduction", "what is returned of the losses", [
        I32EnumAttrCase<"None", 0, "none">,
        I32EnumAttrCase<"Mean", 1, "mean">,
        I32EnumAttrCase<"Sum", 2, "sum">]> {
  let cppNamespace = "::mlir::fusion";
}

def Fusion_CrossEntropyOp
    : Fusion_ComputeOp<"cross_entropy", [InferTypeOpAdaptor]> {
  let summary = "negative log-likelihood of class indices under a softmax";
  let description = [{
    The classes lie along `axis` of `input`; `target` has the other dimensions,
    in order. Per element, with C classes, `e = label_smoothing`:

    `lse = m + log(sum_c exp(x_c - m))`, `m = max_c x_c`,
    `loss = (1 - e) (lse - x_t) + e (lse - sum_c x_c / C)`, without the second
    term where `e = 0`.

    Where `t == ignore_index` the loss is 0 and does not count. A target outside
    [0, C) that is not ignored gives NaN. `reduction`: `none` returns the losses
    in target's shape; `sum` their sum; `mean` the sum over the number of
    targets not ignored (NaN when there is none). Computed in f32 for f16 and
    bf16; the result has the input's element type. As
    `torch.nn.functional.cross_entropy`.

    `label_smoothing` is from 0 to 1; `axis` is a dimension of `input`.

    Example:
    ```mlir
    func.func @loss(%logits: tensor<?x1000xbf16>, %target: tensor<?xi64>) -> tensor<bf16> {
      %l = fusion.cross_entropy mean %logits, %target axis(1) {ignore_index = -100 : i64}
          : (tensor<?x1000xbf16>, tensor<?xi64>) -> tensor<bf16>
      return %l : tensor<bf16>
    }
    ```
  }];
  let arguments = (ins
    Fusion_FloatTensor:$input, Fusion_IndexTensor:$target,
    Fusion_LossReduction:$reduction, I64Attr:$axis,
    OptionalAttr<I64Attr>:$ignore_index,
    DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing);
  let results = (outs Fusion_FloatTensor:$result);
  let assemblyFormat = [{
    $reduction $input `,` $target `axis` `(` $axis `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Fusion_LinearCrossEntropyOp
    : Fusion_ComputeOp<"linear_cross_entropy", [InferTypeOpAdaptor]> {
  let summary = "cross-entropy of a linear layer's output";
  let description = [{
    `logits[n, c] = sum_k input[n, k] weight[c, k] (+ bias[c])`, in f32 (f64 for
    f64) and never rounded; then `fusion.cross_entropy` of the logits with the
    classes along dimension 1. `input` is [N, K], `weight` [C, K], `bias` [C],
    `target` [N]. The result has the input's element type.

    `input` and `weight` have one element type; `label_smoothing` is from 0 to 1.

    Example:
    ```mlir
    // The logits, [N, 1000], are never in memory.
    func.func @loss(%x: tensor<?x64xbf16>, %w: tensor<1000x64xbf16>, %target: tensor<?xi64>)
        -> tensor<bf16> {
      %l = fusion.linear_cross_entropy mean %x, %w, %target
          : (tensor<?x64xbf16>, tensor<1000x64xbf16>, tensor<?xi64>) -> tensor<bf16>
      return %l : tensor<bf16>
    }
    ```
  }];
  let arguments = (ins
    Fusion_FloatTensor:$input, Fusion_FloatTensor:$weight,
    Fusion_IndexTensor:$target, Optional<Fusion_FloatTensor>:$bias,
    Fusion_LossReduction:$reduction, OptionalAttr<I64Attr>:$ignore_index,
    DefaultValuedAttr<F64Attr, "0.0">:$label_smoothing);
  let results = (outs Fusion_FloatTensor:$result);
  let assemblyFormat = [{
    $reduction $input `,` $weight `,` $target (`bias` `(` $bias^ `)`)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // FUSION_DIALECT_FUSION_FUSIONLOSSOPS_TD
