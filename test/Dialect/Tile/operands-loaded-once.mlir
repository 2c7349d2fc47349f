// RUN: fusion-opt %s --fusion-tile-shrink-loads --fusion-tile-assign-layouts | FileCheck %s

// Rows of an odd number of 16-bit elements: nothing copies them. Their loads
// follow memory, each element has one thread, and the layout of the products,
// in which warps share rows and columns, comes after. The mask that asks for
// what the load checks is gone.

// CHECK-LABEL: fusion_tile.program @odd_rows
// CHECK: scf.for
// CHECK-NOT: arith.select
// CHECK: %[[A:.*]] = fusion_tile.load {{.*}} -> tensor<64x32xbf16, #fusion_tile.layout<"{reg={{\[\[}}4,0],[8,0],[16,0],[32,0{{\]\]}}, lane={{\[\[}}0,1],[0,2],[0,4],[0,8],[0,16{{\]\]}}, warp={{\[\[}}1,0],[2,0{{\]\]}}, shape=[64,32]}">>
// CHECK-NEXT: fusion_tile.convert_layout %[[A]]
// CHECK: %[[B:.*]] = fusion_tile.load {{.*}} -> tensor<64x32xbf16, #fusion_tile.layout<"{reg={{\[\[}}4,0],[8,0],[16,0],[32,0{{\]\]}}, lane={{\[\[}}0,1],[0,2],[0,4],[0,8],[0,16{{\]\]}}, warp={{\[\[}}1,0],[2,0{{\]\]}}, shape=[64,32]}">>
// CHECK-NEXT: fusion_tile.convert_layout %[[B]]
// CHECK-NOT: arith.select
// CHECK: fusion_tile.dot
fusion_tile.program @odd_rows(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pc: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync, stages = 3>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 32 : index
  %depth = arith.constant 129 : index
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : bf16
  %acc = fusion_tile.splat %zero : f32 -> tensor<64x64xf32>
  %empty = fusion_tile.splat %none : bf16 -> tensor<64x32xbf16>
  %end = fusion_tile.splat %depth : index -> tensor<32xindex>
  %a = fusion_tile.view %pa[] : !llvm.ptr<1> to !fusion_tile.view<64x129xbf16>
  %b = fusion_tile.view %pb[] : !llvm.ptr<1> to !fusion_tile.view<64x129xbf16>
  %c = fusion_tile.view %pc[] : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %r = scf.for %k = %c0 to %depth step %step iter_args(%s = %acc) -> tensor<64x64xf32> {
    %place = fusion_tile.index affine_map<(k)[s] -> (k + s)>(%k) : tensor<32xindex>
    %inside = arith.cmpi ult, %place, %end : tensor<32xindex>
    %mask = fusion_tile.broadcast %inside dims [1] : tensor<32xi1> -> tensor<64x32xi1>
    %x = fusion_tile.load %a[affine_map<(i, k)[s] -> (i, k + s)>](%k) checked [false, true] : !fusion_tile.view<64x129xbf16> -> tensor<64x32xbf16>
    %xm = arith.select %mask, %x, %empty : tensor<64x32xi1>, tensor<64x32xbf16>
    %y = fusion_tile.load %b[affine_map<(i, k)[s] -> (i, k + s)>](%k) checked [false, true] : !fusion_tile.view<64x129xbf16> -> tensor<64x32xbf16>
    %ym = arith.select %mask, %y, %empty : tensor<64x32xi1>, tensor<64x32xbf16>
    %n = fusion_tile.dot %xm, %ym, %s : tensor<64x32xbf16>, tensor<64x32xbf16> -> tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  fusion_tile.store %r, %c[affine_map<(i, j) -> (i, j)>]() checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}
