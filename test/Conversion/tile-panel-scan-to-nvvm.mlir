// What a block learns from those of its panel before it: lanes that hold the
// same elements have neighbouring members each, whose words they read together.

// RUN: fusion-opt %s --split-input-file --fusion-convert-tile-to-nvvm --verify-diagnostics | FileCheck %s

// 64 members, two a lane: one access for both, combined in order, then as a
// tree over the lanes: once for all members and once for those before.

// CHECK-LABEL: llvm.func @neighbours
// CHECK: scf.if
// CHECK:   st.relaxed.gpu.global.b64 [$0+0], $1;
// CHECK: ld.relaxed.gpu.global.v2.b64 {$0, $1}, [$2+0];
// CHECK-SAME: @waits bra again;
// CHECK-NOT: ld.relaxed
// CHECK: arith.addf
// CHECK: nvvm.bar.warp.sync
// CHECK-COUNT-10: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.return
fusion_tile.program @neighbours(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64, together = 64 : i64} {
  %memory = fusion_tile.scratch 1040 signals : !llvm.ptr<1>
  %i = gpu.block_id x
  %c0 = arith.constant 0 : index
  %f = arith.constant 1.0 : f32
  fusion_tile.panel_publish %f through %memory[%c0, %i, %c0] members 64 copies 2 at 16 of 1040 : !llvm.ptr<1>, f32
  %b, %t = fusion_tile.panel_scan from %f through %memory[%c0, %i, %c0] members 64 copies 2 at 16 of 1040 : !llvm.ptr<1>, f32 {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  fusion_tile.return
}

// -----

// Forty members of two states: the last lanes read, of members that others have
// as well, so that they wait for nothing that nobody writes.

// CHECK-LABEL: llvm.func @uneven
// CHECK: st.relaxed.gpu.global.v2.b64 [$0+0], {$1, $2};
// CHECK: arith.minui
// CHECK: ld.relaxed.gpu.global.v2.b64 {$0, $1}, [$4+0];
// CHECK-SAME: ld.relaxed.gpu.global.v2.b64 {$2, $3}, [$4+16];
fusion_tile.program @uneven(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64, together = 40 : i64} {
  %memory = fusion_tile.scratch 1296 signals : !llvm.ptr<1>
  %i = gpu.block_id x
  %c0 = arith.constant 0 : index
  %f = arith.constant 1 : i32
  fusion_tile.panel_publish %f, %f through %memory[%c0, %i, %c0] members 40 copies 2 at 16 of 1296 : !llvm.ptr<1>, i32, i32
  %b:2, %t:2 = fusion_tile.panel_scan from %f, %f through %memory[%c0, %i, %c0] members 40 copies 2 at 16 of 1296 : !llvm.ptr<1>, i32, i32 {
  ^bb0(%a1: i32, %b1: i32, %a2: i32, %b2: i32):
    %p1 = arith.muli %a1, %a2 : i32
    %q = arith.muli %a2, %b1 : i32
    %s = arith.addi %q, %b2 : i32
    fusion_tile.yield %p1, %s : i32, i32
  }
  fusion_tile.return
}

// -----

// Only the first of warps with the same elements waits.

#one = #fusion_tile.layout<"{reg=[], lane=[[0],[0],[0],[0],[0]], warp=[[0],[0]], shape=[1]}">

// CHECK-LABEL: llvm.func @owners
// CHECK: st.relaxed
// CHECK: %[[BITS:.*]] = arith.andi %{{.*}}, %c3_i32{{.*}} : i32
// CHECK-NEXT: %{{.*}} = arith.constant 0 : i32
// CHECK-NEXT: %[[FIRST:.*]] = arith.cmpi eq, %[[BITS]]
// CHECK: scf.if %[[FIRST]] -> (f32, f32) {
// CHECK:   ld.relaxed
// CHECK: } else {
// CHECK-NOT: ld.relaxed
// CHECK: }
fusion_tile.program @owners(%p: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, together = 3 : i64} {
  %memory = fusion_tile.scratch 64 signals : !llvm.ptr<1>
  %i = gpu.block_id x
  %c0 = arith.constant 0 : index
  %f = arith.constant 1.0 : f32
  %s = fusion_tile.splat %f : f32 -> tensor<1xf32, #one>
  fusion_tile.panel_publish %s through %memory[%c0, %i, %c0] members 3 copies 2 at 16 of 64 : !llvm.ptr<1>, tensor<1xf32, #one>
  %b, %t = fusion_tile.panel_scan from %s through %memory[%c0, %i, %c0] members 3 copies 2 at 16 of 64 by_owners : !llvm.ptr<1>, tensor<1xf32, #one> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  fusion_tile.return
}

// -----

// Registers that hold an element twice have no place of their own.

#twice = #fusion_tile.layout<"{reg=[[0]], lane=[[0],[0],[1],[2],[4]], warp=[], shape=[8]}">

fusion_tile.program @twice(%p: !llvm.ptr<1>, %s: tensor<8xf32, #twice>) attributes {num_warps = 1 : i64, index_bits = 32 : i64, together = 3 : i64} {
  %memory = fusion_tile.scratch 512 signals : !llvm.ptr<1>
  %c0 = arith.constant 0 : index
  // expected-error @below {{FUS-3326: threads hold an element of the tile more than once}}
  fusion_tile.panel_publish %s through %memory[%c0, %c0, %c0] members 3 copies 2 at 16 of 512 : !llvm.ptr<1>, tensor<8xf32, #twice>
  %b, %t = fusion_tile.panel_scan from %s through %memory[%c0, %c0, %c0] members 3 copies 2 at 16 of 512 : !llvm.ptr<1>, tensor<8xf32, #twice> {
  ^bb0(%u: f32, %v: f32):
    fusion_tile.yield %u : f32
  }
  fusion_tile.return
}

// -----

#one = #fusion_tile.layout<"{reg=[], lane=[[0],[0],[0],[0],[0]], warp=[[0],[0]], shape=[1]}">

fusion_tile.program @all_warps(%p: !llvm.ptr<1>, %s: tensor<1xf32, #one>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, together = 3 : i64} {
  %memory = fusion_tile.scratch 64 signals : !llvm.ptr<1>
  %c0 = arith.constant 0 : index
  // expected-error @below {{FUS-3329: warps hold the same elements; run fusion-tile-lower-exchanges first}}
  %b, %t = fusion_tile.panel_scan from %s through %memory[%c0, %c0, %c0] members 3 copies 2 at 16 of 64 : !llvm.ptr<1>, tensor<1xf32, #one> {
  ^bb0(%u: f32, %v: f32):
    fusion_tile.yield %u : f32
  }
  fusion_tile.return
}
