//===- FusionPointwiseOps.td - Pointwise ops ---------------*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines activations, rotary embedding and dropout.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_FUSION_FUSIONPOINTWISEOPS_TD
#define FUSION_DIALECT_FUSION_FUSIONPOINTWISEOPS_TD

include "fusion/Dialect/Fusion/FusionOpBase.td"

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

defvar Fusion_ActivationDocs = [{
    One element from one element, of tensors of any shape, known or not: the
    result has the input's type. f16 and bf16 are computed in f32 and rounded
    once (docs/Numerics.md).
}];

/// An elementwise function of one float tensor. f16 and bf16 are computed in
/// f32 and rounded once, at the result.
class Fusion_ActivationOp<string mnemonic, list<Trait> traits = []>
    : Fusion_SameShapeOp<mnemonic, traits> {
  let results = (outs Fusion_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let extraClassDeclaration = [{
    /// The function itself: the value for `x`, a scalar of compute type.
    ::mlir::Value buildScalar(::mlir::OpBuilder &builder,
                              ::mlir::Location loc, ::mlir::Value x);
  }];
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::reifyResultShapes(
        ::mlir::OpBuilder &builder,
        ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      shapes.push_back(
          ::mlir::tensor::getMixedSizes(builder, getLoc(), getInput()));
      return ::mlir::success();
    }
    ::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>
    $cppClass::decompose(::mlir::OpBuilder &builder) {
      return ::mlir::fusion::decomposeActivation(
          builder, getOperation(),
          [&](::mlir::OpBuilder &b, ::mlir::Location loc, ::mlir::Value x) {
            return buildScalar(b, loc, x);
          });
    }
    ::mlir::fusion::TileMap $cppClass::getTileMap() {
      return ::mlir::fusion::TileMap::overFirstOperand(getOperation());
    }
  }];
}

class Fusion_PlainActivationOp<string mnemonic, list<Trait> traits = []>
    : Fusion_ActivationOp<mnemonic, traits> {
  let arguments = (ins Fusion_FloatTensor:$input);
}

def Fusion_ReluOp : Fusion_PlainActivationOp<"relu"> {
  let summary = "max(x, 0)";
  let description = !strconcat([{
    `y = max(x, 0)`; NaN stays NaN. As `torch.relu`.
  }], Fusion_ActivationDocs, [{
    Example:
    ```mlir
    func.func @relu(%x: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
      %y = fusion.relu %x : tensor<?x4096xbf16>
      return %y : tensor<?x4096xbf16>
    }
    ```
  }]);
  let hasFolder = 1;
}

def Fusion_Relu6Op : Fusion_PlainActivationOp<"relu6"> {
  let summary = "min(max(x, 0), 6)";
  let description = !strconcat([{
    `y = min(max(x, 0), 6)`; NaN stays NaN. As `torch.nn.functional.relu6`.
  }], Fusion_ActivationDocs, [{
    Example:
    ```mlir
    func.func @relu6(%x: tensor<8x32x14x14xf16>) -> tensor<8x32x14x14xf16> {
      %y = fusion.relu6 %x : tensor<8x32x14x14xf16>
      return %y : tensor<8x32x14x14xf16>
    }
    ```
  }]);
  let hasFolder = 1;
}

def Fusion_SigmoidOp : Fusion_PlainActivationOp<"sigmoid"> {
  let summary = "1 / (1 + exp(-x))";
  let description = !strconcat([{
    `y = 1 / (1 + exp(-x))`. As `torch.sigmoid`.
  }], Fusion_ActivationDocs, [{
    Example:
    ```mlir
    func.func @sigmoid(%x: tensor<128xf32>) -> tensor<128xf32> {
      %y = fusion.sigmoid %x : tensor<128xf32>
      return %y : tensor<128xf32>
    }
    ```
  }]);
}

