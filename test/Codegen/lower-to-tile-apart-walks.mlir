// Blocks that share a walk whose sums are repaired, and are no cluster.

// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --canonicalize --cse | FileCheck %s

// 3 tiles for 12 blocks. Each walks a fourth, 128 of 512, and has what all four
// have of the rows, and of a fourth of the columns. One more step for all of them:
// what each has added up is relative to its own maximum.
// CHECK: #[[GRID:.*]] = affine_map<() -> (12)>
// CHECK-LABEL: fusion_tile.program @walk
// CHECK-SAME: grid = #[[GRID]],
// CHECK-SAME: together = 4
// CHECK-DAG: %[[SIGNALS:.*]] = fusion_tile.scratch 192 signals
// CHECK-DAG: %[[SLOTS:.*]] = fusion_tile.scratch 294912 :
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: %[[RANK:.*]] = arith.remui %[[BLOCK]], %c4
// CHECK: %[[COLUMN:.*]] = arith.muli %[[RANK]], %c16
// CHECK: %[[BEGIN:.*]] = arith.muli %[[RANK]], %c128
// CHECK: %[[R:.*]]:2 = scf.for %{{.*}} = %[[BEGIN]] to
// CHECK: %[[ALL:.*]]:2 = fusion_tile.grid_gather %[[R]]#0, %[[R]]#1 through %[[SLOTS]] signals %[[SIGNALS]][%[[BLOCK]], %[[RANK]]] along [-1, 1] : !llvm.ptr<1>, tensor<64xf32>, tensor<64x64xf32> -> tensor<64x4xf32>, tensor<64x16x4xf32>
// CHECK: %[[M:.*]] = fusion_tile.reduce %[[ALL]]#0 along 1 : tensor<64x4xf32> -> tensor<64xf32>
// CHECK: arith.maximumf
// A maximum of nothing is zero for the repair.
// CHECK: %[[USED:.*]] = arith.select %{{.*}}, %{{.*}}, %[[M]] : tensor<64xi1>, tensor<64xf32>
// CHECK: %[[B:.*]] = fusion_tile.broadcast %[[USED]] dims [0] : tensor<64xf32> -> tensor<64x4xf32>
// CHECK: %[[D:.*]] = arith.subf %[[ALL]]#0, %[[B]]
// CHECK: %[[F:.*]] = math.exp %[[D]]
// CHECK: %[[FB:.*]] = fusion_tile.broadcast %[[F]] dims [0, 2] : tensor<64x4xf32> -> tensor<64x16x4xf32>
// CHECK: %[[O:.*]] = arith.mulf %[[ALL]]#1, %[[FB]]
// CHECK: fusion_tile.reduce %[[O]] along 2 : tensor<64x16x4xf32> -> tensor<64x16xf32>
// CHECK: fusion_tile.store {{.*}}%[[COLUMN]]) checked [false, true, false] : tensor<64x16xf32>
#q = affine_map<(b, i, j, d) -> (b, i, d)>
#k = affine_map<(b, i, j, d) -> (b, j, d)>
#s = affine_map<(b, i, j, d) -> (b, i, j)>
#id = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
#v = affine_map<(b, i, e, j) -> (b, j, e)>
#p = affine_map<(b, i, e, j) -> (b, i, j)>
#o = affine_map<(b, i, e, j) -> (b, i, e)>
func.func @main(%q: tensor<3x8x64xf16>, %k: tensor<3x512x64xf16>, %v: tensor<3x512x64xf16>) -> tensor<3x8x64xf32> {
  %0 = fusion.kernel @walk ins(%q, %k, %v : tensor<3x8x64xf16>, tensor<3x512x64xf16>, tensor<3x512x64xf16>) -> (tensor<3x8x64xf32>)
      attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 64>, #fusion.axis<sequential, tile = 128>, #fusion.axis<full, tile = 64>], warps = 4, mma = #fusion.mma<wgmma, stages = 2, split = 4, apart = 1>>} {
  ^bb0(%a: tensor<3x8x64xf16>, %b: tensor<3x512x64xf16>, %c: tensor<3x512x64xf16>):
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant 0xFF800000 : f32
    %se = tensor.empty() : tensor<3x8x512xf32>
    %he = tensor.empty() : tensor<3x8x512xf16>
    %re = tensor.empty() : tensor<3x8xf32>
    %oe = tensor.empty() : tensor<3x8x64xf32>
    %s0 = linalg.fill ins(%zero : f32) outs(%se : tensor<3x8x512xf32>) -> tensor<3x8x512xf32>
    %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%a, %b : tensor<3x8x64xf16>, tensor<3x512x64xf16>) outs(%s0 : tensor<3x8x512xf32>) {
    ^bb1(%x: f16, %y: f16, %acc: f32):
      %f = arith.extf %x : f16 to f32
      %g = arith.extf %y : f16 to f32
      %m = arith.mulf %f, %g : f32
      %t = arith.addf %acc, %m : f32
      linalg.yield %t : f32
    } -> tensor<3x8x512xf32>
    %m0 = linalg.fill ins(%lowest : f32) outs(%re : tensor<3x8xf32>) -> tensor<3x8xf32>
    %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s : tensor<3x8x512xf32>) outs(%m0 : tensor<3x8xf32>) {
    ^bb1(%x: f32, %acc: f32):
      %t = arith.maximumf %acc, %x : f32
      linalg.yield %t : f32
    } -> tensor<3x8xf32>
    %w = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %m : tensor<3x8x512xf32>, tensor<3x8xf32>) outs(%he : tensor<3x8x512xf16>) {
    ^bb1(%x: f32, %y: f32, %acc: f16):
      %d = arith.subf %x, %y : f32
      %e = math.exp %d : f32
      %t = arith.truncf %e : f32 to f16
      linalg.yield %t : f16
    } -> tensor<3x8x512xf16>
    %o0 = linalg.fill ins(%zero : f32) outs(%oe : tensor<3x8x64xf32>) -> tensor<3x8x64xf32>
    %o = linalg.generic {indexing_maps = [#p, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%w, %c : tensor<3x8x512xf16>, tensor<3x512x64xf16>) outs(%o0 : tensor<3x8x64xf32>) {
    ^bb1(%x: f16, %y: f16, %acc: f32):
      %f = arith.extf %x : f16 to f32
      %g = arith.extf %y : f16 to f32
      %n = arith.mulf %f, %g : f32
      %t = arith.addf %acc, %n : f32
      linalg.yield %t : f32
    } -> tensor<3x8x64xf32>
    fusion.yield %o : tensor<3x8x64xf32>
  }
  return %0 : tensor<3x8x64xf32>
}
