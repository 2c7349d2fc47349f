// A row that lives in the tiles of three blocks of a cluster: what each reduces
// goes to the others' shared memory, for each of two exchanges 16 bytes for a
// barrier and three words. Nobody has anything to clear.

// RUN: fusion-opt %s --fusion-codegen-lower-to-tile | FileCheck %s

// CHECK-LABEL: fusion_tile.program @norm
// CHECK-SAME: cluster = 3 : i64
// CHECK-NOT: together
// CHECK: %[[MEMORY:.*]] = fusion_tile.cluster_memory 96 : !llvm.ptr<3>
// CHECK: %[[MEMBER:.*]] = arith.remui %{{.*}}, %{{.*}} : index
// CHECK: %[[SUM:.*]] = fusion_tile.reduce
// CHECK: fusion_tile.panel_reduce %{{.*}} through %[[MEMORY]][%{{.*}}, %[[MEMBER]], %{{.*}}] members 3 copies 1 at 16 of 96
// CHECK: fusion_tile.panel_reduce %{{.*}} through %[[MEMORY]][%{{.*}}, %[[MEMBER]], %{{.*}}] members 3 copies 1 at 64 of 96
// CHECK: fusion_tile.store
// CHECK-NOT: fusion_tile.panel_leave
func.func @norm(%x: tensor<8x3000xf32>) -> tensor<8x3000xf32> {
  %r = fusion.kernel @norm ins(%x : tensor<8x3000xf32>) -> (tensor<8x3000xf32>) attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<full, tile = 1024, vector = 4, cluster = 3>], warps = 4>} {
  ^bb0(%u: tensor<8x3000xf32>):
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %v = tensor.empty() : tensor<8xf32>
    %f = linalg.fill ins(%low : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %g = linalg.fill ins(%zero : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %m = linalg.reduce { arith.maximumf } ins(%u : tensor<8x3000xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
    %e = tensor.empty() : tensor<8x3000xf32>
    %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%u, %m : tensor<8x3000xf32>, tensor<8xf32>) outs(%e : tensor<8x3000xf32>) {
    ^bb1(%a: f32, %b: f32, %o: f32):
      %c = arith.subf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<8x3000xf32>
    %s = linalg.reduce { arith.addf } ins(%d : tensor<8x3000xf32>) outs(%g : tensor<8xf32>) dimensions = [1]
    %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%d, %s : tensor<8x3000xf32>, tensor<8xf32>) outs(%e : tensor<8x3000xf32>) {
    ^bb1(%a: f32, %b: f32, %o: f32):
      %c = arith.divf %a, %b : f32
      linalg.yield %c : f32
    } -> tensor<8x3000xf32>
    fusion.yield %y : tensor<8x3000xf32>
  }
  return %r : tensor<8x3000xf32>
}
