// Blocks that share the depth of a tile and are no cluster.

// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --canonicalize --cse | FileCheck %s

// 8 tiles for 32 blocks: of those of a tile, each takes a fourth of the depth, and
// finishes a part of the columns. A residual is loaded for that part only.
// CHECK: #[[GRID:.*]] = affine_map<() -> (32)>
// CHECK-LABEL: fusion_tile.program @apart
// CHECK-SAME: grid = #[[GRID]],
// CHECK-SAME: together = 4
// CHECK-DAG: %[[SIGNALS:.*]] = fusion_tile.scratch 512 signals
// CHECK-DAG: %[[SLOTS:.*]] = fusion_tile.scratch 1048576 :
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: %[[RANK:.*]] = arith.remui %[[BLOCK]], %c4
// CHECK: %[[TILE:.*]] = arith.divui %[[BLOCK]], %c4
// CHECK: %[[PART:.*]] = arith.muli %[[RANK]], %c32
// CHECK: %[[COLUMN:.*]] = arith.addi %{{.*}}, %[[PART]]
// CHECK: %[[BEGIN:.*]] = arith.muli %[[RANK]], %c128
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %[[BEGIN]] to
// CHECK: fusion_tile.dot
// CHECK: %[[ALL:.*]] = fusion_tile.grid_reduce %[[SUM]] through %[[SLOTS]] signals %[[SIGNALS]][%[[BLOCK]], %[[RANK]]] along 1 : !llvm.ptr<1>, tensor<64x128xf32> -> tensor<64x32xf32>
// CHECK: fusion_tile.load {{.*}}%[[COLUMN]]{{.*}} -> tensor<64x32xf32>
// CHECK: fusion_tile.store
func.func @main(%a: tensor<128x512xbf16>, %b: tensor<512x512xbf16>, %i: tensor<128x512xf32>) -> tensor<128x512xf32> {
  %r = fusion.kernel @apart ins(%a, %b, %i : tensor<128x512xbf16>, tensor<512x512xbf16>, tensor<128x512xf32>) -> (tensor<128x512xf32>)
      attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 128>, #fusion.axis<loop, tile = 64>], warps = 4, mma = #fusion.mma<wgmma, stages = 4, split = 4, apart = 1>>} {
  ^bb0(%x: tensor<128x512xbf16>, %y: tensor<512x512xbf16>, %f: tensor<128x512xf32>):
    %m = linalg.matmul ins(%x, %y : tensor<128x512xbf16>, tensor<512x512xbf16>) outs(%f : tensor<128x512xf32>) -> tensor<128x512xf32>
    fusion.yield %m : tensor<128x512xf32>
  }
  return %r : tensor<128x512xf32>
}
