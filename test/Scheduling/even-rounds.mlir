// Tiles of f32 products by single warps are halved where that leaves the
// multiprocessor with the most of them less to do.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select | FileCheck %s

// 176 tiles of 128x64 are two rounds, of which the second has 44; 352 of 64x64
// are three, nearly full.
// CHECK-LABEL: func.func @uneven
// CHECK: contraction, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 64>,
// CHECK-SAME: mma_sync
func.func @uneven(%x: tensor<2776x784xf32>, %y: tensor<784x512xf32>) -> tensor<2776x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2776x512xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2776x512xf32>) -> tensor<2776x512xf32>
  %r = linalg.matmul ins(%x, %y : tensor<2776x784xf32>, tensor<784x512xf32>) outs(%i : tensor<2776x512xf32>) -> tensor<2776x512xf32>
  return %r : tensor<2776x512xf32>
}

// 512 tiles are four rounds, nearly full: smaller ones would read more.
// CHECK-LABEL: func.func @even
// CHECK: contraction, axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<grid, tile = 64>,
// CHECK-SAME: mma_sync
func.func @even(%x: tensor<2048x784xf32>, %y: tensor<784x2048xf32>) -> tensor<2048x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x2048xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %r = linalg.matmul ins(%x, %y : tensor<2048x784xf32>, tensor<784x2048xf32>) outs(%i : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %r : tensor<2048x2048xf32>
}
