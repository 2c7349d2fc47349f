// RUN: fusion-opt %s --pass-pipeline="builtin.module(fusion_tile.program(fusion-tile-assign-layouts))" | FileCheck %s

// Eight lanes hold the same columns of an accumulator. What is computed for a
// column at some length is computed in parts by these lanes and shuffled to the
// registers of all. A bias alone is loaded by each lane where it is added.

// CHECK-LABEL: fusion_tile.program @normalised
// CHECK: %[[V:.*]] = fusion_tile.load {{.*}} -> tensor<64xf32, #fusion_tile.layout<"{reg=[], lane={{\[\[}}2],[4],[32],[16],[1]], warp={{\[\[}}0],[8]]
// CHECK: %[[E:.*]] = fusion_tile.splat {{.*}} -> tensor<64xf32, #fusion_tile.layout<"{reg=[],
// CHECK: %[[S:.*]] = arith.addf %[[V]], %[[E]]
// CHECK: %[[R:.*]] = math.rsqrt %[[S]]
// CHECK: %[[C:.*]] = fusion_tile.convert_layout %[[R]] {{.*}} -> tensor<64xf32, #fusion_tile.layout<"{reg={{\[\[}}1],[16],[32]], lane={{\[\[}}2],[4],[0],[0],[0]],
// CHECK: fusion_tile.broadcast %[[C]]
// CHECK: %[[B:.*]] = fusion_tile.load {{.*}} -> tensor<64xf32, #fusion_tile.layout<"{reg={{\[\[}}1],[16],[32]], lane={{\[\[}}2],[4],[0],[0],[0]],
// CHECK-NEXT: fusion_tile.broadcast %[[B]]
fusion_tile.program @normalised(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pv: !llvm.ptr<1>, %pc: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, index_bits = 32, pipeline = #fusion_tile.pipeline<mma_sync, stages = 2>} {
  %eps = arith.constant 1.0e-5 : f32
  %zero = arith.constant 0.0 : f32
  %a = fusion_tile.view %pa[] : !llvm.ptr<1> to !fusion_tile.view<64x16xf16>
  %b = fusion_tile.view %pb[] : !llvm.ptr<1> to !fusion_tile.view<64x16xf16>
  %v = fusion_tile.view %pv[] : !llvm.ptr<1> to !fusion_tile.view<64xf32>
  %c = fusion_tile.view %pc[] : !llvm.ptr<1> to !fusion_tile.view<64xf32>
  %y = fusion_tile.view %py[] : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = fusion_tile.splat %zero : f32 -> tensor<64x64xf32>
  %ta = fusion_tile.load %a[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !fusion_tile.view<64x16xf16> -> tensor<64x16xf16>
  %tb = fusion_tile.load %b[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !fusion_tile.view<64x16xf16> -> tensor<64x16xf16>
  %d = fusion_tile.dot %ta, %tb, %init : tensor<64x16xf16>, tensor<64x16xf16> -> tensor<64x64xf32>
  %tv = fusion_tile.load %v[affine_map<(i) -> (i)>] () checked [false] : !fusion_tile.view<64xf32> -> tensor<64xf32>
  %te = fusion_tile.splat %eps : f32 -> tensor<64xf32>
  %ts = arith.addf %tv, %te : tensor<64xf32>
  %tr = math.rsqrt %ts : tensor<64xf32>
  %br = fusion_tile.broadcast %tr dims [1] : tensor<64xf32> -> tensor<64x64xf32>
  %n = arith.mulf %d, %br : tensor<64x64xf32>
  %tc = fusion_tile.load %c[affine_map<(i) -> (i)>] () checked [false] : !fusion_tile.view<64xf32> -> tensor<64xf32>
  %bc = fusion_tile.broadcast %tc dims [1] : tensor<64xf32> -> tensor<64x64xf32>
  %o = arith.addf %n, %bc : tensor<64x64xf32>
  fusion_tile.store %o, %y[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}

// The lesser of two multiples of a vector is one.

// CHECK-LABEL: fusion_tile.program @clamped
// CHECK: fusion_tile.load {{.*}} -> tensor<512xf32, #fusion_tile.layout<"{reg={{\[\[}}1],[2]], lane={{\[\[}}4],
fusion_tile.program @clamped(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4, index_bits = 32} {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %c1536 = arith.constant 1536 : index
  %c2048 = arith.constant 2048 : index
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<2048xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<2048xf32>
  scf.for %i = %c0 to %c2048 step %c512 {
    %next = arith.addi %i, %c512 : index
    %at = arith.minui %next, %c1536 : index
    %t = fusion_tile.load %x[affine_map<(a)[s] -> (a + s)>] (%at) checked [false] : !fusion_tile.view<2048xf32> -> tensor<512xf32>
    fusion_tile.store %t, %y[affine_map<(a)[s] -> (a + s)>] (%at) checked [false] : tensor<512xf32>, !fusion_tile.view<2048xf32>
  }
  fusion_tile.return
}

// Row r of 331 begins s = 331 r mod 8 elements after a multiple of 8, and the
// tile s before the row: at one. The last elements of memory are one
// instruction's but in part. What begins anywhere goes element by element, and
// so do rows of which each ends in the middle.

// CHECK-LABEL: fusion_tile.program @rows
// CHECK: fusion_tile.load {{.*}} -> tensor<512xf16, #fusion_tile.layout<"{reg={{\[\[}}1],[2],[4],[256]], lane={{\[\[}}8],
fusion_tile.program @rows(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1, index_bits = 32} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<40x331xf16>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<40x331xf16>
  %r = gpu.block_id x
  %s = arith.muli %r, %c3 : index
  %m = arith.andi %s, %c7 : index
  %b = arith.subi %c0, %m : index
  %t = fusion_tile.load %x[affine_map<(a)[r, b] -> (r, a + b)>] (%r, %b) checked [false, true] : !fusion_tile.view<40x331xf16> -> tensor<512xf16>
  fusion_tile.store %t, %y[affine_map<(a)[r, b] -> (r, a + b)>] (%r, %b) checked [false, true] : tensor<512xf16>, !fusion_tile.view<40x331xf16>
  fusion_tile.return
}

// CHECK-LABEL: fusion_tile.program @end
// CHECK: fusion_tile.load {{.*}} -> tensor<512xf16, #fusion_tile.layout<"{reg={{\[\[}}1],[2],[4],[256]], lane={{\[\[}}8],
fusion_tile.program @end(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1, index_bits = 32} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<331xf16>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<331xf16>
  %t = fusion_tile.load %x[affine_map<(a) -> (a)>] () checked [true] : !fusion_tile.view<331xf16> -> tensor<512xf16>
  fusion_tile.store %t, %y[affine_map<(a) -> (a)>] () checked [true] : tensor<512xf16>, !fusion_tile.view<331xf16>
  fusion_tile.return
}

// CHECK-LABEL: fusion_tile.program @anywhere
// CHECK: fusion_tile.load {{.*}} -> tensor<512xf16, #fusion_tile.layout<"{reg={{\[\[}}32],
fusion_tile.program @anywhere(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1, index_bits = 32} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<40x331xf16>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<40x331xf16>
  %r = gpu.block_id x
  %t = fusion_tile.load %x[affine_map<(a)[r] -> (r, a)>] (%r) checked [false, true] : !fusion_tile.view<40x331xf16> -> tensor<512xf16>
  fusion_tile.store %t, %y[affine_map<(a)[r] -> (r, a)>] (%r) checked [false, true] : tensor<512xf16>, !fusion_tile.view<40x331xf16>
  fusion_tile.return
}

