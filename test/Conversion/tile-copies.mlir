// RUN: fusion-opt %s --fusion-convert-tile-to-nvvm --split-input-file --verify-diagnostics | FileCheck %s

// 16 bytes a thread, zeros where the check fails, nothing without the
// predicate; the stage's place is a multiple of its size.

#s = #fusion_tile.shared_layout<"{bytes=2, align=128, offsets=[[32,64,144,256],[2,4,8,16]]}">
#f = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[16,16]}">

// CHECK-LABEL: llvm.func @copy
// CHECK: %[[IN:.*]] = arith.cmpi ult
// CHECK: arith.muli %{{.*}}, %{{.*}} : i32
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "{\0A.reg .pred p;\0Asetp.ne.b32 p, $3, 0;\0A@p cp.async.cg.shared.global [$0], [$1], 16, $2;\0A}", "l,l,r,r,~{memory}"
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 1
// CHECK: nvvm.barrier
// CHECK: %[[M:.*]] = llvm.call_intrinsic "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16"(%{{.*}}) : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
// CHECK: llvm.extractvalue %[[M]][0]
// CHECK: llvm.bitcast %{{.*}} : i32 to vector<2xbf16>
// CHECK-NOT: llvm.load
fusion_tile.program @copy(%p: !llvm.ptr<1>, %o: !llvm.ptr<1>, %n: index) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %c1 = arith.constant 1 : index
  %v = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<9x16xbf16>
  %w = fusion_tile.view %o[] : !llvm.ptr<1> to !fusion_tile.view<16x16xbf16>
  %b = fusion_tile.alloc at 0 stages 3 : !fusion_tile.buffer<16x16xbf16, #s>
  %st = fusion_tile.stage %b[%n] : !fusion_tile.buffer<16x16xbf16, #s>
  %ok = arith.cmpi slt, %n, %c1 : index
  fusion_tile.copy_start %v[affine_map<(i, k) -> (i, k)>] () checked [true, false] into %st by <"{reg=[[0,1],[0,2],[0,4]], lane=[[0,8],[1,0],[2,0],[4,0],[8,0]], warp=[], shape=[16,16]}"> when %ok : !fusion_tile.view<9x16xbf16>, !fusion_tile.buffer<16x16xbf16, #s>
  fusion_tile.copy_commit
  fusion_tile.copy_wait 1
  fusion_tile.barrier
  %t = fusion_tile.local_load %st : !fusion_tile.buffer<16x16xbf16, #s> -> tensor<16x16xbf16, #f>
  fusion_tile.store %t, %w[affine_map<(i, k) -> (i, k)>] () checked [false, false] : tensor<16x16xbf16, #f>, !fusion_tile.view<16x16xbf16>
  fusion_tile.return
}

// -----

// The buffer has the other dimension along memory.

#s = #fusion_tile.shared_layout<"{bytes=2, align=128, offsets=[[2,4,8,16],[32,64,144,256]]}">
#f = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[16,16]}">

// CHECK-LABEL: llvm.func @transposed
// CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.b16
fusion_tile.program @transposed(%o: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %w = fusion_tile.view %o[] : !llvm.ptr<1> to !fusion_tile.view<16x16xbf16>
  %b = fusion_tile.alloc at 0 : !fusion_tile.buffer<16x16xbf16, #s>
  %t = fusion_tile.local_load %b : !fusion_tile.buffer<16x16xbf16, #s> -> tensor<16x16xbf16, #f>
  fusion_tile.store %t, %w[affine_map<(i, k) -> (i, k)>] () checked [false, false] : tensor<16x16xbf16, #f>, !fusion_tile.view<16x16xbf16>
  fusion_tile.return
}

// -----

#s = #fusion_tile.shared_layout<"{bytes=2, align=128, offsets=[[32,64,144,256],[2,4,8,16]]}">

fusion_tile.program @two_bytes(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %v = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16x17xbf16>
  %b = fusion_tile.alloc at 0 : !fusion_tile.buffer<16x16xbf16, #s>
  // expected-error @+1 {{FUS-3321}}
  fusion_tile.copy_start %v[affine_map<(i, k) -> (i, k)>] () checked [false, false] into %b by <"{reg=[[0,1],[0,2],[0,4]], lane=[[0,8],[1,0],[2,0],[4,0],[8,0]], warp=[], shape=[16,16]}"> : !fusion_tile.view<16x17xbf16>, !fusion_tile.buffer<16x16xbf16, #s>
  fusion_tile.return
}

// -----

#s = #fusion_tile.shared_layout<"{bytes=2, align=128, offsets=[[32,64,144,256],[2,4,8,16]]}">

fusion_tile.program @no_stages(%n: index) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %b = fusion_tile.alloc at 0 : !fusion_tile.buffer<16x16xbf16, #s>
  // expected-error @+1 {{FUS-3320}}
  %st = fusion_tile.stage %b[%n] : !fusion_tile.buffer<16x16xbf16, #s>
  fusion_tile.return
}

// -----

// What each thread has copied itself it reads itself, though a warp could read
// it for all: nothing says that the copies of other threads are there.

#s = #fusion_tile.shared_layout<"{bytes=2, align=128, offsets=[[32,64,144,256],[2,4,8,16]]}">
#f = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[16,16]}">

// CHECK-LABEL: llvm.func @own_copy
// CHECK-COUNT-4: cp.async.ca.shared.global
// CHECK-NOT: ldmatrix
// CHECK: llvm.return
fusion_tile.program @own_copy(%p: !llvm.ptr<1>, %o: !llvm.ptr<1>, %n: index) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %v = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16x16xbf16>
  %w = fusion_tile.view %o[] : !llvm.ptr<1> to !fusion_tile.view<16x16xbf16>
  %b = fusion_tile.alloc at 0 stages 3 : !fusion_tile.buffer<16x16xbf16, #s>
  %st = fusion_tile.stage %b[%n] : !fusion_tile.buffer<16x16xbf16, #s>
  fusion_tile.copy_start %v[affine_map<(i, k) -> (i, k)>] () checked [false, false] into %st by <"{reg=[[0,1],[8,0],[0,8]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[], shape=[16,16]}"> : !fusion_tile.view<16x16xbf16>, !fusion_tile.buffer<16x16xbf16, #s>
  fusion_tile.copy_commit
  fusion_tile.copy_wait 0
  %t = fusion_tile.local_load %st : !fusion_tile.buffer<16x16xbf16, #s> -> tensor<16x16xbf16, #f>
  fusion_tile.store %t, %w[affine_map<(i, k) -> (i, k)>] () checked [false, false] : tensor<16x16xbf16, #f>, !fusion_tile.view<16x16xbf16>
  fusion_tile.return
}
