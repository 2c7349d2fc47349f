// RUN: fusion-opt %s --pass-pipeline="builtin.module(fusion_tile.program(fusion-tile-place-barriers))" | FileCheck %s

#small = #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[4,8,16,32,64]]}">
#large = #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[4,8,16,32,64,128]]}">
#l = #fusion_tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[32]}">
#m = #fusion_tile.layout<"{reg=[[32]], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[64]}">
!small = !fusion_tile.buffer<32xf32, #small>
!large = !fusion_tile.buffer<64xf32, #large>

// Buffers that share bytes need not begin at one place.
// CHECK-LABEL: fusion_tile.program @overlap
// CHECK: fusion_tile.local_load
// CHECK-NEXT: fusion_tile.barrier
// CHECK-NEXT: fusion_tile.local_store
fusion_tile.program @overlap(%p: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %z = arith.constant 0.0 : f32
  %a = fusion_tile.alloc at 128 : !small
  %b = fusion_tile.alloc at 0 : !large
  %u = fusion_tile.splat %z : f32 -> tensor<64xf32, #m>
  %t = fusion_tile.local_load %a : !small -> tensor<32xf32, #l>
  fusion_tile.local_store %u, %b : tensor<64xf32, #m>, !large
  fusion_tile.return
}

// Neighbours do not wait for each other.
// CHECK-LABEL: fusion_tile.program @apart
// CHECK-NOT: fusion_tile.barrier
// CHECK: fusion_tile.return
fusion_tile.program @apart(%p: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %z = arith.constant 0.0 : f32
  %a = fusion_tile.alloc at 0 : !small
  %b = fusion_tile.alloc at 128 : !small
  %u = fusion_tile.splat %z : f32 -> tensor<32xf32, #l>
  %t = fusion_tile.local_load %a : !small -> tensor<32xf32, #l>
  fusion_tile.local_store %u, %b : tensor<32xf32, #l>, !small
  fusion_tile.return
}

// A barrier of one warp orders nothing between warps.
// CHECK-LABEL: fusion_tile.program @warp
// CHECK: fusion_tile.local_store
// CHECK-NEXT: fusion_tile.barrier within_warp
// CHECK-NEXT: fusion_tile.barrier{{$}}
// CHECK-NEXT: fusion_tile.local_load
fusion_tile.program @warp(%p: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %z = arith.constant 0.0 : f32
  %a = fusion_tile.alloc at 0 : !small
  %u = fusion_tile.splat %z : f32 -> tensor<32xf32, #l>
  fusion_tile.local_store %u, %a : tensor<32xf32, #l>, !small
  fusion_tile.barrier within_warp
  %t = fusion_tile.local_load %a : !small -> tensor<32xf32, #l>
  fusion_tile.return
}

// What one branch has written is read behind both.
// CHECK-LABEL: fusion_tile.program @branch
// CHECK: scf.if
// CHECK: fusion_tile.local_store
// CHECK-NEXT: {{^ *[}]$}}
// CHECK-NEXT: fusion_tile.barrier
// CHECK-NEXT: fusion_tile.local_load
fusion_tile.program @branch(%p: !llvm.ptr<1>, %c: i1) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %z = arith.constant 0.0 : f32
  %a = fusion_tile.alloc at 0 : !small
  %u = fusion_tile.splat %z : f32 -> tensor<32xf32, #l>
  scf.if %c {
    fusion_tile.local_store %u, %a : tensor<32xf32, #l>, !small
  }
  %t = fusion_tile.local_load %a : !small -> tensor<32xf32, #l>
  fusion_tile.return
}

#acc = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8],[0,16],[0,32]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[16,0],[32,0]], shape=[64,64]}">
#major = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">
!operand = !fusion_tile.buffer<64x64xf16, #major>

// What one product has read is free once it has ended, and what a later one is
// to read may be written meanwhile.
// CHECK-LABEL: fusion_tile.program @ended
// CHECK: fusion_tile.mma_async
// CHECK-NEXT: fusion_tile.mma_wait
// CHECK-NEXT: fusion_tile.local_store
// CHECK-NEXT: fusion_tile.barrier
// CHECK-NEXT: fusion_tile.local_store
// CHECK-NEXT: fusion_tile.mma_async
// CHECK-NEXT: fusion_tile.mma_wait
// CHECK-NEXT: fusion_tile.return
fusion_tile.program @ended(%p: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %z = arith.constant 0.0 : f32
  %h = arith.constant 0.0 : f16
  %a = fusion_tile.alloc at 0 : !operand
  %b = fusion_tile.alloc at 8192 : !operand
  %c = fusion_tile.alloc at 16384 : !operand
  %init = fusion_tile.splat %z : f32 -> tensor<64x64xf32, #acc>
  %x = fusion_tile.splat %h : f16 -> tensor<64x64xf16, #acc>
  %s = fusion_tile.mma_async %a, %b, %init : !operand, !operand -> tensor<64x64xf32, #acc>
  %e = fusion_tile.mma_wait %s : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
  fusion_tile.local_store %x, %c : tensor<64x64xf16, #acc>, !operand
  fusion_tile.local_store %x, %b : tensor<64x64xf16, #acc>, !operand
  %t = fusion_tile.mma_async %a, %c, %e : !operand, !operand -> tensor<64x64xf32, #acc>
  %f = fusion_tile.mma_wait %t : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
  fusion_tile.return
}

#flags = #fusion_tile.shared_layout<"{bytes=1, align=16, offsets=[[1,2,4,8,16,32,64]]}">
#list = #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[4,8,16,32,64,128,256]]}">
#f = #fusion_tile.layout<"{reg=[[32],[64]], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[128]}">
!flags = !fusion_tile.buffer<128xi8, #flags>
!list = !fusion_tile.buffer<128xi32, #list>

// What is listed waits for the flags, and who reads the list for it; by then all
// have read the flags, so that the next ones wait for nobody.
// CHECK-LABEL: fusion_tile.program @list
// CHECK: scf.for
// CHECK-NEXT: fusion_tile.local_store
// CHECK-NEXT: fusion_tile.barrier
// CHECK-NEXT: fusion_tile.list_flags
// CHECK-NEXT: fusion_tile.barrier
// CHECK-NEXT: fusion_tile.local_element
// CHECK-NOT: fusion_tile.barrier
// CHECK: fusion_tile.return
fusion_tile.program @list(%p: !llvm.ptr<1>, %n: index) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %zero = arith.constant 0 : i8
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %flags = fusion_tile.alloc at 0 : !flags
  %list = fusion_tile.alloc at 128 : !list
  %none = fusion_tile.splat %zero : i8 -> tensor<128xi8, #f>
  scf.for %step = %c0 to %n step %c1 {
    fusion_tile.local_store %none, %flags : tensor<128xi8, #f>, !flags
    %count = fusion_tile.list_flags %flags into %list : !flags, !list
    %first = fusion_tile.local_element %list[%step] : !list
  }
  fusion_tile.return
}
