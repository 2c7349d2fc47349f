// A 3x3 convolution (NHWC, padding 1), batch normalisation with the statistics
// of training, and relu:
//   y = relu((conv(x, w) - mean) / sqrt(var + eps) * gamma + beta).
//
// Padding is folded into the loads of the convolution, the normalisation and
// the relu into its store: one kernel.

// RUN: fusion-run %s --device=emulator --random --verify | FileCheck %s
// CHECK: kernels: {{[0-9]+}} unfused -> 1{{$}}
// CHECK: {{^}}verified

#nhwc = affine_map<(n, h, w, c) -> (n, h, w, c)>
#c = affine_map<(n, h, w, c) -> (c)>

func.func @conv_bn_relu(%x: tensor<2x10x12x8xf32>, %w: tensor<3x3x8x16xf32>,
                        %mean: tensor<16xf32>, %deviation: tensor<16xf32>,
                        %gamma: tensor<16xf32>, %beta: tensor<16xf32>)
    -> tensor<2x10x12x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x10x12x16xf32>
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %v: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<2x10x12x8xf32> to tensor<2x12x14x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x10x12x16xf32>)
      -> tensor<2x10x12x16xf32>
  %conv = linalg.conv_2d_nhwc_hwcf
      {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%padded, %w : tensor<2x12x14x8xf32>, tensor<3x3x8x16xf32>)
      outs(%init : tensor<2x10x12x16xf32>) -> tensor<2x10x12x16xf32>

  // The variance arrives as a standard deviation, so that random inputs of
  // either sign are valid: var = deviation^2.
  %normal = linalg.generic
      {indexing_maps = [#nhwc, #c, #c, #c, #c, #nhwc],
       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%conv, %mean, %deviation, %gamma, %beta
          : tensor<2x10x12x16xf32>, tensor<16xf32>, tensor<16xf32>,
            tensor<16xf32>, tensor<16xf32>)
      outs(%empty : tensor<2x10x12x16xf32>) {
  ^bb0(%v: f32, %m: f32, %s: f32, %g: f32, %b: f32, %out: f32):
    %eps = arith.constant 1.0e-3 : f32
    %var = arith.mulf %s, %s : f32
    %guarded = arith.addf %var, %eps : f32
    %inverse = math.rsqrt %guarded : f32
    %centred = arith.subf %v, %m : f32
    %unit = arith.mulf %centred, %inverse : f32
    %scaled = arith.mulf %unit, %g : f32
    %shifted = arith.addf %scaled, %b : f32
    linalg.yield %shifted : f32
  } -> tensor<2x10x12x16xf32>
  %relu = linalg.generic
      {indexing_maps = [#nhwc, #nhwc],
       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%normal : tensor<2x10x12x16xf32>)
      outs(%empty : tensor<2x10x12x16xf32>) {
  ^bb0(%v: f32, %out: f32):
    %max = arith.maximumf %v, %zero : f32
    linalg.yield %max : f32
  } -> tensor<2x10x12x16xf32>
  return %relu : tensor<2x10x12x16xf32>
}
