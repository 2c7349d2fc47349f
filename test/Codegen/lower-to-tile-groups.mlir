// Rows in groups: tiles of one group each, or a walk through the groups of a
// tile.

// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --canonicalize --cse | FileCheck %s

#x = affine_map<(t, n, e, k) -> (t, k)>
#w = affine_map<(t, n, e, k) -> (e, k, n)>
#g = affine_map<(t, n, e, k) -> (t)>
#y = affine_map<(t, n, e, k) -> (t, n)>
#e = affine_map<(t, n) -> (t, n)>
#r = affine_map<(t, n) -> (t)>

// The grid walks as many tiles as there are; the group is a coordinate of the
// weight and of the bias, and stores end with it.
// CHECK-DAG: #[[GRID:.*]] = affine_map<() -> (8)>
// CHECK-LABEL: fusion_tile.program @tiles
// CHECK-DAG: %[[X:.*]] = fusion_tile.view %arg0
// CHECK-DAG: %[[W:.*]] = fusion_tile.view %arg1
// CHECK-DAG: %[[B:.*]] = fusion_tile.view %arg2
// CHECK-DAG: %[[O:.*]] = fusion_tile.view %arg3
// CHECK-DAG: %[[BLOCK:.*]] = gpu.block_id x
// CHECK-DAG: %{{.*}}, %{{.*}}, %{{.*}}, %[[TOTAL:.*]] = fusion_tile.find_group %[[O]][%c0] tile 64 rows 256
// CHECK: scf.for %{{.*}} = %[[BLOCK]] to %[[TOTAL]] step %c8
// CHECK: %[[GROUP:.*]], %[[BEGIN:.*]], %[[END:.*]], %{{.*}} = fusion_tile.find_group %[[O]][%{{.*}}] tile 64 rows 256
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[GROUP]] : index to i32
// CHECK: %[[SUM:.*]] = scf.for %[[K:[a-z0-9]+]] =
// CHECK: fusion_tile.load %[[X]][{{.*}}] (%[[BEGIN]], %[[K]]) checked [true, false]
// CHECK: fusion_tile.load %[[W]][{{.*}}] (%[[K]], %{{.*}}, %[[GROUP]]) checked [true, false, false]
// CHECK: fusion_tile.dot
// CHECK: %[[IS:.*]] = arith.cmpi ult, %[[NUMBER]], %c4_i32
// CHECK: %[[MASK:.*]] = fusion_tile.splat %[[IS]]
// CHECK: arith.select %[[MASK]], %[[SUM]]
// CHECK: fusion_tile.load %[[B]]{{.*}} -> tensor<128xf32>
// CHECK: %[[PART:.*]] = fusion_tile.view %arg4[%[[END]]] : !llvm.ptr<1> to <?x128xf32>
// CHECK: fusion_tile.store %{{.*}}, %[[PART]]{{.*}} checked [true, false]
func.func @tiles(%x: tensor<256x128xbf16>, %w: tensor<4x128x128xbf16>, %b: tensor<4x128xf32>, %o: tensor<5xi32>) -> tensor<256x128xf32> {
  %r = fusion.kernel @tiles ins(%x, %w, %b, %o : tensor<256x128xbf16>, tensor<4x128x128xbf16>, tensor<4x128xf32>, tensor<5xi32>) -> (tensor<256x128xf32>)
      attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 128>, #fusion.axis<group, tile = 1>, #fusion.axis<loop, tile = 64>], warps = 4, mma = #fusion.mma<wgmma, stages = 4, columns = 64, group = 4, blocks = 8>>} {
  ^bb0(%0: tensor<256x128xbf16>, %1: tensor<4x128x128xbf16>, %2: tensor<4x128xf32>, %3: tensor<5xi32>):
    %zero = arith.constant 0.0 : f32
    %g = fusion.row_groups %3 : tensor<5xi32> -> tensor<256xi32>
    %e = tensor.empty() : tensor<256x128xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x128xf32>) -> tensor<256x128xf32>
    %p = linalg.generic {indexing_maps = [#x, #w, #g, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%0, %1, %g : tensor<256x128xbf16>, tensor<4x128x128xbf16>, tensor<256xi32>) outs(%f : tensor<256x128xf32>) {
    ^bb1(%u: bf16, %v: bf16, %h: i32, %s: f32):
      %i = linalg.index 2 : index
      %j = arith.index_cast %i : index to i32
      %is = arith.cmpi eq, %h, %j : i32
      %a = arith.extf %u : bf16 to f32
      %c = arith.extf %v : bf16 to f32
      %m = arith.mulf %a, %c : f32
      %k = arith.select %is, %m, %zero : f32
      %q = arith.addf %s, %k : f32
      linalg.yield %q : f32
    } -> tensor<256x128xf32>
    %t = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]} ins(%p, %g : tensor<256x128xf32>, tensor<256xi32>) outs(%e : tensor<256x128xf32>) {
    ^bb1(%u: f32, %h: i32, %s: f32):
      %last = arith.constant 3 : i32
      %in = arith.minsi %h, %last : i32
      %i = arith.index_cast %in : i32 to index
      %j = linalg.index 1 : index
      %c = tensor.extract %2[%i, %j] : tensor<4x128xf32>
      %a = arith.addf %u, %c : f32
      linalg.yield %a : f32
    } -> tensor<256x128xf32>
    fusion.yield %t : tensor<256x128xf32>
  }
  return %r : tensor<256x128xf32>
}

