// RUN: fusion-opt %s --pass-pipeline="builtin.module(fusion_tile.program(fusion-tile-assign-layouts))" --split-input-file | FileCheck %s

// Eight neighbours have what a long computation of their positions gives in
// common. In the fragment of a product a thread has two of them side by side:
// lanes have eight for this, and tell each other bits.

// CHECK-LABEL: fusion_tile.program @groups
// CHECK: fusion_tile.index {{.*}} : tensor<64x64xindex, #fusion_tile.layout<"{reg={{\[\[}}0,1],[8,0],[0,2],[0,4],[32,0]], lane={{\[\[}}0,16],[0,32],
// CHECK: %[[B:.*]] = arith.cmpi {{.*}} : tensor<64x64xi32, #fusion_tile.layout<"{reg={{\[\[}}0,1],[8,0],[0,2],[0,4],
// CHECK: %[[C:.*]] = fusion_tile.convert_layout %[[B]] {{.*}} -> tensor<64x64xi1, #fusion_tile.layout<"{reg={{\[\[}}0,1],[8,0],[0,16],[0,32],[32,0]], lane={{\[\[}}0,2],[0,4],
// CHECK: arith.select %[[C]]
fusion_tile.program @groups(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %py: !llvm.ptr<1>, %n: i32) attributes {
    num_warps = 4, index_bits = 32, pipeline = #fusion_tile.pipeline<mma_sync, stages = 2>} {
  %zero = arith.constant 0.0 : f32
  %a = fusion_tile.view %pa[] : !llvm.ptr<1> to !fusion_tile.view<64x16xf16>
  %b = fusion_tile.view %pb[] : !llvm.ptr<1> to !fusion_tile.view<64x16xf16>
  %y = fusion_tile.view %py[] : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = fusion_tile.splat %zero : f32 -> tensor<64x64xf32>
  %ta = fusion_tile.load %a[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !fusion_tile.view<64x16xf16> -> tensor<64x16xf16>
  %tb = fusion_tile.load %b[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !fusion_tile.view<64x16xf16> -> tensor<64x16xf16>
  %d = fusion_tile.dot %ta, %tb, %init : tensor<64x16xf16>, tensor<64x16xf16> -> tensor<64x64xf32>
  %i = fusion_tile.index affine_map<(i, j) -> (i * 8 + j floordiv 8)> () : tensor<64x64xindex>
  %0 = arith.index_cast %i : tensor<64x64xindex> to tensor<64x64xi32>
  %k = fusion_tile.splat %n : i32 -> tensor<64x64xi32>
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
  fusion_tile.store %x, %y[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}

// -----

// Rows of 63 elements: where groups of neighbours begin differs from row to row,
// and no lane has one whole.

// CHECK-LABEL: fusion_tile.program @rows
// CHECK: arith.cmpi
// CHECK-NEXT: arith.select
fusion_tile.program @rows(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %py: !llvm.ptr<1>, %n: i32) attributes {
    num_warps = 4, index_bits = 32, pipeline = #fusion_tile.pipeline<mma_sync, stages = 2>} {
  %zero = arith.constant 0.0 : f32
  %a = fusion_tile.view %pa[] : !llvm.ptr<1> to !fusion_tile.view<64x16xf16>
  %b = fusion_tile.view %pb[] : !llvm.ptr<1> to !fusion_tile.view<64x16xf16>
  %y = fusion_tile.view %py[] : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = fusion_tile.splat %zero : f32 -> tensor<64x64xf32>
  %ta = fusion_tile.load %a[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !fusion_tile.view<64x16xf16> -> tensor<64x16xf16>
  %tb = fusion_tile.load %b[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !fusion_tile.view<64x16xf16> -> tensor<64x16xf16>
  %d = fusion_tile.dot %ta, %tb, %init : tensor<64x16xf16>, tensor<64x16xf16> -> tensor<64x64xf32>
  %i = fusion_tile.index affine_map<(i, j) -> ((i * 63 + j) floordiv 8)> () : tensor<64x64xindex>
  %0 = arith.index_cast %i : tensor<64x64xindex> to tensor<64x64xi32>
  %k = fusion_tile.splat %n : i32 -> tensor<64x64xi32>
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
  fusion_tile.store %x, %y[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}

// -----

// What is done once for eight is a comparison: less than it takes to tell bits.

// CHECK-LABEL: fusion_tile.program @short
// CHECK: arith.cmpi
// CHECK-NEXT: arith.select
fusion_tile.program @short(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %py: !llvm.ptr<1>, %n: i32) attributes {
    num_warps = 4, index_bits = 32, pipeline = #fusion_tile.pipeline<mma_sync, stages = 2>} {
  %zero = arith.constant 0.0 : f32
  %a = fusion_tile.view %pa[] : !llvm.ptr<1> to !fusion_tile.view<64x16xf16>
  %b = fusion_tile.view %pb[] : !llvm.ptr<1> to !fusion_tile.view<64x16xf16>
  %y = fusion_tile.view %py[] : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = fusion_tile.splat %zero : f32 -> tensor<64x64xf32>
  %ta = fusion_tile.load %a[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !fusion_tile.view<64x16xf16> -> tensor<64x16xf16>
  %tb = fusion_tile.load %b[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !fusion_tile.view<64x16xf16> -> tensor<64x16xf16>
  %d = fusion_tile.dot %ta, %tb, %init : tensor<64x16xf16>, tensor<64x16xf16> -> tensor<64x64xf32>
  %i = fusion_tile.index affine_map<(i, j) -> (i * 8 + j floordiv 8)> () : tensor<64x64xindex>
  %0 = arith.index_cast %i : tensor<64x64xindex> to tensor<64x64xi32>
  %k = fusion_tile.splat %n : i32 -> tensor<64x64xi32>
  %10 = arith.cmpi sgt, %0, %k : tensor<64x64xi32>
  %x = arith.select %10, %d, %init : tensor<64x64xi1>, tensor<64x64xf32>
  fusion_tile.store %x, %y[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}
