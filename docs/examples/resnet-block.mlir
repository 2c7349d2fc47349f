// A residual block of a ResNet (NHWC, f16, inference):
//   y = relu(bn(conv(relu(bn(conv(x))))) + x), both convolutions 3x3.
//
// Each batch normalisation arrives folded to a scale and a shift per channel,
// and runs with the relu, and the residual, on the accumulator of its
// convolution.

// RUN: fusion-run %s --device=emulator --random --verify | FileCheck %s
// CHECK: kernels: {{[0-9]+}} unfused -> 2{{$}}
// CHECK: {{^}}verified

#nhwc = affine_map<(n, h, w, c) -> (n, h, w, c)>
#c = affine_map<(n, h, w, c) -> (c)>

func.func @resnet_block(
    %x: tensor<1x9x11x16xf16>,
    %w1: tensor<3x3x16x16xf16>, %scale1: tensor<16xf32>, %shift1: tensor<16xf32>,
    %w2: tensor<3x3x16x16xf16>, %scale2: tensor<16xf32>, %shift2: tensor<16xf32>)
    -> tensor<1x9x11x16xf16> {
  %pad = arith.constant 0.0 : f16
  %zero = arith.constant 0.0 : f32
  %acc_empty = tensor.empty() : tensor<1x9x11x16xf32>
  %empty = tensor.empty() : tensor<1x9x11x16xf16>
  %zeros = linalg.fill ins(%zero : f32) outs(%acc_empty : tensor<1x9x11x16xf32>)
      -> tensor<1x9x11x16xf32>

  %x_padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    tensor.yield %pad : f16
  } : tensor<1x9x11x16xf16> to tensor<1x11x13x16xf16>
  %conv1 = linalg.conv_2d_nhwc_hwcf
      {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x_padded, %w1 : tensor<1x11x13x16xf16>, tensor<3x3x16x16xf16>)
      outs(%zeros : tensor<1x9x11x16xf32>) -> tensor<1x9x11x16xf32>
  %hidden = linalg.generic
      {indexing_maps = [#nhwc, #c, #c, #nhwc],
       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%conv1, %scale1, %shift1
          : tensor<1x9x11x16xf32>, tensor<16xf32>, tensor<16xf32>)
      outs(%empty : tensor<1x9x11x16xf16>) {
  ^bb0(%v: f32, %scale: f32, %shift: f32, %out: f16):
    %scaled = arith.mulf %v, %scale : f32
    %shifted = arith.addf %scaled, %shift : f32
    %relu = arith.maximumf %shifted, %zero : f32
    %rounded = arith.truncf %relu : f32 to f16
    linalg.yield %rounded : f16
  } -> tensor<1x9x11x16xf16>

  %hidden_padded = tensor.pad %hidden low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    tensor.yield %pad : f16
  } : tensor<1x9x11x16xf16> to tensor<1x11x13x16xf16>
  %conv2 = linalg.conv_2d_nhwc_hwcf
      {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%hidden_padded, %w2 : tensor<1x11x13x16xf16>, tensor<3x3x16x16xf16>)
      outs(%zeros : tensor<1x9x11x16xf32>) -> tensor<1x9x11x16xf32>
  %y = linalg.generic
      {indexing_maps = [#nhwc, #c, #c, #nhwc, #nhwc],
       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%conv2, %scale2, %shift2, %x
          : tensor<1x9x11x16xf32>, tensor<16xf32>, tensor<16xf32>,
            tensor<1x9x11x16xf16>)
      outs(%empty : tensor<1x9x11x16xf16>) {
  ^bb0(%v: f32, %scale: f32, %shift: f32, %residual: f16, %out: f16):
    %scaled = arith.mulf %v, %scale : f32
    %shifted = arith.addf %scaled, %shift : f32
    %wide = arith.extf %residual : f16 to f32
    %sum = arith.addf %shifted, %wide : f32
    %relu = arith.maximumf %sum, %zero : f32
    %rounded = arith.truncf %relu : f32 to f16
    linalg.yield %rounded : f16
  } -> tensor<1x9x11x16xf16>
  return %y : tensor<1x9x11x16xf16>
}
