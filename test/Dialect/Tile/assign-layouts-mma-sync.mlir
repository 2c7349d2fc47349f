// RUN: fusion-opt %s --pass-pipeline="builtin.module(fusion_tile.program(fusion-tile-assign-layouts))" --split-input-file | FileCheck %s

// The accumulator has the instruction's layout over 2x2 warps, the operands
// follow from it; loads are coalesced and converted.

// CHECK-LABEL: fusion_tile.program @direct
// CHECK: fusion_tile.load {{.*}} -> tensor<64x32xbf16, #fusion_tile.layout<"{reg={{\[\[}}0,1],[0,2],[0,4],
// CHECK: fusion_tile.convert_layout
// CHECK: fusion_tile.convert_layout
// CHECK: fusion_tile.dot
// CHECK-SAME: tensor<64x32xbf16, #fusion_tile.layout<"{reg={{\[\[}}0,1],[8,0],[0,8],[32,0],[0,16]], lane={{\[\[}}0,2],[0,4],[1,0],[2,0],[4,0]], warp={{\[\[}}16,0],[0,0]], shape=[64,32]}">>,
// CHECK-SAME: tensor<64x32xbf16, #fusion_tile.layout<"{reg={{\[\[}}0,1],[0,8],[16,0],[32,0],[0,16]], lane={{\[\[}}0,2],[0,4],[1,0],[2,0],[4,0]], warp={{\[\[}}0,0],[8,0]], shape=[64,32]}">>
// CHECK-SAME: -> tensor<64x64xf32, #fusion_tile.layout<"{reg={{\[\[}}0,1],[8,0],[0,16],[0,32],[32,0]], lane={{\[\[}}0,2],[0,4],[1,0],[2,0],[4,0]], warp={{\[\[}}16,0],[0,8]], shape=[64,64]}">>
fusion_tile.program @direct(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %o: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync, stages = 3>} {
  %zero = arith.constant 0.0 : f32
  %acc = fusion_tile.splat %zero : f32 -> tensor<64x64xf32>
  %a = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<64x32xbf16>
  %b = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<64x32xbf16>
  %c = fusion_tile.view %o[] : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %x = fusion_tile.load %a[affine_map<(i, k) -> (i, k)>] () checked [false, false] : !fusion_tile.view<64x32xbf16> -> tensor<64x32xbf16>
  %y = fusion_tile.load %b[affine_map<(i, k) -> (i, k)>] () checked [false, false] : !fusion_tile.view<64x32xbf16> -> tensor<64x32xbf16>
  %d = fusion_tile.dot %x, %y, %acc : tensor<64x32xbf16>, tensor<64x32xbf16> -> tensor<64x64xf32>
  fusion_tile.store %d, %c[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}

// -----

// Arithmetic before the product is done where the instruction wants its result.

// CHECK-LABEL: fusion_tile.program @prologue
// CHECK: %[[L:.*]] = fusion_tile.load
// CHECK: %[[C:.*]] = fusion_tile.convert_layout %[[L]]
// CHECK: %[[N:.*]] = arith.negf %[[C]]
// CHECK: fusion_tile.dot %[[N]],
fusion_tile.program @prologue(%p: !llvm.ptr<1>, %o: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync>} {
  %zero = arith.constant 0.0 : f32
  %acc = fusion_tile.splat %zero : f32 -> tensor<16x16xf32>
  %a = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16x16xf16>
  %x = fusion_tile.load %a[affine_map<(i, k) -> (i, k)>] () checked [false, false] : !fusion_tile.view<16x16xf16> -> tensor<16x16xf16>
  %n = arith.negf %x : tensor<16x16xf16>
  %y = fusion_tile.load %a[affine_map<(i, k) -> (k, i)>] () checked [false, false] : !fusion_tile.view<16x16xf16> -> tensor<16x16xf16>
  %d = fusion_tile.dot %n, %y, %acc : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  fusion_tile.return
}

// -----

// Eight rows: the instruction's rows are the columns.

// CHECK-LABEL: fusion_tile.program @few_rows
// CHECK: fusion_tile.dot {{.*}} -> tensor<8x64xf32, #fusion_tile.layout<"{reg={{\[\[}}1,0],[0,8]], lane={{\[\[}}2,0],[4,0],[0,1],[0,2],[0,4]], warp={{\[\[}}0,16],[0,32]], shape=[8,64]}">>
fusion_tile.program @few_rows(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync>} {
  %zero = arith.constant 0.0 : f32
  %acc = fusion_tile.splat %zero : f32 -> tensor<8x64xf32>
  %a = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<8x32xf16>
  %b = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<64x32xf16>
  %x = fusion_tile.load %a[affine_map<(i, k) -> (i, k)>] () checked [false, false] : !fusion_tile.view<8x32xf16> -> tensor<8x32xf16>
  %y = fusion_tile.load %b[affine_map<(i, k) -> (i, k)>] () checked [false, false] : !fusion_tile.view<64x32xf16> -> tensor<64x32xf16>
  %d = fusion_tile.dot %x, %y, %acc : tensor<8x32xf16>, tensor<64x32xf16> -> tensor<8x64xf32>
  fusion_tile.return
}

// -----

// A depth below the instruction's, and programs of another kind, keep the layout
// of scalar products; f32 without leave to round takes that of tf32.

// CHECK-LABEL: fusion_tile.program @no_instruction
// CHECK: fusion_tile.dot {{.*}} -> tensor<16x16xf32, #fusion_tile.layout<"{reg={{\[\[}}0,1],[8,0],
// CHECK: fusion_tile.dot {{.*}} -> tensor<16x16xf32, #fusion_tile.layout<"{reg={{\[\[}}0,1],[0,2],
fusion_tile.program @no_instruction(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync>} {
  %zero = arith.constant 0.0 : f32
  %acc = fusion_tile.splat %zero : f32 -> tensor<16x16xf32>
  %acc2 = fusion_tile.splat %zero : f32 -> tensor<16x16xf32>
  %a = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16x16xf32>
  %b = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<16x8xf16>
  %x = fusion_tile.load %a[affine_map<(i, k) -> (i, k)>] () checked [false, false] : !fusion_tile.view<16x16xf32> -> tensor<16x16xf32>
  %y = fusion_tile.load %b[affine_map<(i, k) -> (i, k)>] () checked [false, false] : !fusion_tile.view<16x8xf16> -> tensor<16x8xf16>
  %d = fusion_tile.dot %x, %x, %acc : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %e = fusion_tile.dot %y, %y, %acc2 : tensor<16x8xf16>, tensor<16x8xf16> -> tensor<16x16xf32>
  fusion_tile.return
}

// CHECK-LABEL: fusion_tile.program @other_kind
// CHECK: fusion_tile.dot {{.*}} -> tensor<16x16xf32, #fusion_tile.layout<"{reg={{\[\[}}0,1],[0,2],
fusion_tile.program @other_kind(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<fma>} {
  %zero = arith.constant 0.0 : f32
  %acc = fusion_tile.splat %zero : f32 -> tensor<16x16xf32>
  %a = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<16x16xf16>
  %x = fusion_tile.load %a[affine_map<(i, k) -> (i, k)>] () checked [false, false] : !fusion_tile.view<16x16xf16> -> tensor<16x16xf16>
  %d = fusion_tile.dot %x, %x, %acc : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  fusion_tile.return
}
