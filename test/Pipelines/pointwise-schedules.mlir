// RUN: fusion-opt %s --fusion-to-schedule=target=sm_90a | FileCheck %s

// A thread has 16 bytes. What repeats is small: it is read again and again, from
// caches, at remainders of the one coordinate that rows of any length have.
// CHECK-LABEL: func.func @long_rows
// CHECK: -> (tensor<40988672xf32>) {{.*}} #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 1024, vector = 4>], warps = 8>
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
// CHECK: -> (tensor<35000000xf32>) {{.*}} #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 1024, vector = 4>], warps = 8>
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

// The block takes a few steps along the dimension that a large operand lacks, so
// that it reads that operand once for all of them.
// CHECK-LABEL: func.func @very_long_rows
// CHECK: #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 8>, #fusion.axis<grid, tile = 256, vector = 4>], warps = 4>
func.func @very_long_rows(%x: tensor<16x33554432xf32>, %s: tensor<33554432xf32>) -> tensor<16x33554432xf32> {
  %e = tensor.empty() : tensor<16x33554432xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<16x33554432xf32>, tensor<33554432xf32>) outs(%e : tensor<16x33554432xf32>) {
  ^bb0(%v: f32, %w: f32, %o: f32):
    %0 = arith.mulf %v, %w : f32
    linalg.yield %0 : f32
  } -> tensor<16x33554432xf32>
  return %y : tensor<16x33554432xf32>
}

// Two directions whose innermost dimensions are short: the tile goes on outwards.
// CHECK-LABEL: func.func @short_directions
// CHECK: #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 2>, #fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 2>, #fusion.axis<grid, tile = 2, vector = 2>, #fusion.axis<grid, tile = 4, vector = 4>], warps = 8>
func.func @short_directions(%x: tensor<112447x4x2x56x2xbf16>) -> tensor<112447x56x2x2x4xbf16> {
  %e = tensor.empty() : tensor<112447x56x2x2x4xbf16>
  %y = linalg.transpose ins(%x : tensor<112447x4x2x56x2xbf16>) outs(%e : tensor<112447x56x2x2x4xbf16>) permutation = [0, 3, 2, 4, 1]
  return %y : tensor<112447x56x2x2x4xbf16>
}

// Planes that are cut from others do not repeat: a thread has neighbours. What is
// whole of them is one row.
// CHECK-LABEL: func.func @planes
// CHECK: axes = [#fusion.axis<grid, tile = 2048, vector = 8>], warps = 8
func.func @planes(%x: tensor<7x512x512xbf16>) -> tensor<4x512x512xbf16> {
  %s = tensor.extract_slice %x[1, 0, 0] [4, 512, 512] [1, 1, 1] : tensor<7x512x512xbf16> to tensor<4x512x512xbf16>
  return %s : tensor<4x512x512xbf16>
}

// Padding a transposed tensor is part of its kernel, whose tile is square; its
// side goes on beyond rows of 13.
// CHECK-LABEL: func.func @padded_transpose
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: axes = [#fusion.axis<grid, tile = 16, vector = 8>, #fusion.axis<grid, tile = 4>, #fusion.axis<grid, tile = 64, vector = 8>, #fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = 1>], warps = 16
func.func @padded_transpose(%x: tensor<4096x61x13xf16>) -> tensor<16x65x4096xf16> {
  %c = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<13x61x4096xf16>
  %t = linalg.transpose ins(%x : tensor<4096x61x13xf16>) outs(%e : tensor<13x61x4096xf16>) permutation = [2, 1, 0]
  %p = tensor.pad %t low[3, 1, 0] high[0, 3, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %c : f16
  } : tensor<13x61x4096xf16> to tensor<16x65x4096xf16>
  return %p : tensor<16x65x4096xf16>
}
