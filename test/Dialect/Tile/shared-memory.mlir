// RUN: fusion-opt %s --pass-pipeline="builtin.module(tile.program(tile-lower-exchanges,tile-allocate-shared-memory,tile-place-barriers))" --split-input-file | FileCheck %s

// A reduction over four warps: in each warp, through shared memory, again.

#row = #tile.layout<"{reg=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[[64],[128]], shape=[256]}">

// CHECK-LABEL: tile.program @reduce
// CHECK-SAME: shared_bytes = 16
// CHECK: %[[P:.*]] = tile.reduce {{.*}} along 0 within_warp : tensor<256xf32, {{.*}}> -> tensor<4xf32,
// CHECK: %[[A:.*]] = tile.alloc at 0
// CHECK: tile.local_store %[[P]], %[[A]]
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: %[[L:.*]] = tile.local_load %[[A]]
// CHECK: tile.reduce %[[L]] along 0 : {{.*}} -> f32
tile.program @reduce(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<256xf32>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<1xf32>
  %t = tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !tile.view<256xf32> -> tensor<256xf32, #row>
  %s = tile.reduce %t along 0 : tensor<256xf32, #row> -> f32 {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    tile.yield %w : f32
  }
  tile.store %s, %y[affine_map<() -> (0)>] () checked [false] : f32, !tile.view<1xf32>
  tile.return
}

// -----

// Columns over eight warps: a thread that kept all partial results of its eight
// columns would have 64 registers of them. Lanes that have the same columns share
// them, two each, and combine these by shuffles.

#columns = #tile.layout<"{reg=[[1,0],[2,0],[4,0]], lane=[[0,1],[0,2],[0,4],[0,8],[0,16]], warp=[[0,32],[0,64],[0,128]], shape=[8,256]}">

// CHECK-LABEL: tile.program @columns
// CHECK: %[[P:.*]] = tile.reduce {{.*}} along 1 within_warp : tensor<8x256xf32, {{.*}}> -> tensor<8x8xf32,
// CHECK: %[[L:.*]] = tile.local_load {{.*}} -> tensor<8x8xf32, {{.*}}reg={{\[\[}}1,0],[2,0],[4,0],[0,4]], lane={{\[\[}}0,1],[0,2],[0,0],[0,0],[0,0]]
// CHECK: tile.reduce %[[L]] along 1 : {{.*}} -> tensor<8xf32,
tile.program @columns(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 8 : i64, index_bits = 32 : i64} {
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<256x8xf32>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<8xf32>
  %t = tile.load %x[affine_map<(a, b) -> (b, a)>] () checked [false, false] : !tile.view<256x8xf32> -> tensor<8x256xf32, #columns>
  %s = tile.reduce %t along 1 : tensor<8x256xf32, #columns> -> tensor<8xf32, #tile.layout<"{reg=[[1],[2],[4]], lane=[[0],[0],[0],[0],[0]], warp=[[0],[0],[0]], shape=[8]}">> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    tile.yield %w : f32
  }
  tile.store %s, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<8xf32, #tile.layout<"{reg=[[1],[2],[4]], lane=[[0],[0],[0],[0],[0]], warp=[[0],[0],[0]], shape=[8]}">>, !tile.view<8xf32>
  tile.return
}

// -----

// In a loop, the next iteration's write waits for this one's reads.

#a = #tile.layout<"{reg=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[[64],[128]], shape=[256]}">
#b = #tile.layout<"{reg=[[128]], lane=[[1],[2],[4],[8],[16]], warp=[[32],[64]], shape=[256]}">

// CHECK-LABEL: tile.program @loop
// CHECK-SAME: shared_bytes = 1024
// CHECK: scf.for
// CHECK:   tile.barrier
// CHECK-NEXT: tile.local_store
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.local_load
// CHECK-NOT: tile.barrier
// CHECK: tile.return
tile.program @loop(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<8x256xf32>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<8x256xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    %t = tile.load %x[affine_map<(a)[s] -> (s, a)>] (%i) checked [false, false] : !tile.view<8x256xf32> -> tensor<256xf32, #a>
    %u = tile.convert_layout %t : tensor<256xf32, #a> -> tensor<256xf32, #b>
    tile.store %u, %y[affine_map<(a)[s] -> (s, a)>] (%i) checked [false, false] : tensor<256xf32, #b>, !tile.view<8x256xf32>
  }
  tile.return
}

