// RUN: fusion-opt %s --pass-pipeline="builtin.module(fusion_tile.program(fusion-tile-assign-layouts))" --split-input-file | FileCheck %s

// Four floats a thread, neighbouring lanes on neighbouring memory.

// CHECK-LABEL: fusion_tile.program @row_major
// CHECK: fusion_tile.load {{.*}} -> tensor<4x128xf32, #fusion_tile.layout<"{reg={{\[\[}}0,1],[0,2]], lane={{\[\[}}0,4],[0,8],[0,16],[0,32],[0,64]], warp={{\[\[}}1,0],[2,0]], shape=[4,128]}">>
fusion_tile.program @row_major(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<64x128xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<64x128xf32>
  %t = fusion_tile.load %x[affine_map<(a, b) -> (a, b)>] () checked [false, false] : !fusion_tile.view<64x128xf32> -> tensor<4x128xf32>
  fusion_tile.store %t, %y[affine_map<(a, b) -> (a, b)>] () checked [false, false] : tensor<4x128xf32>, !fusion_tile.view<64x128xf32>
  fusion_tile.return
}

// -----

// A row length that is odd forbids wide accesses, not coalescing.

// CHECK-LABEL: fusion_tile.program @odd
// CHECK: fusion_tile.load {{.*}} -> tensor<4x128xf32, #fusion_tile.layout<"{reg={{\[\[}}1,0],[2,0]], lane={{\[\[}}0,1],[0,2],[0,4],[0,8],[0,16]],
fusion_tile.program @odd(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<64x127xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<64x127xf32>
  %t = fusion_tile.load %x[affine_map<(a, b) -> (a, b)>] () checked [false, true] : !fusion_tile.view<64x127xf32> -> tensor<4x128xf32>
  fusion_tile.store %t, %y[affine_map<(a, b) -> (a, b)>] () checked [false, true] : tensor<4x128xf32>, !fusion_tile.view<64x127xf32>
  fusion_tile.return
}

// -----

// Read along one dimension, written along the other: one conversion between.

// CHECK-LABEL: fusion_tile.program @transpose
// CHECK: %[[L:.*]] = fusion_tile.load
// CHECK: %[[C:.*]] = fusion_tile.convert_layout %[[L]]
// CHECK-NOT: fusion_tile.convert_layout
// CHECK: fusion_tile.store
fusion_tile.program @transpose(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 8 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<32x32xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<32x32xf32>
  %t = fusion_tile.load %x[affine_map<(a, b) -> (b, a)>] () checked [false, false] : !fusion_tile.view<32x32xf32> -> tensor<32x32xf32>
  %n = arith.negf %t : tensor<32x32xf32>
  fusion_tile.store %n, %y[affine_map<(a, b) -> (a, b)>] () checked [false, false] : tensor<32x32xf32>, !fusion_tile.view<32x32xf32>
  fusion_tile.return
}

// -----

// Warps go to rows first, so that the reduction stays inside each warp; its
// result is the slice of the rows' layout, and broadcasts back for free.

// CHECK-LABEL: fusion_tile.program @rows
// CHECK: fusion_tile.reduce {{.*}} along 1 : tensor<4x256xf32, {{.*}} warp={{\[\[}}1,0],[2,0]], shape=[4,256]}">> -> tensor<4xf32, #fusion_tile.layout<"{reg=[], lane={{\[\[}}0],[0],[0],[0],[0]], warp={{\[\[}}1],[2]], shape=[4]}">>
// CHECK-NOT: fusion_tile.convert_layout
fusion_tile.program @rows(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<4x256xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<4x256xf32>
  %t = fusion_tile.load %x[affine_map<(a, b) -> (a, b)>] () checked [false, false] : !fusion_tile.view<4x256xf32> -> tensor<4x256xf32>
  %s = fusion_tile.reduce %t along 1 : tensor<4x256xf32> -> tensor<4xf32> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  %b = fusion_tile.broadcast %s dims [0] : tensor<4xf32> -> tensor<4x256xf32>
  %d = arith.subf %t, %b : tensor<4x256xf32>
  fusion_tile.store %d, %y[affine_map<(a, b) -> (a, b)>] () checked [false, false] : tensor<4x256xf32>, !fusion_tile.view<4x256xf32>
  fusion_tile.return
}

// -----

// A load that has a layout of its own, for a reduction.

// CHECK-LABEL: fusion_tile.program @converted_for_reduction
// CHECK: %[[L:.*]] = fusion_tile.load
// CHECK: %[[C:.*]] = fusion_tile.convert_layout %[[L]]
// CHECK: fusion_tile.reduce %[[C]] along 2
fusion_tile.program @converted_for_reduction(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<2x128x2xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<2x2xf32>
  %t = fusion_tile.load %x[affine_map<(a, b, c) -> (a, c, b)>] () checked [false, false, false] : !fusion_tile.view<2x128x2xf32> -> tensor<2x2x128xf32>
  %s = fusion_tile.reduce %t along 2 : tensor<2x2x128xf32> -> tensor<2x2xf32> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  fusion_tile.store %s, %y[affine_map<(a, b) -> (a, b)>] () checked [false, false] : tensor<2x2xf32>, !fusion_tile.view<2x2xf32>
  fusion_tile.return
}

