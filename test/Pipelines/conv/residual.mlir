// A 3x3 convolution in steps of two with its normalisation, residual and
// activation: one kernel, whose images the copy engine cuts into windows. The
// filter has its features fastest.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: fusion_tile.tensor_map {{.*}} {element_strides = array<i64: 1, 2, 2, 1>, im2col = #fusion_tile.im2col<lower = [-1, -1], upper = [-1, -1]>} : <2x14x14x64xf16>
// CHECK: fusion_tile.specialize
// CHECK: fusion_tile.async_load {{.*}} offset[

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @residual(%x: tensor<2x14x14x64xf16>, %w: tensor<3x3x64x136xf16>, %scale: tensor<136xf32>, %shift: tensor<136xf32>, %rest: tensor<2x7x7x136xf16>) -> tensor<2x7x7x136xf16> {
    %z16 = arith.constant 0.0 : f16
    %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %z16 : f16
    } : tensor<2x14x14x64xf16> to tensor<2x16x16x64xf16>
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x7x7x136xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x7x7x136xf32>) -> tensor<2x7x7x136xf32>
    %c = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%p, %w : tensor<2x16x16x64xf16>, tensor<3x3x64x136xf16>) outs(%f : tensor<2x7x7x136xf32>) -> tensor<2x7x7x136xf32>
    %bs = linalg.broadcast ins(%scale : tensor<136xf32>) outs(%e : tensor<2x7x7x136xf32>) dimensions = [0, 1, 2]
    %bt = linalg.broadcast ins(%shift : tensor<136xf32>) outs(%e : tensor<2x7x7x136xf32>) dimensions = [0, 1, 2]
    %n = arith.mulf %c, %bs : tensor<2x7x7x136xf32>
    %m = arith.addf %n, %bt : tensor<2x7x7x136xf32>
    %r = arith.extf %rest : tensor<2x7x7x136xf16> to tensor<2x7x7x136xf32>
    %a = arith.addf %m, %r : tensor<2x7x7x136xf32>
    %zero = arith.constant dense<0.0> : tensor<2x7x7x136xf32>
    %relu = arith.maximumf %a, %zero : tensor<2x7x7x136xf32>
    %y = arith.truncf %relu : tensor<2x7x7x136xf32> to tensor<2x7x7x136xf16>
    return %y : tensor<2x7x7x136xf16>
  }
}