// -----

// Within a warp nothing goes through shared memory.

#w = #tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]], shape=[64]}">
#v = #tile.layout<"{reg=[], lane=[[2],[1],[4],[8],[16]], warp=[[32]], shape=[64]}">

// CHECK-LABEL: tile.program @shuffle
// CHECK-SAME: shared_bytes = 0
// CHECK: tile.convert_layout
tile.program @shuffle(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<64xf32>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<64xf32>
  %t = tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !tile.view<64xf32> -> tensor<64xf32, #w>
  %u = tile.convert_layout %t : tensor<64xf32, #w> -> tensor<64xf32, #v>
  tile.store %u, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<64xf32, #v>, !tile.view<64xf32>
  tile.return
}

// -----

// A ring lies apart from all else, at the alignment of its swizzle; so does a
// buffer that copies read. The barriers at which a cluster meets come last.

#ring = #tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">
#line = #tile.shared_layout<"{bytes=4, align=16, offsets=[[4,8,16,32,64]]}">
#l = #tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[32]}">
#h = #tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[0]], warp=[], shape=[16]}">
!buf = !tile.buffer<64x64xbf16, #ring>
!line = !tile.buffer<32xf32, #line>

// 3 stages of 8192 bytes, two barriers each.
// CHECK-LABEL: tile.program @rings
// CHECK-SAME: shared_bytes = 24976
// CHECK: tile.make_ring at 0 :
// CHECK: tile.alloc at 24704
// CHECK: tile.specialize
// CHECK-NOT: tile.barrier
// CHECK: tile.local_store
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: tile.local_load
// CHECK: producer
// CHECK-NOT: tile.barrier
tile.program @rings(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, extra_warps = 1 : i64, index_bits = 32 : i64, cluster = 2 : i64} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %r = tile.make_ring : !tile.ring<3, [!buf]>
  %s = tile.alloc : !line
  tile.specialize consumer {
    %t = tile.splat %z : f32 -> tensor<32xf32, #l>
    %w = tile.wait %r[%c0] : !tile.ring<3, [!buf]> -> !buf
    tile.release %r[%c0] : !tile.ring<3, [!buf]>
    %b = tile.alloc : !line
    tile.local_store %t, %b : tensor<32xf32, #l>, !line
    %u = tile.local_load %b : !line -> tensor<32xf32, #l>
    %v = tile.cluster_reduce %u through %s along 0 : tensor<32xf32, #l>, !line -> tensor<16xf32, #h>
  } producer {
    %a = tile.acquire %r[%c0] : !tile.ring<3, [!buf]> -> !buf
  }
  tile.return
}

// -----

// What several groups of consumers reserve is there for each: buffers of one
// group share among themselves, those of two lie apart.

#line = #tile.shared_layout<"{bytes=4, align=128, offsets=[[4,8,16,32,64,128,256,512,1024,2048,4096,8192]]}">
#l = #tile.layout<"{reg=[[32],[64],[128],[256],[512],[1024],[2048]], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[4096]}">
!line = !tile.buffer<4096xf32, #line>

// CHECK-LABEL: tile.program @groups
// CHECK-SAME: shared_bytes = 32800
// CHECK: tile.make_ring at 32768 : <2, []>
// CHECK: tile.specialize {group_bytes = 16384 : i64, groups = 2 : i64} consumer
// CHECK: tile.alloc at 0
// CHECK: tile.local_load
// CHECK: tile.alloc at 0
// CHECK: tile.barrier
// CHECK-NEXT: tile.local_store
tile.program @groups(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, extra_warps = 2 : i64, index_bits = 32 : i64} {
  %z = arith.constant 0.0 : f32
  %r = tile.make_ring : !tile.ring<2, []>
  tile.specialize {groups = 2 : i64} consumer {
    %t = tile.splat %z : f32 -> tensor<4096xf32, #l>
    %a = tile.alloc : !line
    tile.local_store %t, %a : tensor<4096xf32, #l>, !line
    %u = tile.local_load %a : !line -> tensor<4096xf32, #l>
    %b = tile.alloc : !line
    tile.local_store %u, %b : tensor<4096xf32, #l>, !line
    %v = tile.local_load %b : !line -> tensor<4096xf32, #l>
  } producer {
  }
  tile.return
}
