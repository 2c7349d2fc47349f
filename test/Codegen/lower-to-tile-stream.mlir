// Tiles that make up no whole round of the blocks are shared by them along the
// contracted dimension.

// RUN: fusion-opt %s -split-input-file --fusion-codegen-lower-to-tile --canonicalize --cse | FileCheck %s

// 11 tiles of 4 chunks for 4 blocks: each has one whole tile first, then a fourth
// of 7 tiles, which count for 5 chunks with the work to finish them.
// CHECK: #[[GRID:.*]] = affine_map<() -> (4)>
// CHECK-LABEL: fusion_tile.program @shared
// CHECK-SAME: grid = #[[GRID]],
// CHECK-DAG: %[[SIGNALS:.*]] = fusion_tile.scratch 128 signals
// CHECK-DAG: %[[SLOTS:.*]] = fusion_tile.scratch 524288 :
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: %[[WORK:.*]] = arith.muli %[[BLOCK]], %c35
// CHECK: %[[PLACE:.*]] = arith.divui %[[WORK]], %c4
// CHECK: arith.divui %[[PLACE]], %c5
// A cut in the work to finish a tile moves to the tile's end.
// CHECK: arith.minui %{{.*}}, %c4
// CHECK: scf.for %[[NUMBER:.*]] = %c0 to
// CHECK: arith.cmpi uge, %[[NUMBER]], %c1
// CHECK: %[[BEGIN:.*]] = arith.muli %{{.*}}, %c64
// CHECK: %[[END:.*]] = arith.muli %{{.*}}, %c64
// CHECK: %[[OWNS:.*]] = arith.cmpi eq, %[[END]], %c256
// CHECK: %[[FIRST:.*]] = arith.select %{{.*}}, %[[BLOCK]],
// CHECK: %[[SUM:.*]] = scf.for {{.*}} = %[[BEGIN]] to %[[END]] step %c64
// CHECK: fusion_tile.dot
// CHECK: %[[GIVES:.*]] = arith.cmpi ne, %[[END]], %c256
// CHECK: scf.if %[[GIVES]] {
// CHECK-NEXT: fusion_tile.publish %[[SUM]] to %[[SLOTS]] signals %[[SIGNALS]][%[[BLOCK]]] : !llvm.ptr<1>, tensor<128x256xf32>
// CHECK: scf.if %[[OWNS]] {
// CHECK-NEXT: %[[ALL:.*]] = scf.for %[[SLOT:.*]] = %[[FIRST]] to %[[BLOCK]] step %c1 iter_args(%[[PART:.*]] = %[[SUM]])
// CHECK-NEXT: fusion_tile.collect %[[PART]] from %[[SLOTS]] signals %[[SIGNALS]][%[[SLOT]]]
// CHECK: fusion_tile.store %[[ALL]]
func.func @shared(%a: tensor<1408x256xbf16>, %b: tensor<256x256xbf16>) -> tensor<1408x256xf32> {
  %r = fusion.kernel @shared ins(%a, %b : tensor<1408x256xbf16>, tensor<256x256xbf16>) -> (tensor<1408x256xf32>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<grid, tile = 256>, #fusion.axis<loop, tile = 64>], warps = 8, mma = #fusion.mma<wgmma, stages = 4, blocks = 4, stream = 1>>} {
  ^bb0(%x: tensor<1408x256xbf16>, %w: tensor<256x256xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1408x256xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1408x256xf32>) -> tensor<1408x256xf32>
    %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<1408x256xbf16>, tensor<256x256xbf16>) outs(%f : tensor<1408x256xf32>) -> tensor<1408x256xf32>
    fusion.yield %p : tensor<1408x256xf32>
  }
  return %r : tensor<1408x256xf32>
}

// -----

