// A stage of two tiles takes 1,024 bytes and its barriers: the ring has the
// stages that shared memory holds, and there is none where it does not hold
// two.

// RUN: fusion-opt %s --pass-pipeline="builtin.module(fusion_tile.program(fusion-tile-pipeline-loads{shared-memory-limit-bytes=3200}))" --remarks-filter='fusion.*' 2>%t.less | FileCheck %s --check-prefix=LESS
// RUN: FileCheck %s --check-prefix=REMARK < %t.less
// RUN: fusion-opt %s --pass-pipeline="builtin.module(fusion_tile.program(fusion-tile-pipeline-loads{shared-memory-limit-bytes=2000}))" --remarks-filter='fusion.*' 2>%t.none | FileCheck %s --check-prefix=NONE
// RUN: FileCheck %s --check-prefix=NOREMARK < %t.none

// LESS-COUNT-2: fusion_tile.alloc stages 3
// REMARK: FUS-3215: 4 stages do not fit shared memory; the ring has 3
// NONE-NOT: fusion_tile.alloc
// NONE: scf.for
// NONE: fusion_tile.load
// NONE: fusion_tile.load
// NOREMARK: FUS-3215: 4 stages do not fit shared memory; what they would hold is loaded as it is used

#l = #fusion_tile.layout<"{reg=[[0,1],[0,2],[0,4]], lane=[[0,8],[1,0],[2,0],[4,0],[8,0]], warp=[], shape=[16,16]}">
#f = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[16,16]}">
fusion_tile.program @ring(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync, stages = 4>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c256 = arith.constant 256 : index
  %acc = arith.constant dense<0.0> : tensor<16x16xf32, #f>
  %v = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<32x256xbf16>
  %o = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<16x16xf32>
  %r = scf.for %k = %c0 to %c256 step %c16 iter_args(%s = %acc) -> (tensor<16x16xf32, #f>) {
    %x = fusion_tile.load %v[affine_map<(i, k)[s] -> (i, k + s)>] (%k) checked [false, false] : !fusion_tile.view<32x256xbf16> -> tensor<16x16xbf16, #l>
    %y = fusion_tile.load %v[affine_map<(i, k)[s] -> (i + 16, k + s)>] (%k) checked [false, false] : !fusion_tile.view<32x256xbf16> -> tensor<16x16xbf16, #l>
    %a = fusion_tile.convert_layout %x : tensor<16x16xbf16, #l> -> tensor<16x16xbf16, #f>
    %b = fusion_tile.convert_layout %y : tensor<16x16xbf16, #l> -> tensor<16x16xbf16, #f>
    %d = fusion_tile.dot %a, %b, %s : tensor<16x16xbf16, #f>, tensor<16x16xbf16, #f> -> tensor<16x16xf32, #f>
    scf.yield %d : tensor<16x16xf32, #f>
  }
  fusion_tile.store %r, %o[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<16x16xf32, #f>, !fusion_tile.view<16x16xf32>
  fusion_tile.return
}
