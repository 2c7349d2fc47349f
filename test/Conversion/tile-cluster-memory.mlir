// What blocks of a cluster combine: words that are sent to the shared memory of
// all, where a barrier counts their bytes.

// RUN: fusion-opt %s --fusion-tile-allocate-shared-memory --fusion-convert-tile-to-nvvm | FileCheck %s

#row = #fusion_tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[[0]], shape=[32]}">

// CHECK-LABEL: llvm.func @cluster
// CHECK-SAME: fusion_tile.cluster = 3 : i64
// CHECK-SAME: fusion_tile.shared_bytes = 784 : i64
// CHECK-SAME: nvvm.cluster_dim = array<i32: 3, 1, 1>
// CHECK-SAME: nvvm.minctasm = 2 : i32
// The only thread of the block makes the barrier: 32 words from each of three.
// CHECK: scf.if
// CHECK: nvvm.mbarrier.init
// CHECK: arith.constant 384 : i32
// CHECK: mbarrier.arrive.expect_tx.shared::cta.b64
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.cluster.arrive.relaxed
// Loads come before the others are waited for.
// CHECK: llvm.load
// CHECK: nvvm.cluster.wait
// CHECK: scf.if
// CHECK-COUNT-3: st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32
// CHECK: mbarrier.try_wait.parity.shared::cta.b64 done, [$4], 0;
// CHECK-SAME: ld.shared::cta.b32 word, [$3+0];
// CHECK-SAME: ld.shared::cta.b32 word, [$3+256];
// CHECK-SAME: ld.shared::cta.b32 word, [$3+512];
// CHECK-COUNT-2: arith.addf
fusion_tile.program @cluster(%p: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, cluster = 3 : i64, resident = 2 : i64} {
  %memory = fusion_tile.cluster_memory 784 : !llvm.ptr<3>
  %c0 = arith.constant 0 : index
  %i = gpu.block_id x
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<32xf32>
  %t = fusion_tile.load %x[affine_map<(i) -> (i)>] () checked [false] : !fusion_tile.view<32xf32> -> tensor<32xf32, #row>
  %s = fusion_tile.panel_reduce %t through %memory[%c0, %i, %c0] members 3 copies 1 at 16 of 784 : !llvm.ptr<3>, tensor<32xf32, #row> -> tensor<32xf32, #row> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  fusion_tile.store %s, %x[affine_map<(i) -> (i)>] () checked [false] : tensor<32xf32, #row>, !fusion_tile.view<32xf32>
  fusion_tile.return
}
