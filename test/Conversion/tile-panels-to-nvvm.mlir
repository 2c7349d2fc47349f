// What blocks of a panel combine: words of an element and the number of the
// exchange, written by one lane of four that have a row, read by all four, each
// from every fourth member.

// RUN: fusion-opt %s --split-input-file --fusion-convert-tile-to-nvvm --verify-diagnostics | FileCheck %s

#rows = #fusion_tile.layout<"{reg=[[8]], lane=[[0],[0],[1],[2],[4]], warp=[[16]], shape=[32]}">

// CHECK-LABEL: llvm.func @panel
// CHECK-SAME: (%{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %[[MEMORY:[^:]*]]: !llvm.ptr<1>)
// CHECK-SAME: fusion_tile.together = 8 : i64
// CHECK: scf.if
// CHECK: llvm.getelementptr %[[MEMORY]]
// CHECK: st.relaxed.gpu.global.v2.b64 [$0+0], {$1, $2};
// A block has 256 bytes: a warp's 16 rows, 128 bytes, lie beside those of the
// other blocks, so that every fourth is 512 bytes further.
// CHECK: ld.relaxed.gpu.global.v2.b64 {$0, $1}, [$4+0];
// CHECK-SAME: ld.relaxed.gpu.global.v2.b64 {$2, $3}, [$4+512];
// CHECK-SAME: setp.ne.u32 waits, high, $5;
// CHECK-SAME: @waits bra again;
// CHECK-COUNT-2: arith.addf
// CHECK: nvvm.bar.warp.sync
// Two exchanges among the lanes for each of two rows.
// CHECK-COUNT-4: nvvm.shfl.sync bfly
// The last block of eight clears what they have written.
// CHECK: nvvm.barrier
// CHECK: atom.add.acq_rel.gpu.global.u32
// CHECK: arith.constant 7 : i32
// CHECK: scf.for
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
fusion_tile.program @panel(%p: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, together = 8 : i64} {
  %memory = fusion_tile.scratch 2176 signals : !llvm.ptr<1>
  %i = gpu.block_id x
  %c0 = arith.constant 0 : index
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<32xf32>
  %t = fusion_tile.load %x[affine_map<(i) -> (i)>] () checked [false] : !fusion_tile.view<32xf32> -> tensor<32xf32, #rows>
  %s = fusion_tile.panel_reduce %t through %memory[%c0, %i, %c0] members 8 copies 1 at 128 of 2176 : !llvm.ptr<1>, tensor<32xf32, #rows> -> tensor<32xf32, #rows> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  fusion_tile.store %s, %x[affine_map<(i) -> (i)>] () checked [false] : tensor<32xf32, #rows>, !fusion_tile.view<32xf32>
  fusion_tile.panel_leave %memory[%c0] arrivals 8 of 2176 : !llvm.ptr<1>
  fusion_tile.return
}

// -----

// Registers that hold an element twice have no place of their own.

#twice = #fusion_tile.layout<"{reg=[[0]], lane=[[0],[0],[1],[2],[4]], warp=[[8]], shape=[16]}">

fusion_tile.program @twice(%p: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, together = 8 : i64} {
  %memory = fusion_tile.scratch 2176 signals : !llvm.ptr<1>
  %c0 = arith.constant 0 : index
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16xf32>
  %t = fusion_tile.load %x[affine_map<(i) -> (i)>] () checked [false] : !fusion_tile.view<16xf32> -> tensor<16xf32, #twice>
  // expected-error @below {{FUS-3326: threads hold an element of the tile more than once}}
  %s = fusion_tile.panel_reduce %t through %memory[%c0, %c0, %c0] members 8 copies 1 at 128 of 2176 : !llvm.ptr<1>, tensor<16xf32, #twice> -> tensor<16xf32, #twice> {
  ^bb0(%u: f32, %v: f32):
    fusion_tile.yield %u : f32
  }
  fusion_tile.return
}
