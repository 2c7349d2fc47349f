// A dimension that lives in the tiles of several blocks: each reduces its own,
// and what they have is combined among the four of a panel, which have
// consecutive numbers. Of two panels, each walks two rows of tiles.

// RUN: fusion-opt %s --fusion-codegen-lower-to-tile | FileCheck %s

// CHECK-LABEL: fusion_tile.program @panel
// CHECK: %[[MEMORY:.*]] = fusion_tile.scratch 16640 signals : !llvm.ptr<1>
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK-DAG: %[[PANEL:.*]] = arith.divui %[[BLOCK]], %{{.*}} : index
// CHECK-DAG: %[[MEMBER:.*]] = arith.remui %[[BLOCK]], %{{.*}} : index
// CHECK: scf.for %[[TILE:.*]] = %[[BLOCK]] to
// CHECK: %[[DONE:.*]] = arith.subi %[[TILE]], %[[BLOCK]] : index
// CHECK: %[[TURN:.*]] = arith.divui %[[DONE]], %{{.*}} : index
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: %[[OWN:.*]] = fusion_tile.reduce %[[SUM]] along 1 : tensor<128x64xf32> -> tensor<128xf32>
// One exchange a tile takes turns at two copies of 4 x 128 words.
// CHECK: %[[ALL:.*]] = fusion_tile.panel_reduce %[[OWN]] through %[[MEMORY]][%[[PANEL]], %[[MEMBER]], %[[TURN]]] members 4 copies 2 at 128 of 8320
// CHECK: arith.addf
// CHECK: fusion_tile.broadcast %[[ALL]]
// CHECK: fusion_tile.store
// CHECK: }
// CHECK: fusion_tile.panel_leave %[[MEMORY]][%[[PANEL]]] arrivals 4 of 8320
func.func @panel(%a: tensor<512x256xbf16>, %b: tensor<256x256xbf16>) -> tensor<512x256xf32> {
  %r = fusion.kernel @panel ins(%a, %b : tensor<512x256xbf16>, tensor<256x256xbf16>) -> (tensor<512x256xf32>) attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 128>, #fusion.axis<full, tile = 64>, #fusion.axis<loop, tile = 64>], warps = 8, mma = #fusion.mma<wgmma, stages = 3, columns = 32, group = 1, blocks = 8>>} {
  ^bb0(%x: tensor<512x256xbf16>, %w: tensor<256x256xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x256xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x256xf32>) -> tensor<512x256xf32>
    %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %w : tensor<512x256xbf16>, tensor<256x256xbf16>) outs(%f : tensor<512x256xf32>) -> tensor<512x256xf32>
    %v = tensor.empty() : tensor<512xf32>
    %g = linalg.fill ins(%zero : f32) outs(%v : tensor<512xf32>) -> tensor<512xf32>
    %s = linalg.reduce { arith.addf } ins(%p : tensor<512x256xf32>) outs(%g : tensor<512xf32>) dimensions = [1]
    %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<512x256xf32>, tensor<512xf32>) outs(%e : tensor<512x256xf32>) {
    ^bb1(%i: f32, %j: f32, %o: f32):
      %d = arith.divf %i, %j : f32
      linalg.yield %d : f32
    } -> tensor<512x256xf32>
    fusion.yield %y : tensor<512x256xf32>
  }
  return %r : tensor<512x256xf32>
}
