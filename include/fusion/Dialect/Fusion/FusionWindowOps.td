//===- FusionWindowOps.td - Convolution and pooling --------*- tablegen -*-===//
//
// Part of the Fusion project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This file defines the ops that slide a window over space.
//
//===----------------------------------------------------------------------===//

#ifndef FUSION_DIALECT_FUSION_FUSIONWINDOWOPS_TD
#define FUSION_DIALECT_FUSION_FUSIONWINDOWOPS_TD

include "fusion/Dialect/Fusion/FusionOpBase.td"

def Fusion_SpatialLayout
    : I32EnumAttr<"SpatialLayout", "where the channels are", [
        I32EnumAttrCase<"ChannelsFirst", 0, "nchw">,
        I32EnumAttrCase<"ChannelsLast", 1, "nhwc">]> {
  let cppNamespace = "::mlir::fusion";
}

def Fusion_ConvTensor : RankedTensorOf<[F16, BF16, F32, F64, I8]>;
def Fusion_ConvBiasTensor : RankedTensorOf<[F16, BF16, F32, F64, I32]>;
def Fusion_ConvResultTensor : RankedTensorOf<[F16, BF16, F32, F64, I32]>;
def Fusion_PoolTensor : RankedTensorOf<[F16, BF16, F32, F64, I8, I32, I64]>;

def Fusion_ConvOp
    : Fusion_ComputeOp<"conv", [InferTypeOpAdaptor]> {
  let summary = "convolution in any number of spatial dimensions";
  let description = [{
    The input is [N, C, space...] (`nchw`) or [N, space..., C] (`nhwc`), with
    one to three spatial dimensions. The filter is [F, C / groups, window...]
    (`nchw`) or [F, window..., C / groups] (`nhwc`), `bias` is [F]. Channel f
    belongs to group g = f / (F / groups). Per spatial dimension, with stride s,
    dilation d, window k and padding (lo, hi) of zeros:

    `y[n,f,o] = bias[f] + sum_{c,w} x[n, g C/groups + c, o s + w d - lo]
    filter[f,c,w]`, `O = (I + lo + hi - d (k - 1) - 1) / s + 1`, rounded down.

    `transposed`: the gradient of the above with respect to its input. The
    filter is [C, F / groups, window...] (`nchw`) or [C, window..., F / groups]
    (`nhwc`), its window is static, and
    `y[n,f,o] = bias[f] + sum_{c,i,w : i s + w d - lo = o} x[n,c,i] filter[c,f,w]`,
    `O = (I - 1) s + d (k - 1) + 1 - lo - hi + output_padding`.

    Attributes not given are: strides, dilations 1, padding, output_padding 0.
    `padding` is lo, hi of the first spatial dimension, then of the next.
    f16 and bf16 accumulate in f32 and are rounded once, after the bias; i8
    accumulates in i32, which is the result type. As `torch.nn.functional.conv1d`
    to `conv_transpose3d`.

    Refused are sizes that do not agree, `groups` that do not divide the channels of
    both sides, a window larger than the padded input, an `output_padding` of a
    convolution that is not transposed, and a bias of another type than results
    have before they are rounded or after.

    Example:
    ```mlir
    func.func @conv(%x: tensor<?x3x32x32xf32>, %w: tensor<16x3x3x3xf32>, %b: tensor<16xf32>)
        -> tensor<?x16x16x16xf32> {
      %y = fusion.conv nchw %x, %w bias(%b)
          {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>}
          : (tensor<?x3x32x32xf32>, tensor<16x3x3x3xf32>, tensor<16xf32>)
          -> tensor<?x16x16x16xf32>
      return %y : tensor<?x16x16x16xf32>
    }
    ```
  }];
  let arguments = (ins
    Fusion_ConvTensor:$input, Fusion_ConvTensor:$filter,
    Optional<Fusion_ConvBiasTensor>:$bias, Fusion_SpatialLayout:$layout,
    OptionalAttr<DenseI64ArrayAttr>:$strides,
    OptionalAttr<DenseI64ArrayAttr>:$padding,
    OptionalAttr<DenseI64ArrayAttr>:$dilations,
    OptionalAttr<DenseI64ArrayAttr>:$output_padding,
    DefaultValuedAttr<I64Attr, "1">:$groups, UnitAttr:$transposed);
  let results = (outs Fusion_ConvResultTensor:$result);
  let assemblyFormat = [{
    $layout (`transposed` $transposed^)? $input `,` $filter
    (`bias` `(` $bias^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Fusion_PoolKind : I32EnumAttr<"PoolKind", "how a window is combined", [
    I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Avg", 1, "avg">]> {
  let cppNamespace = "::mlir::fusion";
}

def Fusion_PoolOp : Fusion_ComputeOp<"pool", [InferTypeOpAdaptor]> {
  let summary = "maximum or mean over a sliding window";
  let description = [{
    Layouts and sizes as in `fusion.conv`, with window, strides (by default 1),
    padding (0) and dilations (1) per spatial dimension.

    - `max`: the largest element of the window; padding never wins; a NaN does.
    - `avg`, floats only: the sum over the window, in f32 for f16 and bf16,
      divided by the number of its elements that lie in the input, or, with
      `count_include_pad`, by the size of the window; rounded once.

    Padding is smaller than the dilated window. A dilated window can still miss
    the input altogether; it gives -inf (the smallest integer) or NaN (0 with
    `count_include_pad`).

    As `torch.nn.functional.max_pool2d` and `avg_pool2d`; a window that
    `ceil_mode` adds there is expressed by more padding at the end.

    Example:
    ```mlir
    func.func @pool(%x: tensor<2x16x32x32xf16>) -> tensor<2x16x16x16xf16> {
      %y = fusion.pool max nchw %x window [3, 3]
          {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>}
          : (tensor<2x16x32x32xf16>) -> tensor<2x16x16x16xf16>
      return %y : tensor<2x16x16x16xf16>
    }
    ```
  }];
  let arguments = (ins
    Fusion_PoolTensor:$input, Fusion_PoolKind:$kind,
    Fusion_SpatialLayout:$layout, DenseI64ArrayAttr:$window,
    OptionalAttr<DenseI64ArrayAttr>:$strides,
    OptionalAttr<DenseI64ArrayAttr>:$padding,
    OptionalAttr<DenseI64ArrayAttr>:$dilations,
    UnitAttr:$count_include_pad);
  let results = (outs Fusion_PoolTensor:$result);
  let assemblyFormat = [{
    $kind $layout $input `window` $window attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // FUSION_DIALECT_FUSION_FUSIONWINDOWOPS_TD