// -----

// Parts of a tile that memory spreads over lanes along the divided dimension:
// the tile is brought to where each part is in the same threads.

// CHECK-LABEL: fusion_tile.program @parts
// CHECK: %[[L:.*]] = fusion_tile.load
// CHECK: %[[C:.*]] = fusion_tile.convert_layout %[[L]] {{.*}} -> tensor<16x128xf32, #fusion_tile.layout<"{reg={{.*}}[0,64]],
// CHECK: fusion_tile.slice %[[C]] [0, 0]
// CHECK: fusion_tile.slice %{{.*}} [0, 64]
fusion_tile.program @parts(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16x128xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<16x64xf32>
  %t = fusion_tile.load %x[affine_map<(a, b) -> (a, b)>] () checked [false, false] : !fusion_tile.view<16x128xf32> -> tensor<16x128xf32>
  %l = fusion_tile.slice %t [0, 0] : tensor<16x128xf32> -> tensor<16x64xf32>
  %h = fusion_tile.slice %t [0, 64] : tensor<16x128xf32> -> tensor<16x64xf32>
  %s = arith.addf %l, %h : tensor<16x64xf32>
  fusion_tile.store %s, %y[affine_map<(a, b) -> (a, b)>] () checked [false, false] : tensor<16x64xf32>, !fusion_tile.view<16x64xf32>
  fusion_tile.return
}

// -----

// As many columns as threads, two each: accesses are narrower than they could
// be, and each thread has all of its columns.

// CHECK-LABEL: fusion_tile.program @columns_of_threads
// CHECK: fusion_tile.reduce %{{.*}} along 0 : tensor<8x256xf32, #fusion_tile.layout<"{reg={{\[\[}}0,1],[1,0],[2,0],[4,0]], lane={{\[\[}}0,2],[0,4],[0,8],[0,16],[0,32]], warp={{\[\[}}0,64],[0,128]], shape=[8,256]}">>
fusion_tile.program @columns_of_threads(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<8x256xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<256xf32>
  %t = fusion_tile.load %x[affine_map<(a, b) -> (a, b)>] () checked [false, false] : !fusion_tile.view<8x256xf32> -> tensor<8x256xf32>
  %s = fusion_tile.reduce %t along 0 : tensor<8x256xf32> -> tensor<256xf32> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  fusion_tile.store %s, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<256xf32>, !fusion_tile.view<256xf32>
  fusion_tile.return
}

// -----

// What is reduced to the end is combined by threads anyway: accesses stay as
// wide as they can be.

