// RUN: fusion-opt %s --pass-pipeline="builtin.module(tile.program(tile-place-barriers))" | FileCheck %s

#small = #tile.shared_layout<"{bytes=4, align=16, offsets=[[4,8,16,32,64]]}">
#large = #tile.shared_layout<"{bytes=4, align=16, offsets=[[4,8,16,32,64,128]]}">
#l = #tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[32]}">
#m = #tile.layout<"{reg=[[32]], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[64]}">
!small = !tile.buffer<32xf32, #small>
!large = !tile.buffer<64xf32, #large>

// Buffers that share bytes need not begin at one place.
// CHECK-LABEL: tile.program @overlap
// CHECK: tile.local_load
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.local_store
tile.program @overlap(%p: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %z = arith.constant 0.0 : f32
  %a = tile.alloc at 128 : !small
  %b = tile.alloc at 0 : !large
  %u = tile.splat %z : f32 -> tensor<64xf32, #m>
  %t = tile.local_load %a : !small -> tensor<32xf32, #l>
  tile.local_store %u, %b : tensor<64xf32, #m>, !large
  tile.return
}

// Neighbours do not wait for each other.
// CHECK-LABEL: tile.program @apart
// CHECK-NOT: tile.barrier
// CHECK: tile.return
tile.program @apart(%p: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %z = arith.constant 0.0 : f32
  %a = tile.alloc at 0 : !small
  %b = tile.alloc at 128 : !small
  %u = tile.splat %z : f32 -> tensor<32xf32, #l>
  %t = tile.local_load %a : !small -> tensor<32xf32, #l>
  tile.local_store %u, %b : tensor<32xf32, #l>, !small
  tile.return
}

// A barrier of one warp orders nothing between warps.
// CHECK-LABEL: tile.program @warp
// CHECK: tile.local_store
// CHECK-NEXT: tile.barrier within_warp
// CHECK-NEXT: tile.barrier{{$}}
// CHECK-NEXT: tile.local_load
tile.program @warp(%p: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %z = arith.constant 0.0 : f32
  %a = tile.alloc at 0 : !small
  %u = tile.splat %z : f32 -> tensor<32xf32, #l>
  tile.local_store %u, %a : tensor<32xf32, #l>, !small
  tile.barrier within_warp
  %t = tile.local_load %a : !small -> tensor<32xf32, #l>
  tile.return
}

// What one branch has written is read behind both.
// CHECK-LABEL: tile.program @branch
// CHECK: scf.if
// CHECK: tile.local_store
// CHECK-NEXT: {{^ *[}]$}}
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.local_load
tile.program @branch(%p: !llvm.ptr<1>, %c: i1) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %z = arith.constant 0.0 : f32
  %a = tile.alloc at 0 : !small
  %u = tile.splat %z : f32 -> tensor<32xf32, #l>
  scf.if %c {
    tile.local_store %u, %a : tensor<32xf32, #l>, !small
  }
  %t = tile.local_load %a : !small -> tensor<32xf32, #l>
  tile.return
}

#acc = #tile.layout<"{reg=[[0,1],[8,0],[0,8],[0,16],[0,32]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[16,0],[32,0]], shape=[64,64]}">
#major = #tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">
!operand = !tile.buffer<64x64xf16, #major>

// What one product has read is free once it has ended, and what a later one is
// to read may be written meanwhile.
// CHECK-LABEL: tile.program @ended
// CHECK: tile.mma_async
// CHECK-NEXT: tile.mma_wait
// CHECK-NEXT: tile.local_store
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.local_store
// CHECK-NEXT: tile.mma_async
// CHECK-NEXT: tile.mma_wait
// CHECK-NEXT: tile.return
tile.program @ended(%p: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %z = arith.constant 0.0 : f32
  %h = arith.constant 0.0 : f16
  %a = tile.alloc at 0 : !operand
  %b = tile.alloc at 8192 : !operand
  %c = tile.alloc at 16384 : !operand
  %init = tile.splat %z : f32 -> tensor<64x64xf32, #acc>
  %x = tile.splat %h : f16 -> tensor<64x64xf16, #acc>
  %s = tile.mma_async %a, %b, %init : !operand, !operand -> tensor<64x64xf32, #acc>
  %e = tile.mma_wait %s : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
  tile.local_store %x, %c : tensor<64x64xf16, #acc>, !operand
  tile.local_store %x, %b : tensor<64x64xf16, #acc>, !operand
  %t = tile.mma_async %a, %c, %e : !operand, !operand -> tensor<64x64xf32, #acc>
  %f = tile.mma_wait %t : tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
  tile.return
}