def Fusion_LogSigmoidOp : Fusion_PlainActivationOp<"log_sigmoid"> {
  let summary = "log(1 / (1 + exp(-x)))";
  let description = !strconcat([{
    `y = min(x, 0) - log1p(exp(-|x|))`, the form that does not overflow. As
    `torch.nn.functional.logsigmoid`.
  }], Fusion_ActivationDocs, [{
    Example:
    ```mlir
    func.func @log_sigmoid(%x: tensor<128xf32>) -> tensor<128xf32> {
      %y = fusion.log_sigmoid %x : tensor<128xf32>
      return %y : tensor<128xf32>
    }
    ```
  }]);
}

def Fusion_SiluOp : Fusion_PlainActivationOp<"silu"> {
  let summary = "x * sigmoid(x)";
  let description = !strconcat([{
    `y = x / (1 + exp(-x))`, also called swish. As `torch.nn.functional.silu`.
  }], Fusion_ActivationDocs, [{
    Example:
    ```mlir
    // The gate of a feed-forward layer.
    func.func @gate(%x: tensor<?x96xbf16>, %y: tensor<?x96xbf16>) -> tensor<?x96xbf16> {
      %silu = fusion.silu %x : tensor<?x96xbf16>
      %gated = arith.mulf %silu, %y : tensor<?x96xbf16>
      return %gated : tensor<?x96xbf16>
    }
    ```
  }]);
}

def Fusion_MishOp : Fusion_PlainActivationOp<"mish"> {
  let summary = "x * tanh(softplus(x))";
  let description = !strconcat([{
    `y = x tanh(log(1 + exp(x)))` (Misra, 2019). As
    `torch.nn.functional.mish`. Computed as `x n / (n + 2)` with
    `n = exp(x) (exp(x) + 2)`, which is the same and has one exponential.
  }], Fusion_ActivationDocs, [{
    Example:
    ```mlir
    func.func @mish(%x: tensor<64x96xf16>) -> tensor<64x96xf16> {
      %y = fusion.mish %x : tensor<64x96xf16>
      return %y : tensor<64x96xf16>
    }
    ```
  }]);
}

def Fusion_HardSwishOp : Fusion_PlainActivationOp<"hard_swish"> {
  let summary = "x * min(max(x + 3, 0), 6) / 6";
  let description = !strconcat([{
    `y = x min(max(x + 3, 0), 6) / 6` (Howard et al., 2019). As
    `torch.nn.functional.hardswish`.
  }], Fusion_ActivationDocs, [{
    Example:
    ```mlir
    func.func @hard_swish(%x: tensor<64x96xf16>) -> tensor<64x96xf16> {
      %y = fusion.hard_swish %x : tensor<64x96xf16>
      return %y : tensor<64x96xf16>
    }
    ```
  }]);
}

def Fusion_HardSigmoidOp : Fusion_ActivationOp<"hard_sigmoid"> {
  let summary = "min(max(alpha * x + beta, 0), 1)";
  let description = !strconcat([{
    `y = min(max(alpha x + beta, 0), 1)`. The defaults, 1/6 and 1/2, are those
    of `torch.nn.functional.hardsigmoid`; ONNX has alpha = 0.2.
  }], Fusion_ActivationDocs, [{
    Example:
    ```mlir
    // ONNX HardSigmoid with its default attributes.
    func.func @hard_sigmoid(%x: tensor<64x96xf32>) -> tensor<64x96xf32> {
      %y = fusion.hard_sigmoid %x {alpha = 0.2 : f64} : tensor<64x96xf32>
      return %y : tensor<64x96xf32>
    }
    ```
  }]);
  let arguments = (ins
    Fusion_FloatTensor:$input,
    DefaultValuedAttr<F64Attr, "1.0 / 6.0">:$alpha,
    DefaultValuedAttr<F64Attr, "0.5">:$beta);
}

def Fusion_GeluApproximation
    : I32EnumAttr<"GeluApproximation", "formula of gelu", [
        I32EnumAttrCase<"Erf", 0, "erf">,
        I32EnumAttrCase<"Tanh", 1, "tanh">]> {
  let cppNamespace = "::mlir::fusion";
}

