// RUN: fusion-opt %s --pass-pipeline="builtin.module(fusion_tile.program(fusion-tile-lower-exchanges,fusion-tile-allocate-shared-memory,fusion-tile-place-barriers))" --split-input-file | FileCheck %s

// A reduction over four warps: in each warp, through shared memory, again.

#row = #fusion_tile.layout<"{reg=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[[64],[128]], shape=[256]}">

// CHECK-LABEL: fusion_tile.program @reduce
// CHECK-SAME: shared_bytes = 16
// CHECK: %[[P:.*]] = fusion_tile.reduce {{.*}} along 0 within_warp : tensor<256xf32, {{.*}}> -> tensor<4xf32,
// CHECK: %[[A:.*]] = fusion_tile.alloc at 0
// CHECK: fusion_tile.local_store %[[P]], %[[A]]
// CHECK-NEXT: fusion_tile.barrier
// CHECK-NEXT: %[[L:.*]] = fusion_tile.local_load %[[A]]
// CHECK: fusion_tile.reduce %[[L]] along 0 : {{.*}} -> f32
fusion_tile.program @reduce(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<256xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<1xf32>
  %t = fusion_tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !fusion_tile.view<256xf32> -> tensor<256xf32, #row>
  %s = fusion_tile.reduce %t along 0 : tensor<256xf32, #row> -> f32 {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  fusion_tile.store %s, %y[affine_map<() -> (0)>] () checked [false] : f32, !fusion_tile.view<1xf32>
  fusion_tile.return
}

// -----

// Columns over eight warps: a thread that kept all partial results of its eight
// columns would have 64 registers of them. Lanes that have the same columns share
// them, two each, and combine these by shuffles.

#columns = #fusion_tile.layout<"{reg=[[1,0],[2,0],[4,0]], lane=[[0,1],[0,2],[0,4],[0,8],[0,16]], warp=[[0,32],[0,64],[0,128]], shape=[8,256]}">

// CHECK-LABEL: fusion_tile.program @columns
// CHECK: %[[P:.*]] = fusion_tile.reduce {{.*}} along 1 within_warp : tensor<8x256xf32, {{.*}}> -> tensor<8x8xf32,
// CHECK: %[[L:.*]] = fusion_tile.local_load {{.*}} -> tensor<8x8xf32, {{.*}}reg={{\[\[}}1,0],[2,0],[4,0],[0,4]], lane={{\[\[}}0,1],[0,2],[0,0],[0,0],[0,0]]
// CHECK: fusion_tile.reduce %[[L]] along 1 : {{.*}} -> tensor<8xf32,
fusion_tile.program @columns(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 8 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<256x8xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<8xf32>
  %t = fusion_tile.load %x[affine_map<(a, b) -> (b, a)>] () checked [false, false] : !fusion_tile.view<256x8xf32> -> tensor<8x256xf32, #columns>
  %s = fusion_tile.reduce %t along 1 : tensor<8x256xf32, #columns> -> tensor<8xf32, #fusion_tile.layout<"{reg=[[1],[2],[4]], lane=[[0],[0],[0],[0],[0]], warp=[[0],[0],[0]], shape=[8]}">> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  fusion_tile.store %s, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<8xf32, #fusion_tile.layout<"{reg=[[1],[2],[4]], lane=[[0],[0],[0],[0],[0]], warp=[[0],[0],[0]], shape=[8]}">>, !fusion_tile.view<8xf32>
  fusion_tile.return
}

// -----

// In a loop, the next iteration's write waits for this one's reads.

#a = #fusion_tile.layout<"{reg=[[1]], lane=[[2],[4],[8],[16],[32]], warp=[[64],[128]], shape=[256]}">
#b = #fusion_tile.layout<"{reg=[[128]], lane=[[1],[2],[4],[8],[16]], warp=[[32],[64]], shape=[256]}">

// CHECK-LABEL: fusion_tile.program @loop
// CHECK-SAME: shared_bytes = 1024
// CHECK: scf.for
// CHECK:   fusion_tile.barrier
// CHECK-NEXT: fusion_tile.local_store
// CHECK-NEXT: fusion_tile.barrier
// CHECK-NEXT: fusion_tile.local_load
// CHECK-NOT: fusion_tile.barrier
// CHECK: fusion_tile.return
fusion_tile.program @loop(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<8x256xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<8x256xf32>
  scf.for %i = %c0 to %c8 step %c1 {
    %t = fusion_tile.load %x[affine_map<(a)[s] -> (s, a)>] (%i) checked [false, false] : !fusion_tile.view<8x256xf32> -> tensor<256xf32, #a>
    %u = fusion_tile.convert_layout %t : tensor<256xf32, #a> -> tensor<256xf32, #b>
    fusion_tile.store %u, %y[affine_map<(a)[s] -> (s, a)>] (%i) checked [false, false] : tensor<256xf32, #b>, !fusion_tile.view<8x256xf32>
  }
  fusion_tile.return
}

// -----

// Within a warp nothing goes through shared memory.

