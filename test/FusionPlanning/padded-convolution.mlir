// The zeros around an image are no arithmetic of a convolution on tensor cores:
// copies bring them along. Whatever the number of features, the image is never
// padded in memory.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a | FileCheck %s

// CHECK-LABEL: func.func @padded(
// CHECK: fusion.kernel @pad_conv_add
// CHECK-NOT: fusion.kernel
// CHECK: return
func.func @padded(%x: tensor<16x64x64x640xf16>, %w: tensor<320x3x3x640xf16>, %bias: tensor<320xf32>) -> tensor<16x64x64x320xf16> {
  %z16 = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %z16 : f16
  } : tensor<16x64x64x640xf16> to tensor<16x66x66x640xf16>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x64x64x320xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<16x64x64x320xf32>) -> tensor<16x64x64x320xf32>
  %c = linalg.conv_2d_nhwc_fhwc {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%p, %w : tensor<16x66x66x640xf16>, tensor<320x3x3x640xf16>) outs(%f : tensor<16x64x64x320xf32>) -> tensor<16x64x64x320xf32>
  %b = linalg.broadcast ins(%bias : tensor<320xf32>) outs(%e : tensor<16x64x64x320xf32>) dimensions = [0, 1, 2]
  %s = arith.addf %c, %b : tensor<16x64x64x320xf32>
  %y = arith.truncf %s : tensor<16x64x64x320xf32> to tensor<16x64x64x320xf16>
  return %y : tensor<16x64x64x320xf16>
}

// Nor are they for each factor where channels have windows of their own: what
// neighbouring windows have in common a thread pads once.
// CHECK-LABEL: func.func @padded_channels
// CHECK: fusion.kernel @pad_sum
// CHECK-NOT: fusion.kernel
// CHECK: return
func.func @padded_channels(%x: tensor<32x56x56x96xf16>, %w: tensor<7x7x96xf16>) -> tensor<32x56x56x96xf32> {
  %z16 = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 3, 3, 0] high[0, 3, 3, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %z16 : f16
  } : tensor<32x56x56x96xf16> to tensor<32x62x62x96xf16>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x56x56x96xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x56x56x96xf32>) -> tensor<32x56x56x96xf32>
  %c = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%p, %w : tensor<32x62x62x96xf16>, tensor<7x7x96xf16>) outs(%f : tensor<32x56x56x96xf32>) -> tensor<32x56x56x96xf32>
  return %c : tensor<32x56x56x96xf32>
}