def Fusion_GeluOp : Fusion_ActivationOp<"gelu"> {
  let summary = "Gaussian error linear unit";
  let description = !strconcat([{
    - `erf` (default): `y = x/2 (1 + erf(x / sqrt(2)))`;
    - `tanh`: `y = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))`.

    Hendrycks and Gimpel, 2016. As `torch.nn.functional.gelu`.
  }], Fusion_ActivationDocs, [{
    Example:
    ```mlir
    func.func @gelu(%x: tensor<?x4096xbf16>) -> (tensor<?x4096xbf16>, tensor<?x4096xbf16>) {
      %exact = fusion.gelu %x : tensor<?x4096xbf16>
      %approximate = fusion.gelu tanh %x : tensor<?x4096xbf16>
      return %exact, %approximate : tensor<?x4096xbf16>, tensor<?x4096xbf16>
    }
    ```
  }]);
  let arguments = (ins
    Fusion_FloatTensor:$input,
    DefaultValuedAttr<Fusion_GeluApproximation,
                      "::mlir::fusion::GeluApproximation::Erf">:$approximate);
  let assemblyFormat = "($approximate^)? $input attr-dict `:` type($input)";
}

def Fusion_SoftplusOp : Fusion_ActivationOp<"softplus"> {
  let summary = "log(1 + exp(beta * x)) / beta";
  let description = !strconcat([{
    `y = log(1 + exp(beta x)) / beta`, and `y = x` where `beta x > threshold`.
    As `torch.nn.functional.softplus`. `beta` is not zero.
  }], Fusion_ActivationDocs, [{
    An op whose `beta` is zero, infinite or NaN is refused.

    Example:
    ```mlir
    func.func @softplus(%x: tensor<64x96xf32>) -> tensor<64x96xf32> {
      %y = fusion.softplus %x {beta = 2.0 : f64, threshold = 10.0 : f64} : tensor<64x96xf32>
      return %y : tensor<64x96xf32>
    }
    ```
  }]);
  let arguments = (ins
    Fusion_FloatTensor:$input,
    DefaultValuedAttr<F64Attr, "1.0">:$beta,
    DefaultValuedAttr<F64Attr, "20.0">:$threshold);
  let hasVerifier = 1;
}

def Fusion_EluOp : Fusion_ActivationOp<"elu"> {
  let summary = "x where x > 0, alpha * (exp(x) - 1) elsewhere";
  let description = !strconcat([{
    `y = x` where `x > 0`, `y = alpha expm1(x)` elsewhere (Clevert et al.,
    2015). As `torch.nn.functional.elu`.
  }], Fusion_ActivationDocs, [{
    Example:
    ```mlir
    func.func @elu(%x: tensor<64x96xf32>) -> tensor<64x96xf32> {
      %y = fusion.elu %x {alpha = 0.5 : f64} : tensor<64x96xf32>
      return %y : tensor<64x96xf32>
    }
    ```
  }]);
  let arguments = (ins
    Fusion_FloatTensor:$input,
    DefaultValuedAttr<F64Attr, "1.0">:$alpha);
}

def Fusion_SeluOp : Fusion_PlainActivationOp<"selu"> {
  let summary = "scaled elu with fixed constants";
  let description = !strconcat([{
    `y = scale (max(x, 0) + min(alpha expm1(x), 0))` with
    `alpha = 1.6732632423543772`, `scale = 1.0507009873554805` (Klambauer et
    al., 2017). As `torch.nn.functional.selu`.
  }], Fusion_ActivationDocs, [{
    Example:
    ```mlir
    func.func @selu(%x: tensor<64x96xf32>) -> tensor<64x96xf32> {
      %y = fusion.selu %x : tensor<64x96xf32>
      return %y : tensor<64x96xf32>
    }
    ```
  }]);
}