// Groups of the tile's first and last row are the bounds of the walk; products
// count for the rows of the present one.
// CHECK-LABEL: fusion_tile.program @walk
// CHECK-NOT: fusion_tile.find_group
// CHECK: %[[GROUPS:.*]] = arith.subi %{{.*}} : tensor<64xi32>
// CHECK: fusion_tile.reduce %[[GROUPS]]
// CHECK: arith.minsi
// CHECK: fusion_tile.reduce %[[GROUPS]]
// CHECK: arith.maxsi
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[DOT:.*]] = fusion_tile.dot
// CHECK: arith.cmpi eq
// CHECK: arith.select %{{.*}}, %[[DOT]], %{{.*}} : tensor<64x128xi1>
func.func @walk(%x: tensor<256x128xbf16>, %w: tensor<4x128x128xbf16>, %b: tensor<4x128xf32>, %o: tensor<5xi32>) -> tensor<256x128xf32> {
  %r = fusion.kernel @walk ins(%x, %w, %b, %o : tensor<256x128xbf16>, tensor<4x128x128xbf16>, tensor<4x128xf32>, tensor<5xi32>) -> (tensor<256x128xf32>)
      attributes {schedule = #fusion.schedule<contraction, axes = [#fusion.axis<grid, tile = 64>, #fusion.axis<grid, tile = 128>, #fusion.axis<loop, tile = 1>, #fusion.axis<loop, tile = 64>], warps = 4, mma = #fusion.mma<wgmma, stages = 4, columns = 64, group = 4, blocks = 8>>} {
  ^bb0(%0: tensor<256x128xbf16>, %1: tensor<4x128x128xbf16>, %2: tensor<4x128xf32>, %3: tensor<5xi32>):
    %zero = arith.constant 0.0 : f32
    %g = fusion.row_groups %3 : tensor<5xi32> -> tensor<256xi32>
    %e = tensor.empty() : tensor<256x128xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x128xf32>) -> tensor<256x128xf32>
    %p = linalg.generic {indexing_maps = [#x, #w, #g, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%0, %1, %g : tensor<256x128xbf16>, tensor<4x128x128xbf16>, tensor<256xi32>) outs(%f : tensor<256x128xf32>) {
    ^bb1(%u: bf16, %v: bf16, %h: i32, %s: f32):
      %i = linalg.index 2 : index
      %j = arith.index_cast %i : index to i32
      %is = arith.cmpi eq, %h, %j : i32
      %a = arith.extf %u : bf16 to f32
      %c = arith.extf %v : bf16 to f32
      %m = arith.mulf %a, %c : f32
      %k = arith.select %is, %m, %zero : f32
      %q = arith.addf %s, %k : f32
      linalg.yield %q : f32
    } -> tensor<256x128xf32>
    %t = linalg.generic {indexing_maps = [#e, #r, #e], iterator_types = ["parallel", "parallel"]} ins(%p, %g : tensor<256x128xf32>, tensor<256xi32>) outs(%e : tensor<256x128xf32>) {
    ^bb1(%u: f32, %h: i32, %s: f32):
      %last = arith.constant 3 : i32
      %in = arith.minsi %h, %last : i32
      %i = arith.index_cast %in : i32 to index
      %j = linalg.index 1 : index
      %c = tensor.extract %2[%i, %j] : tensor<4x128xf32>
      %a = arith.addf %u, %c : f32
      linalg.yield %a : f32
    } -> tensor<256x128xf32>
    fusion.yield %t : tensor<256x128xf32>
  }
  return %r : tensor<256x128xf32>
}
