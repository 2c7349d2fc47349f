//===- FusionAttentionOps.td - Attention -------------------*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines scaled dot-product attention.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_FUSION_FUSIONATTENTIONOPS_TD
#define FUSION_DIALECT_FUSION_FUSIONATTENTIONOPS_TD

include "fusion/Dialect/Fusion/FusionOpBase.td"

def Fusion_CausalMask
    : I32EnumAttr<"CausalMask", "where the diagonal of a causal mask ends", [
        I32EnumAttrCase<"TopLeft", 0, "top_left">,
        I32EnumAttrCase<"BottomRight", 1, "bottom_right">]> {
  let cppNamespace = "::mlir::fusion";
}

def Fusion_AttentionOp
    : Fusion_ComputeOp<"attention",
                       [AttrSizedOperandSegments, InferTypeOpAdaptor,
                        Fusion_AdaptTile]> {
  let summary = "scaled dot-product attention";
  let description = [{
    `query` is [batch..., H, S, D], `key` [batch..., G, T, D], `value`
    [batch..., G, T, E] and the result [batch..., H, S, E], of the query's
    element type. There are zero or more batch dimensions. H is a multiple of G:
    query head h uses key and value head h / (H / G) (grouped queries); where
    either is dynamic, H = G is required. With g = h / (H / G), in f32 (f64 for
    f64):

    1. `s[h,i,j] = scale sum_d query[h,i,d] key[g,j,d]`, scale by default
       `1 / sqrt(D)`;
    2. `s += bias[h,i,j]`, then `s = score_mod(s, batch..., h, i, j)`;
    3. `s = -inf` where `mask` is false, and where the causal mask forbids j:
       `j > i` for `top_left`, `j > i + T - S` for `bottom_right`;
    4. `m[h,i] = max_j s`, `e[h,i,j] = exp(s - m)`, `l[h,i] = sum_j e`;
    5. dropout of e, by index as in `fusion.dropout` (l is not affected);
    6. e is rounded to the value's element type, as tensor cores need it;
    7. `result[h,i,c] = (sum_j e[h,i,j] value[g,j,c]) / l[h,i]`, rounded once.

    A query that may attend to nothing gives NaN. Where e is 0 and the value is
    infinite or NaN, the term of step 7 may be left out. `mask` (i1) and `bias`
    have at most the rank of the scores, aligned to the right; a dimension of
    size 1 is broadcast. The region takes the score (in the compute type) and one index
    per dimension of the scores, and may use values from outside.

    Vaswani et al., 2017; Ainslie et al., 2023 (grouped queries); steps 4 and 7
    divide once, after the product (Dao et al., 2022).

    Refused are sizes that do not agree, element types of `query` and `key` that
    differ, a `dropout` outside [0, 1] or without `seed`, and a `scale` that is not
    finite.

    Example:
    ```mlir
    func.func @attention(%q: tensor<2x32x?x64xbf16>, %k: tensor<2x8x?x64xbf16>,
                         %v: tensor<2x8x?x64xbf16>) -> tensor<2x32x?x64xbf16> {
      %o = fusion.attention %q, %k, %v causal(top_left) {scale = 0.125 : f64}
          : (tensor<2x32x?x64xbf16>, tensor<2x8x?x64xbf16>,
             tensor<2x8x?x64xbf16>) -> tensor<2x32x?x64xbf16>
      return %o : tensor<2x32x?x64xbf16>
    }

    // The scores are bent by tanh before the softmax.
    func.func @soft_cap(%q: tensor<8x128x64xf16>, %k: tensor<8x128x64xf16>,
                        %v: tensor<8x128x64xf16>) -> tensor<8x128x64xf16> {
      %cap = arith.constant 30.0 : f32
      %o = fusion.attention %q, %k, %v
          : (tensor<8x128x64xf16>, tensor<8x128x64xf16>, tensor<8x128x64xf16>)
          -> tensor<8x128x64xf16> {
      ^bb0(%s: f32, %head: index, %i: index, %j: index):
        %0 = arith.divf %s, %cap : f32
        %1 = math.tanh %0 : f32
        %2 = arith.mulf %1, %cap : f32
        fusion.yield %2 : f32
      }
      return %o : tensor<8x128x64xf16>
    }
    ```
  }];
  let arguments = (ins
    Fusion_FloatTensor:$query, Fusion_FloatTensor:$key,
    Fusion_FloatTensor:$value, Optional<RankedTensorOf<[I1]>>:$mask,
    Optional<Fusion_FloatTensor>:$bias, Optional<I64>:$seed,
    OptionalAttr<Fusion_CausalMask>:$causal, OptionalAttr<F64Attr>:$scale,
    DefaultValuedAttr<F64Attr, "0.0">:$dropout,
    DefaultValuedAttr<I64Attr, "0">:$op_id);
  let results = (outs Fusion_FloatTensor:$result);
  let regions = (region AnyRegion:$score_mod);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` `(` $mask^ `)`)? (`bias` `(` $bias^ `)`)?
    (`seed` `(` $seed^ `)`)? (`causal` `(` $causal^ `)`)? attr-dict
    `:` functional-type(operands, results) ($score_mod^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // FUSION_DIALECT_FUSION_FUSIONATTENTIONOPS_TD
