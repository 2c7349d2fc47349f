// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --canonicalize --cse --fusion-tile-fuse-walks --cse | FileCheck %s

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#part = affine_map<(i, j) -> (i floordiv 96, j)>

// A block walks a granule of 96 rows, four at a time: from there, and not beyond
// the end of all rows. It stores the sums of rows in each step, and what it has of
// the columns behind the walk; both by one load.

// CHECK-LABEL: fusion_tile.program @sums
// CHECK: %[[BLOCK:.*]] = gpu.block_id  x
// CHECK: %[[BEGIN:.*]] = arith.muli %[[BLOCK]], %c96
// CHECK: %[[PAST:.*]] = arith.addi %[[BEGIN]], %c96
// CHECK: %[[END:.*]] = arith.minui %[[PAST]], %c1000
// CHECK: %[[SUM:.*]] = scf.for {{.*}} = %[[BEGIN]] to %[[END]] step %c4 {{.*}} -> (tensor<512x4xf32>)
// CHECK: %[[X:.*]] = fusion_tile.load
// CHECK-NOT: fusion_tile.load
// CHECK: arith.addf %{{.*}}, %[[X]]
// CHECK: %[[ROWS:.*]] = fusion_tile.reduce %[[X]] along 0 : tensor<512x4xf32> -> tensor<4xf32>
// CHECK: fusion_tile.store %[[ROWS]], {{.*}} checked [false]
// CHECK: scf.yield
// CHECK: %[[PART:.*]] = fusion_tile.reduce %[[SUM]] along 1 : tensor<512x4xf32> -> tensor<512xf32>
// CHECK: fusion_tile.store %[[PART]], %{{.*}} (%[[BLOCK]])
func.func @main(%a: tensor<1000x512xf32>) -> (tensor<11x512xf32>, tensor<1000xf32>) {
  %r:2 = fusion.kernel @sums ins(%a : tensor<1000x512xf32>) -> (tensor<11x512xf32>, tensor<1000xf32>)
      attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<loop, tile = 4>, #fusion.axis<full, tile = 512, vector = 4>], warps = 4>} {
  ^bb0(%x: tensor<1000x512xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<11x512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<11x512xf32>) -> tensor<11x512xf32>
    %c = linalg.generic {indexing_maps = [#all, #part], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<1000x512xf32>) outs(%f : tensor<11x512xf32>) {
    ^bb1(%u: f32, %o: f32):
      %s = arith.addf %o, %u : f32
      linalg.yield %s : f32
    } -> tensor<11x512xf32>
    %er = tensor.empty() : tensor<1000xf32>
    %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<1000xf32>) -> tensor<1000xf32>
    %d = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<1000x512xf32>) outs(%fr : tensor<1000xf32>) {
    ^bb1(%u: f32, %o: f32):
      %s = arith.addf %o, %u : f32
      linalg.yield %s : f32
    } -> tensor<1000xf32>
    fusion.yield %c, %d : tensor<11x512xf32>, tensor<1000xf32>
  }
  return %r#0, %r#1 : tensor<11x512xf32>, tensor<1000xf32>
}
