// Windows of 49 elements have 49 factors in registers and 130 elements for seven
// rows by four columns: more than 12 warps have room for, if all were loaded at
// once. They are loaded when they are needed, so that such strips, which share
// more than four rows by four do, are worth it.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select=target=sm_90a | FileCheck %s

// CHECK: #fusion.schedule<reduction, axes = [
// CHECK-SAME: #fusion.axis<grid, tile = 1>
// CHECK-SAME: #fusion.axis<grid, tile = {{[124]}}, strip = 7>
// CHECK-SAME: #fusion.axis<grid, tile = {{[124]}}, strip = 4>
// CHECK-SAME: #fusion.axis<grid, tile = 32, vector = 2>

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @large(%x: tensor<32x56x56x96xf16>, %w: tensor<7x7x96xf16>) -> tensor<32x56x56x96xf16> {
    %z16 = arith.constant 0.0 : f16
    %p = tensor.pad %x low[0, 3, 3, 0] high[0, 3, 3, 0] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %z16 : f16
    } : tensor<32x56x56x96xf16> to tensor<32x62x62x96xf16>
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<32x56x56x96xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x56x56x96xf32>) -> tensor<32x56x56x96xf32>
    %c = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>} ins(%p, %w : tensor<32x62x62x96xf16>, tensor<7x7x96xf16>) outs(%f : tensor<32x56x56x96xf32>) -> tensor<32x56x56x96xf32>
    %y = arith.truncf %c : tensor<32x56x56x96xf32> to tensor<32x56x56x96xf16>
    return %y : tensor<32x56x56x96xf16>
  }
}
