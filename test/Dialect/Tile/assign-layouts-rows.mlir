// RUN: fusion-opt %s --pass-pipeline="builtin.module(fusion_tile.program(fusion-tile-assign-layouts))" | FileCheck %s

// Of rows of six, three of either tensor, each thread has its own: it knows which
// of a row's elements are whose. They are stored by lanes side by side.
// CHECK-LABEL: fusion_tile.program @joined
// CHECK-COUNT-2: fusion_tile.load {{.*}} -> tensor<256x8xf16, #fusion_tile.layout<"{reg={{\[\[}}0,1],[0,2],[0,4]], lane={{\[\[}}1,0],[2,0],[4,0],[8,0],[16,0]],
// CHECK: %[[S:.*]] = fusion_tile.convert_layout {{.*}} -> tensor<256x8xf16, #fusion_tile.layout<"{reg={{\[\[}}0,1],
// CHECK-SAME: lane={{\[\[}}0,2],[0,4],[1,0],
// CHECK: fusion_tile.store %[[S]]
fusion_tile.program @joined(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %r: !llvm.ptr<1>) attributes {num_warps = 8, index_bits = 32} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<250x3xf16>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<250x3xf16>
  %z = fusion_tile.view %r[] : !llvm.ptr<1> to !fusion_tile.view<250x6xf16>
  %a = fusion_tile.load %x[affine_map<(i, j) -> (i, j)>] () checked [true, true] : !fusion_tile.view<250x3xf16> -> tensor<256x8xf16>
  %b = fusion_tile.load %y[affine_map<(i, j) -> (i, j - 3)>] () checked [true, true] : !fusion_tile.view<250x3xf16> -> tensor<256x8xf16>
  %i = fusion_tile.index affine_map<(j) -> (j)>() : tensor<8xindex>
  %s = fusion_tile.splat %c3 : index -> tensor<8xindex>
  %c = arith.cmpi ult, %i, %s : tensor<8xindex>
  %m = fusion_tile.broadcast %c dims [1] : tensor<8xi1> -> tensor<256x8xi1>
  %v = arith.select %m, %a, %b : tensor<256x8xi1>, tensor<256x8xf16>
  fusion_tile.store %v, %z[affine_map<(i, j) -> (i, j)>] () checked [true, true] : tensor<256x8xf16>, !fusion_tile.view<250x6xf16>
  fusion_tile.return
}

// Lanes along rows of one tensor fill the sectors that they touch.
// CHECK-LABEL: fusion_tile.program @alone
// CHECK: fusion_tile.load {{.*}} -> tensor<256x8xf32, #fusion_tile.layout<"{reg={{.*}}, lane={{\[\[}}0,1],[0,2],[0,4],
fusion_tile.program @alone(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 8, index_bits = 32} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<250x7xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<250x7xf32>
  %a = fusion_tile.load %x[affine_map<(i, j) -> (i, j)>] () checked [true, true] : !fusion_tile.view<250x7xf32> -> tensor<256x8xf32>
  fusion_tile.store %a, %y[affine_map<(i, j) -> (i, j)>] () checked [true, true] : tensor<256x8xf32>, !fusion_tile.view<250x7xf32>
  fusion_tile.return
}

// What is read at remainders has its neighbours side by side, but for the ends of
// rows: lanes load them, and others store.
// CHECK-LABEL: fusion_tile.program @parts
// CHECK: fusion_tile.load {{.*}} -> tensor<2048xbf16, #fusion_tile.layout<"{reg={{.*}}, lane={{\[\[}}1],[2],[4],[8],[16]],
// CHECK: %[[S:.*]] = fusion_tile.convert_layout {{.*}} -> tensor<2048xbf16, #fusion_tile.layout<"{reg={{\[\[}}1],[2],[4]], lane={{\[\[}}8],
// CHECK: fusion_tile.store %[[S]]
fusion_tile.program @parts(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 8, index_bits = 32} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<31x65xbf16>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<2077xbf16>
  %a = fusion_tile.load %x[affine_map<(i) -> (i floordiv 67, i mod 67 - 1)>] () checked [true, true] : !fusion_tile.view<31x65xbf16> -> tensor<2048xbf16>
  fusion_tile.store %a, %y[affine_map<(i) -> (i)>] () checked [false] : tensor<2048xbf16>, !fusion_tile.view<2077xbf16>
  fusion_tile.return
}

