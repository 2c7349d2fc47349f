// RUN: fusion-opt %s --pass-pipeline="builtin.module(fusion_tile.program(fusion-tile-pipeline-loads,cse))" --split-input-file | FileCheck %s

// B lies along its columns. Lanes read four steps of the depth by eight columns
// of 4 bytes: chunks of 16 bytes have to move by two for each step, or half of
// them would meet in the same banks (by one: offsets 144, 288, 576).

#l = #fusion_tile.layout<"{reg=[[0,1],[0,2]], lane=[[0,4],[1,0],[2,0],[4,0],[8,0]], warp=[], shape=[16,8]}">
#a = #fusion_tile.layout<"{reg=[[8,0],[0,4]], lane=[[0,1],[0,2],[1,0],[2,0],[4,0]], warp=[], shape=[16,8]}">
#m = #fusion_tile.layout<"{reg=[[1,0],[2,0],[0,4]], lane=[[4,0],[8,0],[16,0],[0,1],[0,2]], warp=[], shape=[32,8]}">
#b = #fusion_tile.layout<"{reg=[[0,4],[8,0],[16,0]], lane=[[0,1],[0,2],[1,0],[2,0],[4,0]], warp=[], shape=[32,8]}">
#c = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[16,32]}">

// CHECK-LABEL: fusion_tile.program @columns
// CHECK: fusion_tile.alloc stages 3 : <32x8xf32, #fusion_tile.shared_layout<"{bytes=4, align=128, offsets={{\[\[}}4,8,16,32,64],[160,320,512]]}">>
// CHECK: fusion_tile.copy_start {{.*}} by <"{reg={{\[\[}}1,0],[2,0],[0,4]], lane={{\[\[}}4,0],[8,0],[16,0],[0,1],[0,2]]
fusion_tile.program @columns(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %s: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %acc = arith.constant dense<0.0> : tensor<16x32xf32, #c>
  %v = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16x64xf32>
  %w = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<64x32xf32>
  %o = fusion_tile.view %s[] : !llvm.ptr<1> to !fusion_tile.view<16x32xf32>
  %r = scf.for %k = %c0 to %c64 step %c8 iter_args(%t = %acc) -> (tensor<16x32xf32, #c>) {
    %x = fusion_tile.load %v[affine_map<(i, k)[s] -> (i, k + s)>] (%k) checked [false, false] : !fusion_tile.view<16x64xf32> -> tensor<16x8xf32, #l>
    %y = fusion_tile.load %w[affine_map<(j, k)[s] -> (k + s, j)>] (%k) checked [false, false] : !fusion_tile.view<64x32xf32> -> tensor<32x8xf32, #m>
    %a = fusion_tile.convert_layout %x : tensor<16x8xf32, #l> -> tensor<16x8xf32, #a>
    %b = fusion_tile.convert_layout %y : tensor<32x8xf32, #m> -> tensor<32x8xf32, #b>
    %d = fusion_tile.dot %a, %b, %t : tensor<16x8xf32, #a>, tensor<32x8xf32, #b> -> tensor<16x32xf32, #c>
    scf.yield %d : tensor<16x32xf32, #c>
  }
  fusion_tile.store %r, %o[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<16x32xf32, #c>, !fusion_tile.view<16x32xf32>
  fusion_tile.return
}
