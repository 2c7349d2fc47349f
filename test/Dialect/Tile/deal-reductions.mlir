// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-lower-exchanges))' --split-input-file | FileCheck %s

// Eight columns a thread, of which 16 warps have parts. A combination by
// exponentials is worth one more exchange: each warp combines what there is of
// four columns, with eight lanes for a column, and all threads get the results.

#tile64 = #fusion_tile.layout<"{reg=[[1,0],[2,0],[4,0]], lane=[[8,0],[16,0],[32,0],[0,1],[0,2]], warp=[[0,4],[0,8],[0,16],[0,32]], shape=[64,64]}">
#columns = #fusion_tile.layout<"{reg=[[1],[2],[4]], lane=[[8],[16],[32],[0],[0]], warp=[[0],[0],[0],[0]], shape=[64]}">

// CHECK-LABEL: fusion_tile.program @dear
// CHECK: fusion_tile.reduce {{.*}} along 1 within_warp
// CHECK-COUNT-2: fusion_tile.local_load {{.*}}reg={{\[\[}}0,1]], lane={{\[\[}}0,2],[0,4],[0,8],[1,0],[2,0]], warp={{\[\[}}4,0],[8,0],[16,0],[32,0]], shape=[64,16]}
// CHECK: %[[R:.*]]:2 = fusion_tile.reduce {{.*}} along 1 :
// CHECK: fusion_tile.local_store %[[R]]#0
// CHECK: %[[M:.*]] = fusion_tile.local_load {{.*}}reg={{\[\[}}1],[2],[4]], lane={{\[\[}}8],[16],[32],[0],[0]], warp={{\[\[}}0],[0],[0],[0]], shape=[64]}
// CHECK: fusion_tile.local_store %[[R]]#1
// CHECK: %[[S:.*]] = fusion_tile.local_load
// CHECK: arith.addf %[[M]], %[[S]]
fusion_tile.program @dear(%q: !llvm.ptr<1>, %x: f32) attributes {num_warps = 16 : i64, index_bits = 32 : i64} {
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<64xf32>
  %a = fusion_tile.splat %x : f32 -> tensor<64x64xf32, #tile64>
  %r:2 = fusion_tile.reduce %a, %a along 1 : tensor<64x64xf32, #tile64>, tensor<64x64xf32, #tile64> -> tensor<64xf32, #columns>, tensor<64xf32, #columns> {
  ^bb0(%m0: f32, %s0: f32, %m1: f32, %s1: f32):
    %m = arith.maximumf %m0, %m1 : f32
    %d0 = arith.subf %m0, %m : f32
    %d1 = arith.subf %m1, %m : f32
    %e0 = math.exp %d0 : f32
    %e1 = math.exp %d1 : f32
    %t0 = arith.mulf %s0, %e0 : f32
    %t1 = arith.mulf %s1, %e1 : f32
    %t = arith.addf %t0, %t1 : f32
    fusion_tile.yield %m, %t : f32, f32
  }
  %sum = arith.addf %r#0, %r#1 : tensor<64xf32, #columns>
  fusion_tile.store %sum, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<64xf32, #columns>, !fusion_tile.view<64xf32>
  fusion_tile.return
}

// -----

// A sum is not: each warp combines all columns for itself.

#tile64 = #fusion_tile.layout<"{reg=[[1,0],[2,0],[4,0]], lane=[[8,0],[16,0],[32,0],[0,1],[0,2]], warp=[[0,4],[0,8],[0,16],[0,32]], shape=[64,64]}">
#columns = #fusion_tile.layout<"{reg=[[1],[2],[4]], lane=[[8],[16],[32],[0],[0]], warp=[[0],[0],[0],[0]], shape=[64]}">

// CHECK-LABEL: fusion_tile.program @cheap
// CHECK: fusion_tile.local_load {{.*}}reg={{\[\[}}1,0],[2,0],[4,0],[0,4],[0,8]], lane={{\[\[}}8,0],[16,0],[32,0],[0,1],[0,2]]
// CHECK: fusion_tile.reduce
// CHECK-NOT: fusion_tile.local_load
// CHECK: fusion_tile.store
fusion_tile.program @cheap(%q: !llvm.ptr<1>, %x: f32) attributes {num_warps = 16 : i64, index_bits = 32 : i64} {
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<64xf32>
  %a = fusion_tile.splat %x : f32 -> tensor<64x64xf32, #tile64>
  %r = fusion_tile.reduce %a along 1 : tensor<64x64xf32, #tile64> -> tensor<64xf32, #columns> {
  ^bb0(%s0: f32, %s1: f32):
    %s = arith.addf %s0, %s1 : f32
    fusion_tile.yield %s : f32
  }
  fusion_tile.store %r, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<64xf32, #columns>, !fusion_tile.view<64xf32>
  fusion_tile.return
}