// Steps of two, and places that no one knows, are no neighbours.
// CHECK-LABEL: fusion_tile.program @apart
// CHECK: fusion_tile.load {{.*}} -> tensor<2048xbf16, #fusion_tile.layout<"{reg={{\[\[}}1],[2],[4]], lane={{\[\[}}8],
// CHECK-NOT: fusion_tile.convert_layout
fusion_tile.program @apart(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 8, index_bits = 32} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<31x133xbf16>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<2077xbf16>
  %a = fusion_tile.load %x[affine_map<(i) -> (i floordiv 67, (i mod 67) * 2)>] () checked [true, true] : !fusion_tile.view<31x133xbf16> -> tensor<2048xbf16>
  fusion_tile.store %a, %y[affine_map<(i) -> (i)>] () checked [false] : tensor<2048xbf16>, !fusion_tile.view<2077xbf16>
  fusion_tile.return
}

// Two values are combined along three elements of five: threads have all three
// of a column, and no lanes without a row. Sums of pairs in rows of six are
// combined by lanes, which fill the sectors that they touch.
// CHECK-LABEL: fusion_tile.program @reduced_rows
// CHECK: fusion_tile.load {{.*}} -> tensor<64x4x8xf32, #fusion_tile.layout<"{reg={{\[\[}}16,0,0],[32,0,0],[0,1,0],[0,2,0]], lane={{\[\[}}0,0,1],[0,0,2],[0,0,4],[1,0,0],[2,0,0]], warp={{\[\[}}4,0,0],[8,0,0]],
// CHECK: fusion_tile.load {{.*}} -> tensor<64x2x4xf32, #fusion_tile.layout<"{reg={{\[\[}}16,0,0],[32,0,0]], lane={{\[\[}}0,0,1],[0,0,2],[0,1,0],[1,0,0],[2,0,0]], warp={{\[\[}}4,0,0],[8,0,0]],
fusion_tile.program @reduced_rows(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %r: !llvm.ptr<1>) attributes {num_warps = 4, index_bits = 32} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<999x3x5xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<999x2x3xf32>
  %z = fusion_tile.view %r[] : !llvm.ptr<1> to !fusion_tile.view<999x5xf32>
  %a = fusion_tile.load %x[affine_map<(i, j, k) -> (i, j, k)>] () checked [true, true, true] : !fusion_tile.view<999x3x5xf32> -> tensor<64x4x8xf32>
  %s:2 = fusion_tile.reduce %a, %a along 1 : tensor<64x4x8xf32>, tensor<64x4x8xf32> -> tensor<64x8xf32>, tensor<64x8xf32> {
  ^bb0(%l: f32, %m: f32, %n: f32, %o: f32):
    %v = arith.addf %l, %n : f32
    %w = arith.maximumf %m, %o : f32
    fusion_tile.yield %v, %w : f32, f32
  }
  %t = arith.mulf %s#0, %s#1 : tensor<64x8xf32>
  fusion_tile.store %t, %z[affine_map<(i, j) -> (i, j)>] () checked [true, true] : tensor<64x8xf32>, !fusion_tile.view<999x5xf32>
  %b = fusion_tile.load %y[affine_map<(i, j, k) -> (i, j, k)>] () checked [true, false, true] : !fusion_tile.view<999x2x3xf32> -> tensor<64x2x4xf32>
  %u = fusion_tile.reduce %b along 1 : tensor<64x2x4xf32> -> tensor<64x4xf32> {
  ^bb0(%l: f32, %m: f32):
    %v = arith.addf %l, %m : f32
    fusion_tile.yield %v : f32
  }
  %c = fusion_tile.broadcast %u dims [0, 2] : tensor<64x4xf32> -> tensor<64x2x4xf32>
  %d = arith.divf %b, %c : tensor<64x2x4xf32>
  fusion_tile.store %d, %y[affine_map<(i, j, k) -> (i, j, k)>] () checked [true, false, true] : tensor<64x2x4xf32>, !fusion_tile.view<999x2x3xf32>
  fusion_tile.return
}
