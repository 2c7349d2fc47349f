// RUN: fusion-opt %s -split-input-file --fusion-codegen-lower-to-tile --canonicalize --cse | FileCheck %s

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#id = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i, j floordiv 64)>
#columns = affine_map<(i, j) -> (i floordiv 16, j)>

// Reductions in granules: the tile is seen as granules and what is in them. An
// element may need what its own granule was reduced to.

// CHECK-LABEL: fusion_tile.program @granules
// CHECK: %[[M:.*]] = scf.for {{.*}} -> (tensor<64x128xf32>)
// CHECK: %[[R:.*]] = fusion_tile.reshape %[[M]] : tensor<64x128xf32> -> tensor<64x2x64xf32>
// CHECK: %[[MAX:.*]] = fusion_tile.reduce %[[R]] along 2 : tensor<64x2x64xf32> -> tensor<64x2xf32>
// CHECK: fusion_tile.store %[[MAX]], {{.*}} : tensor<64x2xf32>
// CHECK: %[[ALL:.*]] = fusion_tile.broadcast %[[MAX]] dims [0, 1] : tensor<64x2xf32> -> tensor<64x2x64xf32>
// CHECK: %[[BACK:.*]] = fusion_tile.reshape %[[ALL]] : tensor<64x2x64xf32> -> tensor<64x128xf32>
// CHECK: %[[D:.*]] = arith.subf %[[M]], %[[BACK]]
// CHECK: %[[S:.*]] = fusion_tile.reshape %[[D]] : tensor<64x128xf32> -> tensor<4x16x128xf32>
// CHECK: %[[SUM:.*]] = fusion_tile.reduce %[[S]] along 1 : tensor<4x16x128xf32> -> tensor<4x128xf32>
// CHECK: fusion_tile.store %[[SUM]], {{.*}} : tensor<4x128xf32>
func.func @main(%a: tensor<512x512xbf16>, %b: tensor<512x512xbf16>) -> (tensor<512x8xf32>, tensor<32x512xf32>) {
  %r:2 = fusion.kernel @granules ins(%a, %b : tensor<512x512xbf16>, tensor<512x512xbf16>) -> (tensor<512x8xf32>, tensor<32x512xf32>)
      attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 128>, #fusion.axis<loop, tile = 64>], warps = 4, mma = #fusion.mma<wgmma, stages = 4>>} {
  ^bb0(%x: tensor<512x512xbf16>, %y: tensor<512x512xbf16>):
    %zero = arith.constant 0.0 : f32
    %least = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<512x512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
    %m = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<512x512xbf16>, tensor<512x512xbf16>) outs(%f : tensor<512x512xf32>) {
    ^bb1(%u: bf16, %v: bf16, %o: f32):
      %s = arith.extf %u : bf16 to f32
      %t = arith.extf %v : bf16 to f32
      %p = arith.mulf %s, %t : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
    } -> tensor<512x512xf32>
    %er = tensor.empty() : tensor<512x8xf32>
    %fr = linalg.fill ins(%least : f32) outs(%er : tensor<512x8xf32>) -> tensor<512x8xf32>
    %max = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]} ins(%m : tensor<512x512xf32>) outs(%fr : tensor<512x8xf32>) {
    ^bb1(%u: f32, %o: f32):
      %q = arith.maximumf %o, %u : f32
      linalg.yield %q : f32
    } -> tensor<512x8xf32>
    %d = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %max : tensor<512x512xf32>, tensor<512x8xf32>) outs(%e : tensor<512x512xf32>) {
    ^bb1(%u: f32, %v: f32, %o: f32):
      %q = arith.subf %u, %v : f32
      linalg.yield %q : f32
    } -> tensor<512x512xf32>
    %ec = tensor.empty() : tensor<32x512xf32>
    %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<32x512xf32>) -> tensor<32x512xf32>
    %sum = linalg.generic {indexing_maps = [#id, #columns], iterator_types = ["reduction", "parallel"]} ins(%d : tensor<512x512xf32>) outs(%fc : tensor<32x512xf32>) {
    ^bb1(%u: f32, %o: f32):
      %q = arith.addf %o, %u : f32
      linalg.yield %q : f32
    } -> tensor<32x512xf32>
    fusion.yield %max, %sum : tensor<512x8xf32>, tensor<32x512xf32>
  }
  return %r#0, %r#1 : tensor<512x8xf32>, tensor<32x512xf32>
}