// CHECK-LABEL: fusion_tile.program @reduced_to_the_end
// CHECK: fusion_tile.load {{.*}} -> tensor<8x256xf32, #fusion_tile.layout<"{reg={{\[\[}}0,1],[0,2],
// CHECK-NOT: fusion_tile.convert_layout
// CHECK: fusion_tile.reduce
fusion_tile.program @reduced_to_the_end(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<8x256xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<f32>
  %t = fusion_tile.load %x[affine_map<(a, b) -> (a, b)>] () checked [false, false] : !fusion_tile.view<8x256xf32> -> tensor<8x256xf32>
  %s = fusion_tile.reduce %t along 0 : tensor<8x256xf32> -> tensor<256xf32> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  %r = fusion_tile.reduce %s along 0 : tensor<256xf32> -> f32 {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  fusion_tile.store %r, %y[affine_map<() -> ()>] () checked [] : f32, !fusion_tile.view<f32>
  fusion_tile.return
}

// -----

// 128 KiB in two layouts: more than the chip has shared memory to exchange
// through, so that what is stored is stored as it was loaded.

module attributes {fusion.target = #fusion.target<chip = "sm_89">} {
  // CHECK-LABEL: fusion_tile.program @larger_than_shared_memory
  // CHECK-NOT: fusion_tile.convert_layout
  // CHECK: fusion_tile.store
  fusion_tile.program @larger_than_shared_memory(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 16 : i64, index_bits = 32 : i64} {
    %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<128x256xf32>
    %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<256x128xf32>
    %t = fusion_tile.load %x[affine_map<(a, b) -> (a, b)>] () checked [false, false] : !fusion_tile.view<128x256xf32> -> tensor<128x256xf32>
    fusion_tile.store %t, %y[affine_map<(a, b) -> (b, a)>] () checked [false, false] : tensor<128x256xf32>, !fusion_tile.view<256x128xf32>
    fusion_tile.return
  }
}

// -----

// As many rows as threads: each thread has all of one, so that nothing is
// combined between threads. Memory is read with lanes along a row, and what is
// exchanged on the way to memory has no more elements than memory has.

// CHECK-LABEL: fusion_tile.program @rows_of_threads
// CHECK: fusion_tile.load {{.*}} -> tensor<128x8xf32, #fusion_tile.layout<"{reg={{\[\[}}16,0],[32,0],[64,0]], lane={{\[\[}}0,1],[0,2],[0,4],[1,0],[2,0]]
// CHECK: fusion_tile.convert_layout
// CHECK: fusion_tile.reduce %{{.*}} along 1 : tensor<128x8xf32, #fusion_tile.layout<"{reg={{\[\[}}0,1],[0,2],[0,4]], lane={{\[\[}}1,0],[2,0],[4,0],[8,0],[16,0]], warp={{\[\[}}32,0],[64,0]], shape=[128,8]}">>
// CHECK: %[[KEPT:.*]] = fusion_tile.crop %{{.*}} to [128, 5]
// CHECK: fusion_tile.convert_layout %[[KEPT]]
fusion_tile.program @rows_of_threads(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<128x5xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<128x5xf32>
  %t = fusion_tile.load %x[affine_map<(a, b) -> (a, b)>] () checked [false, true] : !fusion_tile.view<128x5xf32> -> tensor<128x8xf32>
  %s = fusion_tile.reduce %t along 1 : tensor<128x8xf32> -> tensor<128xf32> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  %b = fusion_tile.broadcast %s dims [0] : tensor<128xf32> -> tensor<128x8xf32>
  %d = arith.subf %t, %b : tensor<128x8xf32>
  fusion_tile.store %d, %y[affine_map<(a, b) -> (a, b)>] () checked [false, true] : tensor<128x8xf32>, !fusion_tile.view<128x5xf32>
  fusion_tile.return
}

// -----

// Rows of four elements are accessed as threads have them: side by side.

// CHECK-LABEL: fusion_tile.program @rows_of_vectors
// CHECK: fusion_tile.load {{.*}} -> tensor<128x4xf32, #fusion_tile.layout<"{reg={{\[\[}}0,1],[0,2]], lane={{\[\[}}1,0],[2,0],[4,0],[8,0],[16,0]]
// CHECK-NOT: fusion_tile.convert_layout
// CHECK: fusion_tile.return
fusion_tile.program @rows_of_vectors(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<128x4xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<128x4xf32>
  %t = fusion_tile.load %x[affine_map<(a, b) -> (a, b)>] () checked [false, false] : !fusion_tile.view<128x4xf32> -> tensor<128x4xf32>
  %s = fusion_tile.reduce %t along 1 : tensor<128x4xf32> -> tensor<128xf32> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  %b = fusion_tile.broadcast %s dims [0] : tensor<128xf32> -> tensor<128x4xf32>
  %d = arith.subf %t, %b : tensor<128x4xf32>
  fusion_tile.store %d, %y[affine_map<(a, b) -> (a, b)>] () checked [false, false] : tensor<128x4xf32>, !fusion_tile.view<128x4xf32>
  fusion_tile.return
}

// -----

// Fewer rows than threads: lanes share them.

// CHECK-LABEL: fusion_tile.program @rows_of_lanes
// CHECK: fusion_tile.reduce %{{.*}} along 1 : tensor<64x8xf32, #fusion_tile.layout<"{reg={{\[\[}}0,1]
fusion_tile.program @rows_of_lanes(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<64x8xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<64xf32>
  %t = fusion_tile.load %x[affine_map<(a, b) -> (a, b)>] () checked [false, false] : !fusion_tile.view<64x8xf32> -> tensor<64x8xf32>
  %s = fusion_tile.reduce %t along 1 : tensor<64x8xf32> -> tensor<64xf32> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  fusion_tile.store %s, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<64xf32>, !fusion_tile.view<64xf32>
  fusion_tile.return
}

// -----

// What is cut into parts to be reduced is reduced: warps go to rows.

// CHECK-LABEL: fusion_tile.program @parts
// CHECK: fusion_tile.reshape {{.*}} : tensor<4x256xf32, {{.*}} warp={{\[\[}}1,0],[2,0]], shape=[4,256]}">>
// CHECK-NOT: fusion_tile.convert_layout
fusion_tile.program @parts(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<4x256xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<4x64xf32>
  %t = fusion_tile.load %x[affine_map<(a, b) -> (a, b)>] () checked [false, false] : !fusion_tile.view<4x256xf32> -> tensor<4x256xf32>
  %r = fusion_tile.reshape %t : tensor<4x256xf32> -> tensor<4x64x4xf32>
  %s = fusion_tile.reduce %r along 2 : tensor<4x64x4xf32> -> tensor<4x64xf32> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.maximumf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  %m = fusion_tile.reduce %s along 1 : tensor<4x64xf32> -> tensor<4xf32> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.maximumf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  %b = fusion_tile.broadcast %m dims [0] : tensor<4xf32> -> tensor<4x64xf32>
  fusion_tile.store %b, %y[affine_map<(a, b) -> (a, b)>] () checked [false, false] : tensor<4x64xf32>, !fusion_tile.view<4x64xf32>
  fusion_tile.return
}