def Fusion_LeakyReluOp : Fusion_ActivationOp<"leaky_relu"> {
  let summary = "x where x > 0, slope * x elsewhere";
  let description = !strconcat([{
    `y = x` where `x > 0`, `y = slope x` elsewhere. As
    `torch.nn.functional.leaky_relu`.
  }], Fusion_ActivationDocs, [{
    Example:
    ```mlir
    func.func @leaky_relu(%x: tensor<64x96xf32>) -> tensor<64x96xf32> {
      %y = fusion.leaky_relu %x {slope = 0.2 : f64} : tensor<64x96xf32>
      return %y : tensor<64x96xf32>
    }
    ```
  }]);
  let arguments = (ins
    Fusion_FloatTensor:$input,
    DefaultValuedAttr<F64Attr, "0.01">:$slope);
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Rotary embedding and dropout
//===----------------------------------------------------------------------===//

def Fusion_RopeOp : Fusion_SameShapeOp<"rope"> {
  let summary = "rotary position embedding";
  let description = [{
    Rotates pairs of the last dimension, of size D, by an angle that depends on
    the position along `seq_axis`. `cos` and `sin` are [S, D/2], or
    [B, S, D/2] where B is dimension 0 of the input. With
    `c = cos[s, i]`, `t = sin[s, i]`, for `i` in [0, D/2):

    - rotate-half (default), pairs (i, i + D/2):
      `y[i] = x[i] c - x[i + D/2] t`, `y[i + D/2] = x[i + D/2] c + x[i] t`;
    - `interleaved`, pairs (2i, 2i + 1):
      `y[2i] = x[2i] c - x[2i + 1] t`, `y[2i + 1] = x[2i + 1] c + x[2i] t`.

    Su et al., 2021. Computed in f32 for f16 and bf16, rounded once.

    Refused are an input of rank less than 2, an odd D, a `seq_axis` that is no
    dimension before the last, and `cos` and `sin` of other sizes.

    Example:
    ```mlir
    func.func @rope(%x: tensor<2x8x?x64xbf16>, %cos: tensor<?x32xf32>, %sin: tensor<?x32xf32>)
        -> tensor<2x8x?x64xbf16> {
      %y = fusion.rope %x, %cos, %sin seq_axis(2)
          : tensor<2x8x?x64xbf16>, tensor<?x32xf32>, tensor<?x32xf32>
      return %y : tensor<2x8x?x64xbf16>
    }
    ```
  }];
  let arguments = (ins
    Fusion_FloatTensor:$input, Fusion_FloatTensor:$cos, Fusion_FloatTensor:$sin,
    I64Attr:$seq_axis, UnitAttr:$interleaved);
  let results = (outs Fusion_FloatTensor:$result);
  let assemblyFormat = [{
    (`interleaved` $interleaved^)? $input `,` $cos `,` $sin
    `seq_axis` `(` $seq_axis `)` attr-dict `:` type($input) `,` type($cos) `,`
    type($sin)
  }];
  let hasVerifier = 1;
}

def Fusion_DropoutOp : Fusion_SameShapeOp<"dropout"> {
  let summary = "zeroes elements at random, reproducibly";
  let description = [{
    `y = keep ? x / (1 - p) : 0`, with `keep` drawn by Philox4x32-7 (Salmon et
    al., 2011) from the seed, the op's id and the element's row-major index n
    alone. The mask is therefore the same however the op is fused, tiled or
    recomputed, and the gradient of dropout is dropout with the same seed and
    id.

    Key: the low and high words of `seed`. Counter: the low and high words of
    `n / 8`, then those of `op_id`. Of the 128 bits drawn, from the highest of
    the first word to the lowest of the last and on with the highest of the
    first, element n takes the 24 from bit `16 (n mod 8)` on; it is kept where
    they are a number of at least `ceil(p 2^24)`. Neighbours have 8 bits in
    common, which seldom matter (docs/Rationale/Random.md).

    `probability` is from 0 to 1.

    Example:
    ```mlir
    func.func @dropout(%x: tensor<1024xf32>, %seed: i64) -> tensor<1024xf32> {
      %y = fusion.dropout %x, %seed probability(0.1) op_id(7) : tensor<1024xf32>
      return %y : tensor<1024xf32>
    }
    ```
  }];
  let arguments = (ins
    Fusion_FloatTensor:$input, I64:$seed, F64Attr:$probability,
    I64Attr:$op_id);
  let results = (outs Fusion_FloatTensor:$result);
  let assemblyFormat = [{
    $input `,` $seed `probability` `(` $probability `)` `op_id` `(` $op_id `)`
    attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // FUSION_DIALECT_FUSION_FUSIONPOINTWISEOPS_TD
