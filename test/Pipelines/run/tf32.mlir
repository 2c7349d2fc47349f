// Products of f32 in tf32, as the program asks, and what --verify allows them.

// RUN: fusion-run %s --target=sm_80 --device=emulator --random --seed=1 --verify --entry=product | FileCheck %s
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=product | FileCheck %s
// RUN: fusion-run %s --target=sm_80 --device=emulator --random --seed=1 --verify --entry=rows_of_weights | FileCheck %s
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=rows_of_weights | FileCheck %s
// An error that f32 would not have.
// CHECK: relative to RMS 0.00
// CHECK: verified

func.func @product(%x: tensor<128x96xf32>, %w: tensor<64x96xf32>) -> tensor<128x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x64xf32>) -> tensor<128x64xf32>
  %m = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>] {fusion.tf32}
      ins(%x, %w : tensor<128x96xf32>, tensor<64x96xf32>) outs(%f : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %m : tensor<128x64xf32>
}

// Warpgroups take f32 along the depth only: single warps make these.
func.func @rows_of_weights(%x: tensor<128x96xf32>, %w: tensor<96x64xf32>) -> tensor<128x64xf32> attributes {fusion.tf32} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x64xf32>) -> tensor<128x64xf32>
  %m = linalg.matmul ins(%x, %w : tensor<128x96xf32>, tensor<96x64xf32>) outs(%f : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %m : tensor<128x64xf32>
}
