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
