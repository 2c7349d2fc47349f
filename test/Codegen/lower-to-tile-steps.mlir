// RUN: fusion-opt %s --fusion-codegen-lower-to-tile | FileCheck %s

// A walk along the row, two places at a time: of the four vectors that the
// windows of two places read, the next two places read the last two again. The
// other two are loaded an iteration ahead, past the end after the last. The
// factors are loaded and the first four vectors before the loop.

// CHECK-DAG: #[[NEW:.*]] = affine_map<(d0, d1)[s0, s1, s2] -> ((d0 + s0) * 6 + s1 * 2 + 1, d1 + s2)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<(d0, d1)[s0, s1, s2] -> ((d0 + s0) * 6 + s1 * 2 + 2, d1 + s2)>
// CHECK-LABEL: fusion_tile.program @steps
// CHECK-NOT: arith.mulf
// CHECK-COUNT-3: fusion_tile.load {{.*}} : <3x32xf32>
// CHECK-COUNT-4: fusion_tile.load {{.*}} : <20x32xf32>
// CHECK: scf.for %[[STEP:[^ ]+]] = {{.*}} iter_args(%{{[^ ]+}} = %{{[^ ]+}}, %{{[^ ]+}} = %{{[^ ]+}}, %[[C:[^ ]+]] = %{{[^ ]+}}, %[[D:[^ ]+]] = %{{[^ ]+}})
// CHECK: %[[NEXT:.*]] = arith.addi %[[STEP]]
// CHECK: %[[DONE:.*]] = arith.cmpi uge, %[[NEXT]]
// CHECK: %[[AHEAD:.*]] = arith.select %[[DONE]], %c{{[0-9]+}}, %[[NEXT]]
// CHECK: %[[E:.*]] = fusion_tile.load %{{.*}}[#[[NEW]]] (%{{.*}}, %[[AHEAD]], %{{.*}}) checked [true, false]
// CHECK: %[[F:.*]] = fusion_tile.load %{{.*}}[#[[LAST]]] (%{{.*}}, %[[AHEAD]], %{{.*}}) checked [true, false]
// CHECK-NOT: fusion_tile.load
// CHECK-COUNT-6: arith.mulf
// CHECK: scf.yield %[[C]], %[[D]], %[[E]], %[[F]]
func.func @main(%x: tensor<20x32xf32>, %w: tensor<3x32xf32>) -> tensor<20x32xf32> {
  %0 = fusion.kernel @steps ins(%x, %w : tensor<20x32xf32>, tensor<3x32xf32>) -> (tensor<20x32xf32>)
      attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 2, strip = 2, steps = 3>, #fusion.axis<grid, tile = 32>, #fusion.axis<loop, tile = 1>, #fusion.axis<grid, tile = 1>], warps = 1>} {
  ^bb0(%a: tensor<20x32xf32>, %b: tensor<3x32xf32>):
    %z = arith.constant 0.0 : f32
    %p = tensor.pad %a low[1, 0] high[1, 0] {
    ^bb1(%i: index, %j: index):
      tensor.yield %z : f32
    } : tensor<20x32xf32> to tensor<22x32xf32>
    %e = tensor.empty() : tensor<20x32xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<20x32xf32>) -> tensor<20x32xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(w, c, k) -> (w + k, c)>, affine_map<(w, c, k) -> (k, c)>, affine_map<(w, c, k) -> (w, c)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %b : tensor<22x32xf32>, tensor<3x32xf32>) outs(%f : tensor<20x32xf32>) {
    ^bb1(%u: f32, %v: f32, %o: f32):
      %m = arith.mulf %u, %v : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<20x32xf32>
    fusion.yield %c : tensor<20x32xf32>
  }
  return %0 : tensor<20x32xf32>
}
