// Rows that all tensors have, shorter than a cache line, and that lie beside
// others in one tensor than in the other: tiles go on along both.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select | FileCheck %s

// 28 elements of the operand lie together, of which each result has four.
// CHECK-LABEL: func.func @of_four
// CHECK: axes = [#fusion.axis<grid, tile = 8>, #fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 4, vector = 4>], warps = 8
func.func @of_four(%x: tensor<16x572001x7x4xbf16>) -> tensor<7x16x572001x4xbf16> {
  %e = tensor.empty() : tensor<7x16x572001x4xbf16>
  %t = linalg.transpose ins(%x : tensor<16x572001x7x4xbf16>) outs(%e : tensor<7x16x572001x4xbf16>) permutation = [2, 0, 1, 3]
  return %t : tensor<7x16x572001x4xbf16>
}

// Both are cut.
// CHECK-LABEL: func.func @of_two
// CHECK: axes = [#fusion.axis<grid, tile = 32>, #fusion.axis<grid, tile = 8>, #fusion.axis<grid, tile = 4>, #fusion.axis<grid, tile = 2, vector = 2>], warps = 16
func.func @of_two(%x: tensor<4x1856x4955x2xf32>) -> tensor<4955x1856x4x2xf32> {
  %e = tensor.empty() : tensor<4955x1856x4x2xf32>
  %t = linalg.transpose ins(%x : tensor<4x1856x4955x2xf32>) outs(%e : tensor<4955x1856x4x2xf32>) permutation = [2, 1, 0, 3]
  return %t : tensor<4955x1856x4x2xf32>
}

// An operand that lies as the result does is one of those that go on its way.
// CHECK-LABEL: func.func @sum
// CHECK: axes = [#fusion.axis<grid, tile = 8>, #fusion.axis<grid, tile = 32>, #fusion.axis<grid, tile = 4, vector = 4>], warps = 8
func.func @sum(%x: tensor<4000003x7x3xf32>, %y: tensor<7x4000003x3xf32>) -> tensor<7x4000003x3xf32> {
  %e = tensor.empty() : tensor<7x4000003x3xf32>
  %t = linalg.transpose ins(%x : tensor<4000003x7x3xf32>) outs(%e : tensor<7x4000003x3xf32>) permutation = [1, 0, 2]
  %r = arith.addf %t, %y : tensor<7x4000003x3xf32>
  return %r : tensor<7x4000003x3xf32>
}

// Rows of a line are read whole wherever they lie.
// CHECK-LABEL: func.func @of_lines
// CHECK: axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = 32>, #fusion.axis<grid, tile = 64, vector = 8>]
func.func @of_lines(%x: tensor<4096x32x8x64xbf16>) -> tensor<4096x8x32x64xbf16> {
  %e = tensor.empty() : tensor<4096x8x32x64xbf16>
  %t = linalg.transpose ins(%x : tensor<4096x32x8x64xbf16>) outs(%e : tensor<4096x8x32x64xbf16>) permutation = [0, 2, 1, 3]
  return %t : tensor<4096x8x32x64xbf16>
}