// Most is read at any element: lanes have an element each, and only what is
// stored eight at a time is exchanged. Where as much is accessed either way
// threads have eight.

// CHECK-LABEL: fusion_tile.program @shifted
// CHECK-COUNT-2: fusion_tile.load {{.*}} -> tensor<1024xf16, #fusion_tile.layout<"{reg={{\[\[}}128],[256],[512]], lane={{\[\[}}1],
// CHECK: arith.addf {{.*}}reg={{\[\[}}128],[256],[512]]
// CHECK: fusion_tile.convert_layout {{.*}} -> tensor<1024xf16, #fusion_tile.layout<"{reg={{\[\[}}1],[2],[4]],
// CHECK-NEXT: fusion_tile.store
// CHECK-LABEL: fusion_tile.program @single
// CHECK: fusion_tile.load {{.*}} -> tensor<1024xf16, #fusion_tile.layout<"{reg={{\[\[}}128],[256],[512]], lane={{\[\[}}1],
// CHECK: fusion_tile.convert_layout
// CHECK: math.absf {{.*}}reg={{\[\[}}1],[2],[4]]
fusion_tile.program @shifted(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4, index_bits = 32} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<1032xf16>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<1024xf16>
  %s = fusion_tile.load %x[affine_map<(a) -> (a + 1)>] () checked [false] : !fusion_tile.view<1032xf16> -> tensor<1024xf16>
  %t = fusion_tile.load %x[affine_map<(a) -> (a + 3)>] () checked [false] : !fusion_tile.view<1032xf16> -> tensor<1024xf16>
  %u = arith.addf %s, %t : tensor<1024xf16>
  fusion_tile.store %u, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<1024xf16>, !fusion_tile.view<1024xf16>
  fusion_tile.return
}
fusion_tile.program @single(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4, index_bits = 32} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<1032xf16>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<1024xf16>
  %s = fusion_tile.load %x[affine_map<(a) -> (a + 1)>] () checked [false] : !fusion_tile.view<1032xf16> -> tensor<1024xf16>
  %u = math.absf %s : tensor<1024xf16>
  fusion_tile.store %u, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<1024xf16>, !fusion_tile.view<1024xf16>
  fusion_tile.return
}

