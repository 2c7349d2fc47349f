// Tensors that go on along three dimensions in memory: a tile has some of each,
// and is no larger than a square of two.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select | FileCheck %s

// The result goes on along what is joined and columns, one part along columns,
// the other along the six and rows.
// CHECK-LABEL: func.func @joined
// CHECK: pointwise, axes = [#fusion.axis<grid, tile = 8, vector = 8>, #fusion.axis<grid, tile = 4>, #fusion.axis<grid, tile = 32, vector = 8>, #fusion.axis<grid, tile = 4, vector = 4>, #fusion.axis<grid, tile = 1>], warps = 16
func.func @joined(%x: tensor<432x2x6x562xbf16>, %y: tensor<1x562x432x6xbf16>) -> tensor<6x432x562x3xbf16> {
  %0 = tensor.empty() : tensor<2x562x432x6xbf16>
  %1 = linalg.transpose ins(%x : tensor<432x2x6x562xbf16>) outs(%0 : tensor<2x562x432x6xbf16>) permutation = [1, 3, 0, 2]
  %2 = tensor.concat dim(0) %y, %1 : (tensor<1x562x432x6xbf16>, tensor<2x562x432x6xbf16>) -> tensor<3x562x432x6xbf16>
  %3 = tensor.empty() : tensor<6x432x562x3xbf16>
  %4 = linalg.transpose ins(%2 : tensor<3x562x432x6xbf16>) outs(%3 : tensor<6x432x562x3xbf16>) permutation = [3, 2, 1, 0]
  return %4 : tensor<6x432x562x3xbf16>
}

// Long dimensions: 16 of each.
// CHECK-LABEL: func.func @added
// CHECK: pointwise, axes = [#fusion.axis<grid, tile = 16, vector = 4>, #fusion.axis<grid, tile = 16, vector = 4>, #fusion.axis<grid, tile = 16, vector = 4>], warps = {{[0-9]+}}
func.func @added(%x: tensor<300x300x300xf32>, %y: tensor<300x300x300xf32>, %z: tensor<300x300x300xf32>) -> tensor<300x300x300xf32> {
  %0 = tensor.empty() : tensor<300x300x300xf32>
  %1 = linalg.transpose ins(%y : tensor<300x300x300xf32>) outs(%0 : tensor<300x300x300xf32>) permutation = [2, 1, 0]
  %2 = linalg.transpose ins(%z : tensor<300x300x300xf32>) outs(%0 : tensor<300x300x300xf32>) permutation = [0, 2, 1]
  %3 = arith.addf %x, %1 : tensor<300x300x300xf32>
  %4 = arith.addf %3, %2 : tensor<300x300x300xf32>
  return %4 : tensor<300x300x300xf32>
}
