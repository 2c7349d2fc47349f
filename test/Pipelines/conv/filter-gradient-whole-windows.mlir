// Whole windows of three channels are unfolded to the channels of pixels: the
// product is one of matrices, and one walk runs through images and pixels.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-schedule | FileCheck %s

// CHECK: fusion.kernel @matmul
// CHECK-SAME: #fusion.axis<merged, tile = 1>, #fusion.axis<merged, tile = 1>, #fusion.axis<loop, tile = 64>]
// CHECK-SAME: #fusion.mma<wgmma

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @main(%x: tensor<32x32x32x3xbf16>, %dy: tensor<32x32x32x64xbf16>) -> (tensor<64x3x3x3xbf16>) {
    %0 = tensor.empty() : tensor<3x32x32x32xbf16>
    %1 = linalg.transpose ins(%x : tensor<32x32x32x3xbf16>) outs(%0 : tensor<3x32x32x32xbf16>) permutation = [3, 0, 1, 2]
    %2 = arith.constant 0.0 : bf16
    %3 = tensor.pad %1 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %2 : bf16
    } : tensor<3x32x32x32xbf16> to tensor<3x32x34x34xbf16>
    %4 = tensor.empty() : tensor<64x32x32x32xbf16>
    %5 = linalg.transpose ins(%dy : tensor<32x32x32x64xbf16>) outs(%4 : tensor<64x32x32x32xbf16>) permutation = [3, 0, 1, 2]
    %6 = arith.constant 0.0 : f32
    %7 = tensor.empty() : tensor<3x64x3x3xf32>
    %8 = linalg.fill ins(%6 : f32) outs(%7 : tensor<3x64x3x3xf32>) -> tensor<3x64x3x3xf32>
    %9 = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%3, %5 : tensor<3x32x34x34xbf16>, tensor<64x32x32x32xbf16>) outs(%8 : tensor<3x64x3x3xf32>) -> tensor<3x64x3x3xf32>
    %10 = arith.truncf %9 : tensor<3x64x3x3xf32> to tensor<3x64x3x3xbf16>
    %11 = tensor.empty() : tensor<64x3x3x3xbf16>
    %12 = linalg.transpose ins(%10 : tensor<3x64x3x3xbf16>) outs(%11 : tensor<64x3x3x3xbf16>) permutation = [1, 2, 3, 0]
    return %12 : tensor<64x3x3x3xbf16>
  }
}
