// Blocks of the grid that share what is reduced: `split` blocks walk parts of a
// dimension, in whole chunks; or each has one of several tiles of it. They give
// each other what they have reduced, and the first of them writes what has no
// part of the dimension.

// RUN: fusion-opt %s --split-input-file --verify-diagnostics --fusion-codegen-lower-to-tile | FileCheck %s

// Three blocks have 112, 112 and 96 of 320 elements in chunks of 16.
// CHECK-LABEL: fusion_tile.program @walk
// CHECK-SAME: together = 3
// CHECK: %[[MEMORY:.*]] = fusion_tile.scratch 48 signals : !llvm.ptr<1>
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: %[[MEMBER:.*]] = arith.remui %[[BLOCK]], %{{.*}} : index
// CHECK: %[[BEGIN:.*]] = arith.muli %[[MEMBER]], %{{.*}} : index
// CHECK: %[[STOP:.*]] = arith.addi %[[BEGIN]], %{{.*}} : index
// CHECK: %[[END:.*]] = arith.minui %[[STOP]], %{{.*}} : index
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %[[BEGIN]] to %[[END]]
// CHECK: %[[OWN:.*]] = fusion_tile.reduce %[[SUM]] along 0 : tensor<16xf32> -> f32
// CHECK: %[[ALL:.*]] = fusion_tile.panel_reduce %[[OWN]] through %[[MEMORY]][%{{.*}}, %[[MEMBER]], %{{.*}}] members 3 copies 1 at 16 of 48 : !llvm.ptr<1>, f32 -> f32
// CHECK: scf.if
// CHECK-NEXT: fusion_tile.store %[[ALL]]
// CHECK: fusion_tile.panel_leave %[[MEMORY]][%{{.*}}] arrivals 3 of 48
func.func @walk(%x: tensor<320xf32>) -> tensor<f32> {
  %r = fusion.kernel @walk ins(%x : tensor<320xf32>) -> (tensor<f32>) attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<loop, tile = 16, split = 3>], warps = 1>} {
  ^bb0(%a: tensor<320xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %s = linalg.reduce { arith.addf } ins(%a : tensor<320xf32>) outs(%f : tensor<f32>) dimensions = [0]
    fusion.yield %s : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

// Five blocks have 64 elements of a row each; what they write, they all write.
// CHECK-LABEL: fusion_tile.program @tiles
// CHECK-SAME: together = 5
// CHECK: %[[OWN:.*]] = fusion_tile.reduce %{{.*}} along 0 : tensor<64xf32> -> f32
// CHECK: %[[ALL:.*]] = fusion_tile.panel_reduce %[[OWN]]
// CHECK-SAME: members 5
// CHECK-NOT: scf.if
// CHECK: fusion_tile.store
// CHECK: fusion_tile.panel_leave
func.func @tiles(%x: tensor<4x300xf32>) -> tensor<4x300xf32> {
  %r = fusion.kernel @tiles ins(%x : tensor<4x300xf32>) -> (tensor<4x300xf32>) attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<full, tile = 64>], warps = 1>} {
  ^bb0(%a: tensor<4x300xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %s = linalg.reduce { arith.addf } ins(%a : tensor<4x300xf32>) outs(%f : tensor<4xf32>) dimensions = [1]
    %o = tensor.empty() : tensor<4x300xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%a, %s : tensor<4x300xf32>, tensor<4xf32>) outs(%o : tensor<4x300xf32>) {
    ^bb1(%i: f32, %j: f32, %k: f32):
      %d = arith.divf %i, %j : f32
      linalg.yield %d : f32
    } -> tensor<4x300xf32>
    fusion.yield %y : tensor<4x300xf32>
  }
  return %r : tensor<4x300xf32>
}

// -----

// One walk through two dimensions, in chunks of both: coordinates are positions
// in memory.
// CHECK-LABEL: fusion_tile.program @merged
// CHECK: %[[FLAT:.*]] = fusion_tile.view {{.*}} : !llvm.ptr<1> to <60xf32>
// CHECK: scf.for {{.*}} to %c48 step %c16
// CHECK:   fusion_tile.load %[[FLAT]]{{.*}} checked [false] : <60xf32> -> tensor<16xf32>
// CHECK: scf.for {{.*}} %c48 to %c60 step %c16
// CHECK:   fusion_tile.load %[[FLAT]]{{.*}} checked [true] : <60xf32> -> tensor<16xf32>
func.func @merged(%x: tensor<5x12xf32>) -> tensor<f32> {
  %r = fusion.kernel @merged ins(%x : tensor<5x12xf32>) -> (tensor<f32>) attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<merged, tile = 1>, #fusion.axis<loop, tile = 16>], warps = 1>} {
  ^bb0(%a: tensor<5x12xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %s = linalg.reduce { arith.addf } ins(%a : tensor<5x12xf32>) outs(%f : tensor<f32>) dimensions = [0, 1]
    fusion.yield %s : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

// A sum that is made for each chunk of another walk would be waited for there.
func.func @nested(%x: tensor<64x64xf32>) -> tensor<f32> {
  // expected-error @below {{FUS-3125: the schedule lets blocks of the grid share a dimension ('full' or 'split'), but they would wait for each other in a loop}}
  %r = fusion.kernel @nested ins(%x : tensor<64x64xf32>) -> (tensor<f32>) attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<loop, tile = 16>, #fusion.axis<loop, tile = 16, split = 2>], warps = 1>} {
  ^bb0(%a: tensor<64x64xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %s = linalg.reduce { arith.addf } ins(%a : tensor<64x64xf32>) outs(%f : tensor<64xf32>) dimensions = [1]
    %p = tensor.empty() : tensor<f32>
    %q = linalg.fill ins(%zero : f32) outs(%p : tensor<f32>) -> tensor<f32>
    %t = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> ()>], iterator_types = ["reduction"]} ins(%s : tensor<64xf32>) outs(%q : tensor<f32>) {
    ^bb1(%i: f32, %o: f32):
      %d = arith.mulf %i, %i : f32
      %u = arith.addf %o, %d : f32
      linalg.yield %u : f32
    } -> tensor<f32>
    fusion.yield %t : tensor<f32>
  }
  return %r : tensor<f32>
}