// One row of several has one end, where alone an instruction is in bounds in
// part; rows that blocks choose have an end each.

// CHECK-LABEL: fusion_tile.program @first_row
// CHECK: fusion_tile.load {{.*}} -> tensor<1024xf16, #fusion_tile.layout<"{reg={{\[\[}}1],[2],[4]],
// CHECK-NEXT: fusion_tile.store
// CHECK-LABEL: fusion_tile.program @any_row
// CHECK: fusion_tile.load {{.*}} -> tensor<1024xf16, #fusion_tile.layout<"{reg={{\[\[}}128],
fusion_tile.program @first_row(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4, index_bits = 32} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<2x1003xf16>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<1003xf16>
  %s = fusion_tile.load %x[affine_map<(a) -> (0, a)>] () checked [false, true] : !fusion_tile.view<2x1003xf16> -> tensor<1024xf16>
  fusion_tile.store %s, %y[affine_map<(a) -> (a)>] () checked [true] : tensor<1024xf16>, !fusion_tile.view<1003xf16>
  fusion_tile.return
}
fusion_tile.program @any_row(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4, index_bits = 32} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<2x1003xf16>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<2x1003xf16>
  %r = gpu.block_id x
  %s = fusion_tile.load %x[affine_map<(a)[r] -> (r, a)>] (%r) checked [false, true] : !fusion_tile.view<2x1003xf16> -> tensor<1024xf16>
  fusion_tile.store %s, %y[affine_map<(a)[r] -> (r, a)>] (%r) checked [false, true] : tensor<1024xf16>, !fusion_tile.view<2x1003xf16>
  fusion_tile.return
}

// Of a store, a thread has as much as an instruction moves, so that lanes fill
// sectors together. Loads are narrower for it, and no exchange is worth it.

// CHECK-LABEL: fusion_tile.program @widened
// CHECK: fusion_tile.load {{.*}} -> tensor<2048xf16, #fusion_tile.layout<"{reg={{\[\[}}1],[2],[1024]], lane={{\[\[}}4],
// CHECK-NOT: fusion_tile.convert_layout
fusion_tile.program @widened(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 8, index_bits = 32} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<2048xf16>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<2048xf32>
  %t = fusion_tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !fusion_tile.view<2048xf16> -> tensor<2048xf16>
  %w = arith.extf %t : tensor<2048xf16> to tensor<2048xf32>
  fusion_tile.store %w, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<2048xf32>, !fusion_tile.view<2048xf32>
  fusion_tile.return
}

// What is loaded comes in whole sectors to the first cache, in which order ever.

