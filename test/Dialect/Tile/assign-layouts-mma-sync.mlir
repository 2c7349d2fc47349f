// RUN: fusion-opt %s --pass-pipeline="builtin.module(tile.program(tile-assign-layouts))" --split-input-file | FileCheck %s

// The accumulator has the instruction's layout over 2x2 warps, the operands
// follow from it; loads are coalesced and converted.

// CHECK-LABEL: tile.program @direct
// CHECK: tile.load {{.*}} -> tensor<64x32xbf16, #tile.layout<"{reg={{\[\[}}0,1],[0,2],[0,4],
// CHECK: tile.convert_layout
// CHECK: tile.convert_layout
// CHECK: tile.dot
// CHECK-SAME: tensor<64x32xbf16, #tile.layout<"{reg={{\[\[}}0,1],[8,0],[0,8],[32,0],[0,16]], lane={{\[\[}}0,2],[0,4],[1,0],[2,0],[4,0]], warp={{\[\[}}16,0],[0,0]], shape=[64,32]}">>,
// CHECK-SAME: tensor<64x32xbf16, #tile.layout<"{reg={{\[\[}}0,1],[0,8],[16,0],[32,0],[0,16]], lane={{\[\[}}0,2],[0,4],[1,0],[2,0],[4,0]], warp={{\[\[}}0,0],[8,0]], shape=[64,32]}">>
// CHECK-SAME: -> tensor<64x64xf32, #tile.layout<"{reg={{\[\[}}0,1],[8,0],[0,16],[0,32],[32,0]], lane={{\[\[}}0,2],[0,4],[1,0],[2,0],[4,0]], warp={{\[\[}}16,0],[0,8]], shape=[64,64]}">>
tile.program @direct(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %o: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, pipeline = #tile.pipeline<mma_sync, stages = 3>} {
  %zero = arith.constant 0.0 : f32
  %acc = tile.splat %zero : f32 -> tensor<64x64xf32>
  %a = tile.view %p[] : !llvm.ptr<1> to !tile.view<64x32xbf16>
  %b = tile.view %q[] : !llvm.ptr<1> to !tile.view<64x32xbf16>
  %c = tile.view %o[] : !llvm.ptr<1> to !tile.view<64x64xf32>
  %x = tile.load %a[affine_map<(i, k) -> (i, k)>] () checked [false, false] : !tile.view<64x32xbf16> -> tensor<64x32xbf16>
  %y = tile.load %b[affine_map<(i, k) -> (i, k)>] () checked [false, false] : !tile.view<64x32xbf16> -> tensor<64x32xbf16>
  %d = tile.dot %x, %y, %acc : tensor<64x32xbf16>, tensor<64x32xbf16> -> tensor<64x64xf32>
  tile.store %d, %c[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<64x64xf32>, !tile.view<64x64xf32>
  tile.return
}

// -----

// Arithmetic before the product is done where the instruction wants its result.

// CHECK-LABEL: tile.program @prologue
// CHECK: %[[L:.*]] = tile.load
// CHECK: %[[C:.*]] = tile.convert_layout %[[L]]
// CHECK: %[[N:.*]] = arith.negf %[[C]]
// CHECK: tile.dot %[[N]],
tile.program @prologue(%p: !llvm.ptr<1>, %o: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64, pipeline = #tile.pipeline<mma_sync>} {
  %zero = arith.constant 0.0 : f32
  %acc = tile.splat %zero : f32 -> tensor<16x16xf32>
  %a = tile.view %p[] : !llvm.ptr<1> to !tile.view<16x16xf16>
  %x = tile.load %a[affine_map<(i, k) -> (i, k)>] () checked [false, false] : !tile.view<16x16xf16> -> tensor<16x16xf16>
  %n = arith.negf %x : tensor<16x16xf16>
  %y = tile.load %a[affine_map<(i, k) -> (k, i)>] () checked [false, false] : !tile.view<16x16xf16> -> tensor<16x16xf16>
  %d = tile.dot %n, %y, %acc : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  tile.return
}

// -----

// Eight rows: the instruction's rows are the columns.

// CHECK-LABEL: tile.program @few_rows
// CHECK: tile.dot {{.*}} -> tensor<8x64xf32, #tile.layout<"{reg={{\[\[}}1,0],[0,8]], lane={{\[\[}}2,0],[4,0],[0,1],[0,2],[0,4]], warp={{\[\[}}0,16],[0,32]], shape=[8,64]}">>
tile.program @few_rows(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, pipeline = #tile.pipeline<mma_sync>} {
  %zero = arith.constant 0.0 : f32
  %acc = tile.splat %zero : f32 -> tensor<8x64xf32>
  %a = tile.view %p[] : !llvm.ptr<1> to !tile.view<8x32xf16>
  %b = tile.view %q[] : !llvm.ptr<1> to !tile.view<64x32xf16>
  %x = tile.load %a[affine_map<(i, k) -> (i, k)>] () checked [false, false] : !tile.view<8x32xf16> -> tensor<8x32xf16>
  %y = tile.load %b[affine_map<(i, k) -> (i, k)>] () checked [false, false] : !tile.view<64x32xf16> -> tensor<64x32xf16>
  %d = tile.dot %x, %y, %acc : tensor<8x32xf16>, tensor<64x32xf16> -> tensor<8x64xf32>
  tile.return
}

// -----

// A depth below the instruction's, and programs of another kind, keep the layout
// of scalar products; f32 without leave to round takes that of tf32.

// CHECK-LABEL: tile.program @no_instruction
// CHECK: tile.dot {{.*}} -> tensor<16x16xf32, #tile.layout<"{reg={{\[\[}}0,1],[8,0],
// CHECK: tile.dot {{.*}} -> tensor<16x16xf32, #tile.layout<"{reg={{\[\[}}0,1],[0,2],
tile.program @no_instruction(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64, pipeline = #tile.pipeline<mma_sync>} {
  %zero = arith.constant 0.0 : f32
  %acc = tile.splat %zero : f32 -> tensor<16x16xf32>
  %acc2 = tile.splat %zero : f32 -> tensor<16x16xf32>
  %a = tile.view %p[] : !llvm.ptr<1> to !tile.view<16x16xf32>
  %b = tile.view %q[] : !llvm.ptr<1> to !tile.view<16x8xf16>
  %x = tile.load %a[affine_map<(i, k) -> (i, k)>] () checked [false, false] : !tile.view<16x16xf32> -> tensor<16x16xf32>
  %y = tile.load %b[affine_map<(i, k) -> (i, k)>] () checked [false, false] : !tile.view<16x8xf16> -> tensor<16x8xf16>
  %d = tile.dot %x, %x, %acc : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %e = tile.dot %y, %y, %acc2 : tensor<16x8xf16>, tensor<16x8xf16> -> tensor<16x16xf32>
  tile.return
}

// CHECK-LABEL: tile.program @other_kind
// CHECK: tile.dot {{.*}} -> tensor<16x16xf32, #tile.layout<"{reg={{\[\[}}0,1],[0,2],
tile.program @other_kind(%p: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64, pipeline = #tile.pipeline<fma>} {
  %zero = arith.constant 0.0 : f32
  %acc = tile.splat %zero : f32 -> tensor<16x16xf32>
  %a = tile.view %p[] : !llvm.ptr<1> to !tile.view<16x16xf16>
  %x = tile.load %a[affine_map<(i, k) -> (i, k)>] () checked [false, false] : !tile.view<16x16xf16> -> tensor<16x16xf16>
  %d = tile.dot %x, %x, %acc : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  tile.return
}
