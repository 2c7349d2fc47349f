// Tiles that are made up of several, and tiles of which each block of a cluster
// has one.

// RUN: fusion-opt %s -split-input-file --fusion-codegen-lower-to-tile --canonicalize --cse | FileCheck %s

// Both parts are summed up in one loop, from the same rows of %a. The second
// part begins where the first ends.
// CHECK-LABEL: fusion_tile.program @parts
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %c192
// CHECK: %[[SECOND:.*]] = arith.addi %[[FIRST]], %c128
// CHECK: %[[SUMS:.*]]:2 = scf.for {{.*}} -> (tensor<128x128xf32>, tensor<128x64xf32>)
// CHECK: %[[A:.*]] = fusion_tile.load %0{{.*}} -> tensor<128x64xbf16>
// CHECK: %[[B:.*]] = fusion_tile.load %1{{.*}} (%[[FIRST]], %{{.*}}) {{.*}} -> tensor<128x64xbf16>
// CHECK: fusion_tile.dot %[[A]], %[[B]], {{.*}} -> tensor<128x128xf32>
// CHECK: %[[C:.*]] = fusion_tile.load %1{{.*}} (%[[SECOND]], %{{.*}}) {{.*}} -> tensor<64x64xbf16>
// CHECK: fusion_tile.dot %[[A]], %[[C]], {{.*}} -> tensor<128x64xf32>
// CHECK-NOT: scf.if
// CHECK: fusion_tile.store %[[SUMS]]#0, %2{{.*}}, %[[FIRST]])
// CHECK: fusion_tile.store %[[SUMS]]#1, %2{{.*}}, %[[SECOND]])
func.func @parts(%a: tensor<512x256xbf16>, %b: tensor<768x256xbf16>) -> tensor<512x768xf32> {
  %r = fusion.kernel @parts ins(%a, %b : tensor<512x256xbf16>, tensor<768x256xbf16>) -> (tensor<512x768xf32>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<grid, tile = 192>, #fusion.axis<loop, tile = 64>], warps = 8, mma = #fusion.mma<wgmma, stages = 4>>} {
  ^bb0(%x: tensor<512x256xbf16>, %w: tensor<768x256xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x768xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x768xf32>) -> tensor<512x768xf32>
    %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<512x256xbf16>, tensor<768x256xbf16>) outs(%f : tensor<512x768xf32>) -> tensor<512x768xf32>
    fusion.yield %p : tensor<512x768xf32>
  }
  return %r : tensor<512x768xf32>
}

// -----

// Three groups have 64 rows of 192 each, in the turns of a loop that holds all
// that is done for a tile. Dimensions of tiles stay in order: rows, columns.
// CHECK-LABEL: fusion_tile.program @rows
// CHECK-SAME: pipeline = #fusion_tile.pipeline<wgmma, stages = 4, groups = 3>
// CHECK: scf.for %[[GROUP:.*]] = %c0 to %c3 step %c1 {
// CHECK: %[[WHOLE:.*]] = arith.muli %{{.*}}, %c192
// CHECK: %[[OWN:.*]] = arith.muli %[[GROUP]], %c64
// CHECK: %[[ROW:.*]] = arith.addi %[[WHOLE]], %[[OWN]]
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: fusion_tile.dot {{.*}} : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
// CHECK: fusion_tile.store %[[SUM]], %2{{.*}} (%[[ROW]], %{{.*}}) checked [true, false]
// CHECK: {fusion_tile.row_groups}
func.func @rows(%a: tensor<512x256xbf16>, %b: tensor<768x256xbf16>) -> tensor<512x768xf32> {
  %r = fusion.kernel @rows ins(%a, %b : tensor<512x256xbf16>, tensor<768x256xbf16>) -> (tensor<512x768xf32>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 192>, #fusion.axis<grid, tile = 128>, #fusion.axis<loop, tile = 64>], warps = 4, mma = #fusion.mma<wgmma, stages = 4, groups = 3>>} {
  ^bb0(%x: tensor<512x256xbf16>, %w: tensor<768x256xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x768xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x768xf32>) -> tensor<512x768xf32>
    %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<512x256xbf16>, tensor<768x256xbf16>) outs(%f : tensor<512x768xf32>) -> tensor<512x768xf32>
    fusion.yield %p : tensor<512x768xf32>
  }
  return %r : tensor<512x768xf32>
}

// -----

// The blocks of a cluster have rows of 128 of the 256 that the grid counts.
// CHECK-LABEL: fusion_tile.program @together
// CHECK-SAME: cluster = 2
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: %[[RANK:.*]] = fusion_tile.cluster_rank
// CHECK: arith.divui %[[BLOCK]], %c2
// CHECK: %[[WHOLE:.*]] = arith.muli %{{.*}}, %c256
// CHECK: %[[OWN:.*]] = arith.muli %[[RANK]], %c128
// CHECK: arith.addi %[[WHOLE]], %[[OWN]]
// CHECK: fusion_tile.dot {{.*}} -> tensor<128x64xf32>
func.func @together(%a: tensor<512x256xbf16>, %b: tensor<256x256xbf16>) -> tensor<512x256xf32> {
  %r = fusion.kernel @together ins(%a, %b : tensor<512x256xbf16>, tensor<256x256xbf16>) -> (tensor<512x256xf32>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<grid, tile = 64>, #fusion.axis<loop, tile = 64>], warps = 8, mma = #fusion.mma<wgmma, stages = 4, multicast = 2>>} {
  ^bb0(%x: tensor<512x256xbf16>, %w: tensor<256x256xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x256xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x256xf32>) -> tensor<512x256xf32>
    %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<512x256xbf16>, tensor<256x256xbf16>) outs(%f : tensor<512x256xf32>) -> tensor<512x256xf32>
    fusion.yield %p : tensor<512x256xf32>
  }
  return %r : tensor<512x256xf32>
}
