//===- FusionQuantizationOps.td - Quantisation -------------*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines quantisation and dequantisation.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_FUSION_FUSIONQUANTIZATIONOPS_TD
#define FUSION_DIALECT_FUSION_FUSIONQUANTIZATIONOPS_TD

include "fusion/Dialect/Fusion/FusionOpBase.td"

def Fusion_QuantFormat
    : I32EnumAttr<"QuantFormat", "how a quantised number is stored", [
        I32EnumAttrCase<"Int8", 0, "int8">,
        I32EnumAttrCase<"UInt8", 1, "uint8">,
        I32EnumAttrCase<"Int4", 2, "int4">,
        I32EnumAttrCase<"UInt4", 3, "uint4">,
        I32EnumAttrCase<"Float8", 4, "float8">]> {
  let cppNamespace = "::mlir::fusion";
}

def Fusion_StorageTensor : RankedTensorOf<[I8, F8E4M3FN, F8E5M2]>;

defvar Fusion_QuantDocs = [{
    Formats: `int8` [-128, 127] and `uint8` [0, 255] in i8; `int4` [-8, 7] and
    `uint4` [0, 15], two per i8 along the last dimension, the element with the
    even index in the low half, so that the stored tensor's last dimension is
    half of the real tensor's, which is even; `float8`, whose kind is the stored
    element type, f8E4M3FN or f8E5M2 (no zero point).

    Scale and zero point have one shape. It says what they belong to:

    - rank 0: the whole tensor;
    - rank 1: `axis` is given and `scale[c]` belongs to index c along it;
    - the tensor's rank: groups of consecutive elements along `axis`; the scale
      has the tensor's sizes, but n / `group_size` along the axis.
}];

def Fusion_QuantizeOp : Fusion_ComputeOp<"quantize"> {
  let summary = "numbers to few-bit integers or floats";
  let description = !strconcat([{
    `q = clamp(round(x / scale) + zero_point, lo, hi)`, rounding to nearest,
    ties to even; NaN gives lo. The quotient is rounded to f32 (f64 where x or
    the scale is f64) before that. For `float8`, x / scale is clamped to the
    format's largest finite numbers and rounded to nearest even; NaN stays NaN.
    As ONNX QuantizeLinear.
  }], Fusion_QuantDocs, [{
    Example:
    ```mlir
    // One scale for each channel.
    func.func @quantize(%x: tensor<?x64xf32>, %scale: tensor<64xf32>) -> tensor<?x64xi8> {
      %q = fusion.quantize int8 %x scale(%scale) {axis = 1 : i64}
          : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xi8>
      return %q : tensor<?x64xi8>
    }
    ```
  }]);
  let arguments = (ins
    Fusion_FloatTensor:$input, Fusion_FloatTensor:$scale,
    Optional<RankedTensorOf<[I8, I32]>>:$zero_point,
    Fusion_QuantFormat:$format, OptionalAttr<I64Attr>:$axis,
    OptionalAttr<I64Attr>:$group_size);
  let results = (outs Fusion_StorageTensor:$result);
  let assemblyFormat = [{
    $format $input `scale` `(` $scale `)`
    (`zero_point` `(` $zero_point^ `)`)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Fusion_DequantizeOp : Fusion_ComputeOp<"dequantize"> {
  let summary = "few-bit integers or floats to numbers";
  let description = !strconcat([{
    `y = (q - zero_point) scale`, computed in f32 (f64 for f64 results) and
    rounded once. As ONNX DequantizeLinear.
  }], Fusion_QuantDocs, [{
    Example:
    ```mlir
    // Weights of four bits, with a scale for 32 neighbours each.
    func.func @dequantize(%q: tensor<64x64xi8>, %scale: tensor<64x4xf16>) -> tensor<64x128xf16> {
      %y = fusion.dequantize int4 %q scale(%scale) {axis = 1 : i64, group_size = 32 : i64}
          : (tensor<64x64xi8>, tensor<64x4xf16>) -> tensor<64x128xf16>
      return %y : tensor<64x128xf16>
    }
    ```
  }]);
  let arguments = (ins
    Fusion_StorageTensor:$input, Fusion_FloatTensor:$scale,
    Optional<RankedTensorOf<[I8, I32]>>:$zero_point,
    Fusion_QuantFormat:$format, OptionalAttr<I64Attr>:$axis,
    OptionalAttr<I64Attr>:$group_size);
  let results = (outs Fusion_FloatTensor:$result);
  let assemblyFormat = [{
    $format $input `scale` `(` $scale `)`
    (`zero_point` `(` $zero_point^ `)`)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Fusion_Int4BytesOp : Fusion_Op<"int4_bytes", [Pure]> {
  let summary = "the bytes in which elements of four bits are stored";
  let description = [{
    A view of the memory of `input`: two elements a byte, in row-major order,
    the low half first. A half that no element has is not specified. The input
    phase computes on bytes and leaves tensors of i4 to arguments and results.

    The result has half as many bytes as there are elements, rounded up.

    Example:
    ```mlir
    func.func @bytes(%x: tensor<3x5xi4>) -> tensor<8xi8> {
      %b = fusion.int4_bytes %x : tensor<3x5xi4> -> tensor<8xi8>
      return %b : tensor<8xi8>
    }
    ```
  }];
  let arguments = (ins RankedTensorOf<[I<4>]>:$input);
  let results = (outs 1DTensorOf<[I8]>:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

def Fusion_Int4ElementsOp : Fusion_Op<"int4_elements", [Pure]> {
  let summary = "elements of four bits that bytes store";
  let description = [{
    The inverse of `fusion.int4_bytes`, a view as well. `sizes` are the dynamic
    sizes of the result.

    Example:
    ```mlir
    func.func @elements(%b: tensor<?xi8>, %n: index) -> tensor<?x4xi4> {
      %y = fusion.int4_elements %b[%n] : tensor<?xi8> -> tensor<?x4xi4>
      return %y : tensor<?x4xi4>
    }
    ```
  }];
  let arguments = (ins 1DTensorOf<[I8]>:$bytes, Variadic<Index>:$sizes);
  let results = (outs RankedTensorOf<[I<4>]>:$result);
  let assemblyFormat = [{
    $bytes `[` $sizes `]` attr-dict `:` type($bytes) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // FUSION_DIALECT_FUSION_FUSIONQUANTIZATIONOPS_TD