#w = #fusion_tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[[32]], shape=[64]}">
#v = #fusion_tile.layout<"{reg=[], lane=[[2],[1],[4],[8],[16]], warp=[[32]], shape=[64]}">

// CHECK-LABEL: fusion_tile.program @shuffle
// CHECK-SAME: shared_bytes = 0
// CHECK: fusion_tile.convert_layout
fusion_tile.program @shuffle(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<64xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<64xf32>
  %t = fusion_tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !fusion_tile.view<64xf32> -> tensor<64xf32, #w>
  %u = fusion_tile.convert_layout %t : tensor<64xf32, #w> -> tensor<64xf32, #v>
  fusion_tile.store %u, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<64xf32, #v>, !fusion_tile.view<64xf32>
  fusion_tile.return
}

// -----

// A ring lies apart from all else, at the alignment of its swizzle; so does a
// buffer that copies read. The barriers at which a cluster meets come last.

#ring = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">
#line = #fusion_tile.shared_layout<"{bytes=4, align=16, offsets=[[4,8,16,32,64]]}">
#l = #fusion_tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[32]}">
#h = #fusion_tile.layout<"{reg=[], lane=[[1],[2],[4],[8],[0]], warp=[], shape=[16]}">
!buf = !fusion_tile.buffer<64x64xbf16, #ring>
!line = !fusion_tile.buffer<32xf32, #line>

// 3 stages of 8192 bytes, two barriers each.
// CHECK-LABEL: fusion_tile.program @rings
// CHECK-SAME: shared_bytes = 24976
// CHECK: fusion_tile.make_ring at 0 :
// CHECK: fusion_tile.alloc at 24704
// CHECK: fusion_tile.specialize
// CHECK-NOT: fusion_tile.barrier
// CHECK: fusion_tile.local_store
// CHECK-NEXT: fusion_tile.barrier
// CHECK-NEXT: fusion_tile.local_load
// CHECK: producer
// CHECK-NOT: fusion_tile.barrier
fusion_tile.program @rings(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, extra_warps = 1 : i64, index_bits = 32 : i64, cluster = 2 : i64} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %r = fusion_tile.make_ring : !fusion_tile.ring<3, [!buf]>
  %s = fusion_tile.alloc : !line
  fusion_tile.specialize consumer {
    %t = fusion_tile.splat %z : f32 -> tensor<32xf32, #l>
    %w = fusion_tile.wait %r[%c0] : !fusion_tile.ring<3, [!buf]> -> !buf
    fusion_tile.release %r[%c0] : !fusion_tile.ring<3, [!buf]>
    %b = fusion_tile.alloc : !line
    fusion_tile.local_store %t, %b : tensor<32xf32, #l>, !line
    %u = fusion_tile.local_load %b : !line -> tensor<32xf32, #l>
    %v = fusion_tile.cluster_reduce %u through %s along 0 : tensor<32xf32, #l>, !line -> tensor<16xf32, #h>
  } producer {
    %a = fusion_tile.acquire %r[%c0] : !fusion_tile.ring<3, [!buf]> -> !buf
  }
  fusion_tile.return
}

// -----

// What several groups of consumers reserve is there for each: buffers of one
// group share among themselves, those of two lie apart.

#line = #fusion_tile.shared_layout<"{bytes=4, align=128, offsets=[[4,8,16,32,64,128,256,512,1024,2048,4096,8192]]}">
#l = #fusion_tile.layout<"{reg=[[32],[64],[128],[256],[512],[1024],[2048]], lane=[[1],[2],[4],[8],[16]], warp=[], shape=[4096]}">
!line = !fusion_tile.buffer<4096xf32, #line>

// CHECK-LABEL: fusion_tile.program @groups
// CHECK-SAME: shared_bytes = 32800
// CHECK: fusion_tile.make_ring at 32768 : <2, []>
// CHECK: fusion_tile.specialize {group_bytes = 16384 : i64, groups = 2 : i64} consumer
// CHECK: fusion_tile.alloc at 0
// CHECK: fusion_tile.local_load
// CHECK: fusion_tile.alloc at 0
// CHECK: fusion_tile.barrier
// CHECK-NEXT: fusion_tile.local_store
fusion_tile.program @groups(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, extra_warps = 2 : i64, index_bits = 32 : i64} {
  %z = arith.constant 0.0 : f32
  %r = fusion_tile.make_ring : !fusion_tile.ring<2, []>
  fusion_tile.specialize {groups = 2 : i64} consumer {
    %t = fusion_tile.splat %z : f32 -> tensor<4096xf32, #l>
    %a = fusion_tile.alloc : !line
    fusion_tile.local_store %t, %a : tensor<4096xf32, #l>, !line
    %u = fusion_tile.local_load %a : !line -> tensor<4096xf32, #l>
    %b = fusion_tile.alloc : !line
    fusion_tile.local_store %u, %b : tensor<4096xf32, #l>, !line
    %v = fusion_tile.local_load %b : !line -> tensor<4096xf32, #l>
  } producer {
  }
  fusion_tile.return
}
