// RUN: fusion-opt %s --pass-pipeline="builtin.module(tile.program(tile-assign-layouts))" --split-input-file | FileCheck %s

// Eight neighbours have what a long computation of their positions gives in
// common. In the fragment of a product a thread has two of them side by side:
// lanes have eight for this, and tell each other bits.

// CHECK-LABEL: tile.program @groups
// CHECK: tile.index {{.*}} : tensor<64x64xindex, #tile.layout<"{reg={{\[\[}}0,1],[8,0],[0,2],[0,4],[32,0]], lane={{\[\[}}0,16],[0,32],
// CHECK: %[[B:.*]] = arith.cmpi {{.*}} : tensor<64x64xi32, #tile.layout<"{reg={{\[\[}}0,1],[8,0],[0,2],[0,4],
// CHECK: %[[C:.*]] = tile.convert_layout %[[B]] {{.*}} -> tensor<64x64xi1, #tile.layout<"{reg={{\[\[}}0,1],[8,0],[0,16],[0,32],[32,0]], lane={{\[\[}}0,2],[0,4],
// CHECK: arith.select %[[C]]
tile.program @groups(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %py: !llvm.ptr<1>, %n: i32) attributes {
    num_warps = 4, index_bits = 32, pipeline = #tile.pipeline<mma_sync, stages = 2>} {
  %zero = arith.constant 0.0 : f32
  %a = tile.view %pa[] : !llvm.ptr<1> to !tile.view<64x16xf16>
  %b = tile.view %pb[] : !llvm.ptr<1> to !tile.view<64x16xf16>
  %y = tile.view %py[] : !llvm.ptr<1> to !tile.view<64x64xf32>
  %init = tile.splat %zero : f32 -> tensor<64x64xf32>
  %ta = tile.load %a[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !tile.view<64x16xf16> -> tensor<64x16xf16>
  %tb = tile.load %b[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !tile.view<64x16xf16> -> tensor<64x16xf16>
  %d = tile.dot %ta, %tb, %init : tensor<64x16xf16>, tensor<64x16xf16> -> tensor<64x64xf32>
  %i = tile.index affine_map<(i, j) -> (i * 8 + j floordiv 8)> () : tensor<64x64xindex>
  %0 = arith.index_cast %i : tensor<64x64xindex> to tensor<64x64xi32>
  %k = tile.splat %n : i32 -> tensor<64x64xi32>
  %1 = arith.muli %0, %k : tensor<64x64xi32>
  %2 = arith.xori %1, %0 : tensor<64x64xi32>
  %3 = arith.muli %2, %k : tensor<64x64xi32>
  %4 = arith.xori %3, %2 : tensor<64x64xi32>
  %5 = arith.muli %4, %k : tensor<64x64xi32>
  %6 = arith.xori %5, %4 : tensor<64x64xi32>
  %7 = arith.muli %6, %k : tensor<64x64xi32>
  %8 = arith.xori %7, %6 : tensor<64x64xi32>
  %9 = arith.muli %8, %k : tensor<64x64xi32>
  %10 = arith.cmpi sgt, %9, %k : tensor<64x64xi32>
  %x = arith.select %10, %d, %init : tensor<64x64xi1>, tensor<64x64xf32>
  tile.store %x, %y[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<64x64xf32>, !tile.view<64x64xf32>
  tile.return
}

// -----

// Rows of 63 elements: where groups of neighbours begin differs from row to row,
// and no lane has one whole.

// CHECK-LABEL: tile.program @rows
// CHECK: arith.cmpi
// CHECK-NEXT: arith.select
tile.program @rows(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %py: !llvm.ptr<1>, %n: i32) attributes {
    num_warps = 4, index_bits = 32, pipeline = #tile.pipeline<mma_sync, stages = 2>} {
  %zero = arith.constant 0.0 : f32
  %a = tile.view %pa[] : !llvm.ptr<1> to !tile.view<64x16xf16>
  %b = tile.view %pb[] : !llvm.ptr<1> to !tile.view<64x16xf16>
  %y = tile.view %py[] : !llvm.ptr<1> to !tile.view<64x64xf32>
  %init = tile.splat %zero : f32 -> tensor<64x64xf32>
  %ta = tile.load %a[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !tile.view<64x16xf16> -> tensor<64x16xf16>
  %tb = tile.load %b[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !tile.view<64x16xf16> -> tensor<64x16xf16>
  %d = tile.dot %ta, %tb, %init : tensor<64x16xf16>, tensor<64x16xf16> -> tensor<64x64xf32>
  %i = tile.index affine_map<(i, j) -> ((i * 63 + j) floordiv 8)> () : tensor<64x64xindex>
  %0 = arith.index_cast %i : tensor<64x64xindex> to tensor<64x64xi32>
  %k = tile.splat %n : i32 -> tensor<64x64xi32>
  %1 = arith.muli %0, %k : tensor<64x64xi32>
  %2 = arith.xori %1, %0 : tensor<64x64xi32>
  %3 = arith.muli %2, %k : tensor<64x64xi32>
  %4 = arith.xori %3, %2 : tensor<64x64xi32>
  %5 = arith.muli %4, %k : tensor<64x64xi32>
  %6 = arith.xori %5, %4 : tensor<64x64xi32>
  %7 = arith.muli %6, %k : tensor<64x64xi32>
  %8 = arith.xori %7, %6 : tensor<64x64xi32>
  %9 = arith.muli %8, %k : tensor<64x64xi32>
  %10 = arith.cmpi sgt, %9, %k : tensor<64x64xi32>
  %x = arith.select %10, %d, %init : tensor<64x64xi1>, tensor<64x64xf32>
  tile.store %x, %y[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<64x64xf32>, !tile.view<64x64xf32>
  tile.return
}

// -----

// What is done once for eight is a comparison: less than it takes to tell bits.

// CHECK-LABEL: tile.program @short
// CHECK: arith.cmpi
// CHECK-NEXT: arith.select
tile.program @short(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %py: !llvm.ptr<1>, %n: i32) attributes {
    num_warps = 4, index_bits = 32, pipeline = #tile.pipeline<mma_sync, stages = 2>} {
  %zero = arith.constant 0.0 : f32
  %a = tile.view %pa[] : !llvm.ptr<1> to !tile.view<64x16xf16>
  %b = tile.view %pb[] : !llvm.ptr<1> to !tile.view<64x16xf16>
  %y = tile.view %py[] : !llvm.ptr<1> to !tile.view<64x64xf32>
  %init = tile.splat %zero : f32 -> tensor<64x64xf32>
  %ta = tile.load %a[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !tile.view<64x16xf16> -> tensor<64x16xf16>
  %tb = tile.load %b[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !tile.view<64x16xf16> -> tensor<64x16xf16>
  %d = tile.dot %ta, %tb, %init : tensor<64x16xf16>, tensor<64x16xf16> -> tensor<64x64xf32>
  %i = tile.index affine_map<(i, j) -> (i * 8 + j floordiv 8)> () : tensor<64x64xindex>
  %0 = arith.index_cast %i : tensor<64x64xindex> to tensor<64x64xi32>
  %k = tile.splat %n : i32 -> tensor<64x64xi32>
  %10 = arith.cmpi sgt, %0, %k : tensor<64x64xi32>
  %x = arith.select %10, %d, %init : tensor<64x64xi1>, tensor<64x64xf32>
  tile.store %x, %y[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<64x64xf32>, !tile.view<64x64xf32>
  tile.return
}
