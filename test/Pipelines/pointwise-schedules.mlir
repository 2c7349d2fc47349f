// RUN: fusion-opt %s --fusion-to-schedule=target=sm_90a | FileCheck %s

// The block takes a few steps along the dimension that an operand lacks, so that
// it reads that operand once for all of them; more where the rows are short, so
// that its threads have 16 bytes each, four times.
// CHECK-LABEL: func.func @long_rows
// CHECK: #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 8>, #fusion.axis<grid, tile = 256, vector = 4>], warps = 4>
func.func @long_rows(%x: tensor<4096x10007xf32>, %s: tensor<10007xf32>) -> tensor<4096x10007xf32> {
  %e = tensor.empty() : tensor<4096x10007xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<4096x10007xf32>, tensor<10007xf32>) outs(%e : tensor<4096x10007xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %0 = arith.mulf %v, %w : f32
    linalg.yield %0 : f32
  } -> tensor<4096x10007xf32>
  return %y : tensor<4096x10007xf32>
}

// CHECK-LABEL: func.func @short_rows
// CHECK: #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 256>, #fusion.axis<grid, tile = 8, vector = 4>], warps = 4>
func.func @short_rows(%x: tensor<5000000x7xf32>, %s: tensor<7xf32>) -> tensor<5000000x7xf32> {
  %e = tensor.empty() : tensor<5000000x7xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<5000000x7xf32>, tensor<7xf32>) outs(%e : tensor<5000000x7xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %0 = arith.mulf %v, %w : f32
    linalg.yield %0 : f32
  } -> tensor<5000000x7xf32>
  return %y : tensor<5000000x7xf32>
}

// Two directions whose innermost dimensions are short: the tile goes on outwards.
// CHECK-LABEL: func.func @short_directions
// CHECK: #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 2>, #fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 2>, #fusion.axis<grid, tile = 2, vector = 2>, #fusion.axis<grid, tile = 4, vector = 4>], warps = 8>
func.func @short_directions(%x: tensor<112447x4x2x56x2xbf16>) -> tensor<112447x56x2x2x4xbf16> {
  %e = tensor.empty() : tensor<112447x56x2x2x4xbf16>
  %y = linalg.transpose ins(%x : tensor<112447x4x2x56x2xbf16>) outs(%e : tensor<112447x56x2x2x4xbf16>) permutation = [0, 3, 2, 4, 1]
  return %y : tensor<112447x56x2x2x4xbf16>
}
