// The gradient of a filter of one channel is a reduction to planning, and one
// to scheduling: no warpgroups multiply a column of one.

// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-schedule=target=sm_90a | FileCheck %s
// CHECK-NOT: fusion.mma<wgmma

func.func @main(%x0: tensor<64x2x70x1xf16>, %x1: tensor<64x2x70x128xf16>) -> (tensor<128x1x1x1xf16>) {
  %0 = tensor.empty() : tensor<1x64x2x70xf16>
  %1 = linalg.transpose ins(%x0 : tensor<64x2x70x1xf16>) outs(%0 : tensor<1x64x2x70xf16>) permutation = [3, 0, 1, 2]
  %2 = tensor.empty() : tensor<128x64x2x70xf16>
  %3 = linalg.transpose ins(%x1 : tensor<64x2x70x128xf16>) outs(%2 : tensor<128x64x2x70xf16>) permutation = [3, 0, 1, 2]
  %4 = arith.constant 0.0 : f32
  %5 = tensor.empty() : tensor<1x128x1x1xf32>
  %6 = linalg.fill ins(%4 : f32) outs(%5 : tensor<1x128x1x1xf32>) -> tensor<1x128x1x1xf32>
  %7 = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%1, %3 : tensor<1x64x2x70xf16>, tensor<128x64x2x70xf16>) outs(%6 : tensor<1x128x1x1xf32>) -> tensor<1x128x1x1xf32>
  %8 = arith.truncf %7 : tensor<1x128x1x1xf32> to tensor<1x128x1x1xf16>
  %9 = tensor.empty() : tensor<128x1x1x1xf16>
  %10 = linalg.transpose ins(%8 : tensor<1x128x1x1xf16>) outs(%9 : tensor<128x1x1x1xf16>) permutation = [1, 2, 3, 0]
  return %10 : tensor<128x1x1x1xf16>
}