// Fewer tiles than blocks: all are shared, and no round follows.
// CHECK: #[[GRID:.*]] = affine_map<() -> (5)>
// CHECK-LABEL: fusion_tile.program @few
// CHECK-SAME: grid = #[[GRID]],
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: %[[WORK:.*]] = arith.muli %[[BLOCK]], %c18
// CHECK: arith.divui %[[WORK]], %c5
// CHECK: fusion_tile.publish
// CHECK: fusion_tile.collect
func.func @few(%a: tensor<256x512xbf16>, %b: tensor<256x512xbf16>) -> tensor<256x256xf32> {
  %r = fusion.kernel @few ins(%a, %b : tensor<256x512xbf16>, tensor<256x512xbf16>) -> (tensor<256x256xf32>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<grid, tile = 256>, #fusion.axis<loop, tile = 64>], warps = 8, mma = #fusion.mma<wgmma, stages = 4, blocks = 5, stream = 1>>} {
  ^bb0(%x: tensor<256x512xbf16>, %w: tensor<256x512xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<256x256xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
    %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<256x512xbf16>, tensor<256x512xbf16>) outs(%f : tensor<256x256xf32>) -> tensor<256x256xf32>
    fusion.yield %p : tensor<256x256xf32>
  }
  return %r : tensor<256x256xf32>
}

// -----

// The blocks of a cluster have the same segments, and slots of their own. Both
// clusters and tiles are even in number: pairs of clusters go through two tiles
// in step, and their slots are as far apart.
// CHECK-LABEL: fusion_tile.program @clusters
// CHECK-SAME: cluster = 2
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: %[[CLUSTER:.*]] = arith.divui %[[BLOCK]], %c2
// CHECK: %[[MEMBER:.*]] = arith.remui %[[CLUSTER]], %c2
// CHECK: %[[TEAM:.*]] = arith.divui %[[CLUSTER]], %c2
// CHECK: arith.muli %[[TEAM]],
// CHECK: arith.addi %{{.*}}, %[[MEMBER]]
// CHECK: fusion_tile.publish {{.*}}[%[[BLOCK]]]
// CHECK: scf.for {{.*}} to %[[BLOCK]] step %c4
// CHECK-NEXT: fusion_tile.collect
func.func @clusters(%a: tensor<1536x256xbf16>, %b: tensor<256x256xbf16>) -> tensor<1536x256xf32> {
  %r = fusion.kernel @clusters ins(%a, %b : tensor<1536x256xbf16>, tensor<256x256xbf16>) -> (tensor<1536x256xf32>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<grid, tile = 256>, #fusion.axis<loop, tile = 64>], warps = 8, mma = #fusion.mma<wgmma, stages = 4, blocks = 8, multicast = 2, stream = 1>>} {
  ^bb0(%x: tensor<1536x256xbf16>, %w: tensor<256x256xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1536x256xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1536x256xf32>) -> tensor<1536x256xf32>
    %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<1536x256xbf16>, tensor<256x256xbf16>) outs(%f : tensor<1536x256xf32>) -> tensor<1536x256xf32>
    fusion.yield %p : tensor<1536x256xf32>
  }
  return %r : tensor<1536x256xf32>
}

// -----

// What only the owner of a tile needs is not loaded by others.
// CHECK-LABEL: fusion_tile.program @residual
// CHECK: scf.if
// CHECK: fusion_tile.publish
// CHECK: scf.if
// CHECK: fusion_tile.load %{{.*}} -> tensor<128x256xbf16>
// CHECK: fusion_tile.store
func.func @residual(%a: tensor<384x256xbf16>, %b: tensor<256x256xbf16>, %c: tensor<384x256xbf16>) -> tensor<384x256xf32> {
  %r = fusion.kernel @residual ins(%a, %b, %c : tensor<384x256xbf16>, tensor<256x256xbf16>, tensor<384x256xbf16>) -> (tensor<384x256xf32>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<grid, tile = 256>, #fusion.axis<loop, tile = 64>], warps = 8, mma = #fusion.mma<wgmma, stages = 4, blocks = 2, stream = 1>>} {
  ^bb0(%x: tensor<384x256xbf16>, %w: tensor<256x256xbf16>, %y: tensor<384x256xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<384x256xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<384x256xf32>) -> tensor<384x256xf32>
    %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<384x256xbf16>, tensor<256x256xbf16>) outs(%f : tensor<384x256xf32>) -> tensor<384x256xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%y, %p : tensor<384x256xbf16>, tensor<384x256xf32>) outs(%e : tensor<384x256xf32>) {
    ^bb1(%r: bf16, %q: f32, %o: f32):
      %wide = arith.extf %r : bf16 to f32
      %t = arith.addf %wide, %q : f32
      linalg.yield %t : f32
    } -> tensor<384x256xf32>
    fusion.yield %s : tensor<384x256xf32>
  }
  return %r : tensor<384x256xf32>
}
