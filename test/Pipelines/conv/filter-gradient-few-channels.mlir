// The gradient of a filter of three channels: what a window reads of a row
// becomes the channels of an image with a pixel for each window, rows that
// windows step over are folded, and the filter is cut out of the result.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-plan | FileCheck %s

// CHECK: %[[X:.*]] = fusion.kernel @pad{{.*}}-> (tensor<4x22x17x2x8x4xbf16>)
// CHECK: fusion.kernel @conv{{.*}}-> (tensor<64x4x64xf32>)

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @main(%x: tensor<4x37x33x3xbf16>, %dy: tensor<4x19x17x64xbf16>) -> (tensor<64x7x7x3xbf16>) {
    %0 = tensor.empty() : tensor<3x4x37x33xbf16>
    %1 = linalg.transpose ins(%x : tensor<4x37x33x3xbf16>) outs(%0 : tensor<3x4x37x33xbf16>) permutation = [3, 0, 1, 2]
    %2 = arith.constant 0.0 : bf16
    %3 = tensor.pad %1 low[0, 0, 3, 3] high[0, 0, 3, 3] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %2 : bf16
    } : tensor<3x4x37x33xbf16> to tensor<3x4x43x39xbf16>
    %4 = tensor.empty() : tensor<64x4x19x17xbf16>
    %5 = linalg.transpose ins(%dy : tensor<4x19x17x64xbf16>) outs(%4 : tensor<64x4x19x17xbf16>) permutation = [3, 0, 1, 2]
    %6 = arith.constant 0.0 : f32
    %7 = tensor.empty() : tensor<3x64x7x7xf32>
    %8 = linalg.fill ins(%6 : f32) outs(%7 : tensor<3x64x7x7xf32>) -> tensor<3x64x7x7xf32>
    %9 = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<2> : tensor<2xi64>} ins(%3, %5 : tensor<3x4x43x39xbf16>, tensor<64x4x19x17xbf16>) outs(%8 : tensor<3x64x7x7xf32>) -> tensor<3x64x7x7xf32>
    %10 = arith.truncf %9 : tensor<3x64x7x7xf32> to tensor<3x64x7x7xbf16>
    %11 = tensor.empty() : tensor<64x7x7x3xbf16>
    %12 = linalg.transpose ins(%10 : tensor<3x64x7x7xbf16>) outs(%11 : tensor<64x7x7x3xbf16>) permutation = [1, 2, 3, 0]
    return %12 : tensor<64x7x7x3xbf16>
  }
}
