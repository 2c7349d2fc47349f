// The largest of padded windows, after a convolution: the pooling is a
// kernel of its own that takes what follows it; the activation is in either.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select=target=sm_90a | FileCheck %s

// CHECK: fusion.kernel @pad_conv
// CHECK-SAME: #fusion.mma<wgmma
// CHECK: fusion.kernel @{{.*}}pad_reduce_max_add{{.*}} #fusion.schedule<reduction, {{.*}} vector = 2>
// CHECK-NOT: fusion.kernel

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @pool_padded(%x: tensor<2x14x14x64xf16>, %w: tensor<64x3x3x64xf16>, %s: tensor<64xf16>) -> tensor<2x7x7x64xf16> {
    %z16 = arith.constant 0.0 : f16
    %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %z16 : f16
    } : tensor<2x14x14x64xf16> to tensor<2x16x16x64xf16>
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x14x14x64xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x14x14x64xf32>) -> tensor<2x14x14x64xf32>
    %c = linalg.conv_2d_nhwc_fhwc {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%p, %w : tensor<2x16x16x64xf16>, tensor<64x3x3x64xf16>) outs(%f : tensor<2x14x14x64xf32>) -> tensor<2x14x14x64xf32>
    %zero = arith.constant dense<0.0> : tensor<2x14x14x64xf32>
    %relu = arith.maximumf %c, %zero : tensor<2x14x14x64xf32>
    %h = arith.truncf %relu : tensor<2x14x14x64xf32> to tensor<2x14x14x64xf16>
    %n = arith.constant 0xFC00 : f16
    %q = tensor.pad %h low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %n : f16
    } : tensor<2x14x14x64xf16> to tensor<2x16x16x64xf16>
    %e2 = tensor.empty() : tensor<2x7x7x64xf16>
    %f2 = linalg.fill ins(%n : f16) outs(%e2 : tensor<2x7x7x64xf16>) -> tensor<2x7x7x64xf16>
    %window = tensor.empty() : tensor<3x3xf16>
    %m = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%q, %window : tensor<2x16x16x64xf16>, tensor<3x3xf16>) outs(%f2 : tensor<2x7x7x64xf16>) -> tensor<2x7x7x64xf16>
    %bs = linalg.broadcast ins(%s : tensor<64xf16>) outs(%e2 : tensor<2x7x7x64xf16>) dimensions = [0, 1, 2]
    %y = arith.addf %m, %bs : tensor<2x7x7x64xf16>
    return %y : tensor<2x7x7x64xf16>
  }
}