// CHECK-LABEL: fusion_tile.program @narrowed
// CHECK: fusion_tile.load {{.*}} -> tensor<2048xf32, #fusion_tile.layout<"{reg={{\[\[}}1],[2],[4]], lane={{\[\[}}8],
// CHECK-NOT: fusion_tile.convert_layout
fusion_tile.program @narrowed(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 8, index_bits = 32} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<2048xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<2048xf16>
  %t = fusion_tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !fusion_tile.view<2048xf32> -> tensor<2048xf32>
  %w = arith.truncf %t : tensor<2048xf32> to tensor<2048xf16>
  fusion_tile.store %w, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<2048xf16>, !fusion_tile.view<2048xf16>
  fusion_tile.return
}

// An access of less than a word of a lane's is exchanged.

// CHECK-LABEL: fusion_tile.program @bytes
// CHECK: %[[B:.*]] = fusion_tile.load {{.*}} -> tensor<2048xi8, #fusion_tile.layout<"{reg={{\[\[}}1],[2],[4]
// CHECK: fusion_tile.convert_layout %[[B]] {{.*}} -> tensor<2048xi8, #fusion_tile.layout<"{reg={{\[\[}}1],[512],[1024]]
fusion_tile.program @bytes(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %r: !llvm.ptr<1>) attributes {num_warps = 8, index_bits = 32} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<2048xi8>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<2048xi64>
  %t = fusion_tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !fusion_tile.view<2048xi8> -> tensor<2048xi8>
  %w = arith.extsi %t : tensor<2048xi8> to tensor<2048xi64>
  fusion_tile.store %w, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<2048xi64>, !fusion_tile.view<2048xi64>
  fusion_tile.return
}

// Lanes go where the next steps in memory are the smallest, whichever dimension
// of the tile that is.

// CHECK-LABEL: fusion_tile.program @inner_first
// CHECK: fusion_tile.load {{.*}} -> tensor<2x16x128xf32, #fusion_tile.layout<"{reg={{\[\[}}1,0,0],{{.*}} lane={{\[\[}}0,1,0],[0,2,0],[0,4,0],[0,8,0],[0,0,1]]
fusion_tile.program @inner_first(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4, index_bits = 32} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<128x16x2xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<128x16x2xf32>
  %t = fusion_tile.load %x[affine_map<(a, b, c) -> (c, b, a)>] () checked [false, false, false] : !fusion_tile.view<128x16x2xf32> -> tensor<2x16x128xf32>
  fusion_tile.store %t, %y[affine_map<(a, b, c) -> (c, b, a)>] () checked [false, false, false] : tensor<2x16x128xf32>, !fusion_tile.view<128x16x2xf32>
  fusion_tile.return
}

// A dimension of one element, which others pad, is accessed at that one only:
// its place says nothing of what is aligned.

// CHECK-LABEL: fusion_tile.program @only_element
// CHECK: fusion_tile.load {{.*}} -> tensor<2048xf16, #fusion_tile.layout<"{reg={{\[\[}}1],[2],[4]], lane={{\[\[}}8],
// CHECK-LABEL: fusion_tile.program @one_of_two
// CHECK: fusion_tile.load {{.*}} -> tensor<2048xf16, #fusion_tile.layout<"{reg={{.*}}, lane={{\[\[}}1],[2],[4],[8],[16]],
fusion_tile.program @only_element(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 8, index_bits = 32} {
  %s = gpu.block_id x
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<2048x1xf16>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<4x2048xf16>
  %t = fusion_tile.load %x[affine_map<(a)[s] -> (a, s)>] (%s) checked [false, true] : !fusion_tile.view<2048x1xf16> -> tensor<2048xf16>
  fusion_tile.store %t, %y[affine_map<(a)[s] -> (s, a)>] (%s) checked [false, false] : tensor<2048xf16>, !fusion_tile.view<4x2048xf16>
  fusion_tile.return
}
fusion_tile.program @one_of_two(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 8, index_bits = 32} {
  %s = gpu.block_id x
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<2x2049xf16>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<4x2048xf16>
  %t = fusion_tile.load %x[affine_map<(a)[s] -> (s, a)>] (%s) checked [true, false] : !fusion_tile.view<2x2049xf16> -> tensor<2048xf16>
  fusion_tile.store %t, %y[affine_map<(a)[s] -> (s, a)>] (%s) checked [false, false] : tensor<2048xf16>, !fusion_tile.view<4x2048xf16>
  fusion_tile.return
}
