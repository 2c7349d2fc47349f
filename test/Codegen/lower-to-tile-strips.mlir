// RUN: fusion-opt %s --fusion-codegen-lower-to-tile | FileCheck %s

// Four neighbouring places one after the other: their windows of three read six
// vectors of the row and three factors, all before the first is used. Only the
// ends of the padded row can lie outside; the row of 20 ends in the third block.

// CHECK-LABEL: fusion_tile.program @strips
// CHECK: %[[C2:.*]] = arith.constant 2 : index
// CHECK: %[[AT:.*]] = arith.muli %{{.*}}, %[[C2]]
// CHECK-NOT: arith.mulf
// CHECK: fusion_tile.load {{.*}} checked [true, false]
// CHECK-COUNT-5: fusion_tile.load {{.*}} : <20x32xf32> -> tensor<2x32xf32>
// CHECK-NOT: fusion_tile.load {{.*}} : <20x32xf32>
// CHECK-COUNT-12: arith.mulf
// CHECK-NOT: arith.mulf
// CHECK-NOT: scf.for
func.func @main(%x: tensor<20x32xf32>, %w: tensor<3x32xf32>) -> tensor<20x32xf32> {
  %0 = fusion.kernel @strips ins(%x, %w : tensor<20x32xf32>, tensor<3x32xf32>) -> (tensor<20x32xf32>)
      attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 2, strip = 4>, #fusion.axis<grid, tile = 32>, #fusion.axis<loop, tile = 1>, #fusion.axis<grid, tile = 1>], warps = 1>} {
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
