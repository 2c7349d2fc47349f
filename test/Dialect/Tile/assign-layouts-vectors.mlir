// RUN: fusion-opt %s --pass-pipeline="builtin.module(tile.program(tile-assign-layouts))" | FileCheck %s

// Eight lanes hold the same columns of an accumulator. What is computed for a
// column at some length is computed in parts by these lanes and shuffled to the
// registers of all. A bias alone is loaded by each lane where it is added.

// CHECK-LABEL: tile.program @normalised
// CHECK: %[[V:.*]] = tile.load {{.*}} -> tensor<64xf32, #tile.layout<"{reg=[], lane={{\[\[}}2],[4],[32],[16],[1]], warp={{\[\[}}0],[8]]
// CHECK: %[[E:.*]] = tile.splat {{.*}} -> tensor<64xf32, #tile.layout<"{reg=[],
// CHECK: %[[S:.*]] = arith.addf %[[V]], %[[E]]
// CHECK: %[[R:.*]] = math.rsqrt %[[S]]
// CHECK: %[[C:.*]] = tile.convert_layout %[[R]] {{.*}} -> tensor<64xf32, #tile.layout<"{reg={{\[\[}}1],[16],[32]], lane={{\[\[}}2],[4],[0],[0],[0]],
// CHECK: tile.broadcast %[[C]]
// CHECK: %[[B:.*]] = tile.load {{.*}} -> tensor<64xf32, #tile.layout<"{reg={{\[\[}}1],[16],[32]], lane={{\[\[}}2],[4],[0],[0],[0]],
// CHECK-NEXT: tile.broadcast %[[B]]
tile.program @normalised(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pv: !llvm.ptr<1>, %pc: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, index_bits = 32, pipeline = #tile.pipeline<mma_sync, stages = 2>} {
  %eps = arith.constant 1.0e-5 : f32
  %zero = arith.constant 0.0 : f32
  %a = tile.view %pa[] : !llvm.ptr<1> to !tile.view<64x16xf16>
  %b = tile.view %pb[] : !llvm.ptr<1> to !tile.view<64x16xf16>
  %v = tile.view %pv[] : !llvm.ptr<1> to !tile.view<64xf32>
  %c = tile.view %pc[] : !llvm.ptr<1> to !tile.view<64xf32>
  %y = tile.view %py[] : !llvm.ptr<1> to !tile.view<64x64xf32>
  %init = tile.splat %zero : f32 -> tensor<64x64xf32>
  %ta = tile.load %a[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !tile.view<64x16xf16> -> tensor<64x16xf16>
  %tb = tile.load %b[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !tile.view<64x16xf16> -> tensor<64x16xf16>
  %d = tile.dot %ta, %tb, %init : tensor<64x16xf16>, tensor<64x16xf16> -> tensor<64x64xf32>
  %tv = tile.load %v[affine_map<(i) -> (i)>] () checked [false] : !tile.view<64xf32> -> tensor<64xf32>
  %te = tile.splat %eps : f32 -> tensor<64xf32>
  %ts = arith.addf %tv, %te : tensor<64xf32>
  %tr = math.rsqrt %ts : tensor<64xf32>
  %br = tile.broadcast %tr dims [1] : tensor<64xf32> -> tensor<64x64xf32>
  %n = arith.mulf %d, %br : tensor<64x64xf32>
  %tc = tile.load %c[affine_map<(i) -> (i)>] () checked [false] : !tile.view<64xf32> -> tensor<64xf32>
  %bc = tile.broadcast %tc dims [1] : tensor<64xf32> -> tensor<64x64xf32>
  %o = arith.addf %n, %bc : tensor<64x64xf32>
  tile.store %o, %y[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<64x64xf32>, !tile.view<64x64xf32>
  tile.return
}

// The lesser of two multiples of a vector is one.

// CHECK-LABEL: tile.program @clamped
// CHECK: tile.load {{.*}} -> tensor<512xf32, #tile.layout<"{reg={{\[\[}}1],[2]], lane={{\[\[}}4],
tile.program @clamped(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4, index_bits = 32} {
  %c0 = arith.constant 0 : index
  %c512 = arith.constant 512 : index
  %c1536 = arith.constant 1536 : index
  %c2048 = arith.constant 2048 : index
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<2048xf32>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<2048xf32>
  scf.for %i = %c0 to %c2048 step %c512 {
    %next = arith.addi %i, %c512 : index
    %at = arith.minui %next, %c1536 : index
    %t = tile.load %x[affine_map<(a)[s] -> (a + s)>] (%at) checked [false] : !tile.view<2048xf32> -> tensor<512xf32>
    tile.store %t, %y[affine_map<(a)[s] -> (a + s)>] (%at) checked [false] : tensor<512xf32>, !tile.view<2048xf32>
  }
  tile.return
}

// Row r of 331 begins s = 331 r mod 8 elements after a multiple of 8, and the
// tile s before the row: at one. The last elements of memory are one
// instruction's but in part. What begins anywhere goes element by element, and
// so do rows of which each ends in the middle.

// CHECK-LABEL: tile.program @rows
// CHECK: tile.load {{.*}} -> tensor<512xf16, #tile.layout<"{reg={{\[\[}}1],[2],[4],[256]], lane={{\[\[}}8],
tile.program @rows(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1, index_bits = 32} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<40x331xf16>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<40x331xf16>
  %r = gpu.block_id x
  %s = arith.muli %r, %c3 : index
  %m = arith.andi %s, %c7 : index
  %b = arith.subi %c0, %m : index
  %t = tile.load %x[affine_map<(a)[r, b] -> (r, a + b)>] (%r, %b) checked [false, true] : !tile.view<40x331xf16> -> tensor<512xf16>
  tile.store %t, %y[affine_map<(a)[r, b] -> (r, a + b)>] (%r, %b) checked [false, true] : tensor<512xf16>, !tile.view<40x331xf16>
  tile.return
}

// CHECK-LABEL: tile.program @end
// CHECK: tile.load {{.*}} -> tensor<512xf16, #tile.layout<"{reg={{\[\[}}1],[2],[4],[256]], lane={{\[\[}}8],
tile.program @end(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1, index_bits = 32} {
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<331xf16>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<331xf16>
  %t = tile.load %x[affine_map<(a) -> (a)>] () checked [true] : !tile.view<331xf16> -> tensor<512xf16>
  tile.store %t, %y[affine_map<(a) -> (a)>] () checked [true] : tensor<512xf16>, !tile.view<331xf16>
  tile.return
}

// CHECK-LABEL: tile.program @anywhere
// CHECK: tile.load {{.*}} -> tensor<512xf16, #tile.layout<"{reg={{\[\[}}32],
tile.program @anywhere(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1, index_bits = 32} {
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<40x331xf16>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<40x331xf16>
  %r = gpu.block_id x
  %t = tile.load %x[affine_map<(a)[r] -> (r, a)>] (%r) checked [false, true] : !tile.view<40x331xf16> -> tensor<512xf16>
  tile.store %t, %y[affine_map<(a)[r] -> (r, a)>] (%r) checked [false, true] : tensor<512xf16>, !tile.view<40x331xf16>
  tile.return
}

// Most is read at any element: lanes have an element each, and only what is
// stored eight at a time is exchanged. Where as much is accessed either way
// threads have eight.

// CHECK-LABEL: tile.program @shifted
// CHECK-COUNT-2: tile.load {{.*}} -> tensor<1024xf16, #tile.layout<"{reg={{\[\[}}128],[256],[512]], lane={{\[\[}}1],
// CHECK: arith.addf {{.*}}reg={{\[\[}}128],[256],[512]]
// CHECK: tile.convert_layout {{.*}} -> tensor<1024xf16, #tile.layout<"{reg={{\[\[}}1],[2],[4]],
// CHECK-NEXT: tile.store
// CHECK-LABEL: tile.program @single
// CHECK: tile.load {{.*}} -> tensor<1024xf16, #tile.layout<"{reg={{\[\[}}128],[256],[512]], lane={{\[\[}}1],
// CHECK: tile.convert_layout
// CHECK: math.absf {{.*}}reg={{\[\[}}1],[2],[4]]
tile.program @shifted(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4, index_bits = 32} {
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<1032xf16>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<1024xf16>
  %s = tile.load %x[affine_map<(a) -> (a + 1)>] () checked [false] : !tile.view<1032xf16> -> tensor<1024xf16>
  %t = tile.load %x[affine_map<(a) -> (a + 3)>] () checked [false] : !tile.view<1032xf16> -> tensor<1024xf16>
  %u = arith.addf %s, %t : tensor<1024xf16>
  tile.store %u, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<1024xf16>, !tile.view<1024xf16>
  tile.return
}
tile.program @single(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4, index_bits = 32} {
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<1032xf16>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<1024xf16>
  %s = tile.load %x[affine_map<(a) -> (a + 1)>] () checked [false] : !tile.view<1032xf16> -> tensor<1024xf16>
  %u = math.absf %s : tensor<1024xf16>
  tile.store %u, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<1024xf16>, !tile.view<1024xf16>
  tile.return
}

// One row of several has one end, where alone an instruction is in bounds in
// part; rows that blocks choose have an end each.

// CHECK-LABEL: tile.program @first_row
// CHECK: tile.load {{.*}} -> tensor<1024xf16, #tile.layout<"{reg={{\[\[}}1],[2],[4]],
// CHECK-NEXT: tile.store
// CHECK-LABEL: tile.program @any_row
// CHECK: tile.load {{.*}} -> tensor<1024xf16, #tile.layout<"{reg={{\[\[}}128],
tile.program @first_row(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4, index_bits = 32} {
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<2x1003xf16>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<1003xf16>
  %s = tile.load %x[affine_map<(a) -> (0, a)>] () checked [false, true] : !tile.view<2x1003xf16> -> tensor<1024xf16>
  tile.store %s, %y[affine_map<(a) -> (a)>] () checked [true] : tensor<1024xf16>, !tile.view<1003xf16>
  tile.return
}
tile.program @any_row(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4, index_bits = 32} {
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<2x1003xf16>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<2x1003xf16>
  %r = gpu.block_id x
  %s = tile.load %x[affine_map<(a)[r] -> (r, a)>] (%r) checked [false, true] : !tile.view<2x1003xf16> -> tensor<1024xf16>
  tile.store %s, %y[affine_map<(a)[r] -> (r, a)>] (%r) checked [false, true] : tensor<1024xf16>, !tile.view<2x1003xf16>
  tile.return
}

// Of a store, a thread has as much as an instruction moves, so that lanes fill
// sectors together. Loads are narrower for it, and no exchange is worth it.

// CHECK-LABEL: tile.program @widened
// CHECK: tile.load {{.*}} -> tensor<2048xf16, #tile.layout<"{reg={{\[\[}}1],[2],[1024]], lane={{\[\[}}4],
// CHECK-NOT: tile.convert_layout
tile.program @widened(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 8, index_bits = 32} {
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<2048xf16>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<2048xf32>
  %t = tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !tile.view<2048xf16> -> tensor<2048xf16>
  %w = arith.extf %t : tensor<2048xf16> to tensor<2048xf32>
  tile.store %w, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<2048xf32>, !tile.view<2048xf32>
  tile.return
}

// What is loaded comes in whole sectors to the first cache, in which order ever.

// CHECK-LABEL: tile.program @narrowed
// CHECK: tile.load {{.*}} -> tensor<2048xf32, #tile.layout<"{reg={{\[\[}}1],[2],[4]], lane={{\[\[}}8],
// CHECK-NOT: tile.convert_layout
tile.program @narrowed(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 8, index_bits = 32} {
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<2048xf32>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<2048xf16>
  %t = tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !tile.view<2048xf32> -> tensor<2048xf32>
  %w = arith.truncf %t : tensor<2048xf32> to tensor<2048xf16>
  tile.store %w, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<2048xf16>, !tile.view<2048xf16>
  tile.return
}

// An access of less than a word of a lane's is exchanged.

// CHECK-LABEL: tile.program @bytes
// CHECK: %[[B:.*]] = tile.load {{.*}} -> tensor<2048xi8, #tile.layout<"{reg={{\[\[}}1],[2],[4]
// CHECK: tile.convert_layout %[[B]] {{.*}} -> tensor<2048xi8, #tile.layout<"{reg={{\[\[}}1],[512],[1024]]
tile.program @bytes(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %r: !llvm.ptr<1>) attributes {num_warps = 8, index_bits = 32} {
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<2048xi8>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<2048xi64>
  %t = tile.load %x[affine_map<(a) -> (a)>] () checked [false] : !tile.view<2048xi8> -> tensor<2048xi8>
  %w = arith.extsi %t : tensor<2048xi8> to tensor<2048xi64>
  tile.store %w, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<2048xi64>, !tile.view<2048xi64>
  tile.return
}

// Lanes go where the next steps in memory are the smallest, whichever dimension
// of the tile that is.

// CHECK-LABEL: tile.program @inner_first
// CHECK: tile.load {{.*}} -> tensor<2x16x128xf32, #tile.layout<"{reg={{\[\[}}1,0,0],{{.*}} lane={{\[\[}}0,1,0],[0,2,0],[0,4,0],[0,8,0],[0,0,1]]
tile.program @inner_first(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4, index_bits = 32} {
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<128x16x2xf32>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<128x16x2xf32>
  %t = tile.load %x[affine_map<(a, b, c) -> (c, b, a)>] () checked [false, false, false] : !tile.view<128x16x2xf32> -> tensor<2x16x128xf32>
  tile.store %t, %y[affine_map<(a, b, c) -> (c, b, a)>] () checked [false, false, false] : tensor<2x16x128xf32>, !tile.view<128x16x2xf32>
  tile.return
}

// A dimension of one element, which others pad, is accessed at that one only:
// its place says nothing of what is aligned.

// CHECK-LABEL: tile.program @only_element
// CHECK: tile.load {{.*}} -> tensor<2048xf16, #tile.layout<"{reg={{\[\[}}1],[2],[4]], lane={{\[\[}}8],
// CHECK-LABEL: tile.program @one_of_two
// CHECK: tile.load {{.*}} -> tensor<2048xf16, #tile.layout<"{reg={{.*}}, lane={{\[\[}}1],[2],[4],[8],[16]],
tile.program @only_element(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 8, index_bits = 32} {
  %s = gpu.block_id x
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<2048x1xf16>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<4x2048xf16>
  %t = tile.load %x[affine_map<(a)[s] -> (a, s)>] (%s) checked [false, true] : !tile.view<2048x1xf16> -> tensor<2048xf16>
  tile.store %t, %y[affine_map<(a)[s] -> (s, a)>] (%s) checked [false, false] : tensor<2048xf16>, !tile.view<4x2048xf16>
  tile.return
}
tile.program @one_of_two(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 8, index_bits = 32} {
  %s = gpu.block_id x
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<2x2049xf16>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<4x2048xf16>
  %t = tile.load %x[affine_map<(a)[s] -> (s, a)>] (%s) checked [true, false] : !tile.view<2x2049xf16> -> tensor<2048xf16>
  tile.store %t, %y[affine_map<(a)[s] -> (s, a)>] (%s) checked [false, false] : tensor<2048xf16>, !tile.view<4x2048xf16>
  tile.return
}
