// RUN: fusion-opt %s --pass-pipeline="builtin.module(tile.program(tile-assign-layouts))" | FileCheck %s

// Of rows of six, three of either tensor, each thread has its own: it knows which
// of a row's elements are whose. They are stored by lanes side by side.
// CHECK-LABEL: tile.program @joined
// CHECK-COUNT-2: tile.load {{.*}} -> tensor<256x8xf16, #tile.layout<"{reg={{\[\[}}0,1],[0,2],[0,4]], lane={{\[\[}}1,0],[2,0],[4,0],[8,0],[16,0]],
// CHECK: %[[S:.*]] = tile.convert_layout {{.*}} -> tensor<256x8xf16, #tile.layout<"{reg={{\[\[}}0,1],
// CHECK-SAME: lane={{\[\[}}0,2],[0,4],[1,0],
// CHECK: tile.store %[[S]]
tile.program @joined(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %r: !llvm.ptr<1>) attributes {num_warps = 8, index_bits = 32} {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<250x3xf16>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<250x3xf16>
  %z = tile.view %r[] : !llvm.ptr<1> to !tile.view<250x6xf16>
  %a = tile.load %x[affine_map<(i, j) -> (i, j)>] () checked [true, true] : !tile.view<250x3xf16> -> tensor<256x8xf16>
  %b = tile.load %y[affine_map<(i, j) -> (i, j - 3)>] () checked [true, true] : !tile.view<250x3xf16> -> tensor<256x8xf16>
  %i = tile.index affine_map<(j) -> (j)>() : tensor<8xindex>
  %s = tile.splat %c3 : index -> tensor<8xindex>
  %c = arith.cmpi ult, %i, %s : tensor<8xindex>
  %m = tile.broadcast %c dims [1] : tensor<8xi1> -> tensor<256x8xi1>
  %v = arith.select %m, %a, %b : tensor<256x8xi1>, tensor<256x8xf16>
  tile.store %v, %z[affine_map<(i, j) -> (i, j)>] () checked [true, true] : tensor<256x8xf16>, !tile.view<250x6xf16>
  tile.return
}

// Lanes along rows of one tensor fill the sectors that they touch.
// CHECK-LABEL: tile.program @alone
// CHECK: tile.load {{.*}} -> tensor<256x8xf32, #tile.layout<"{reg={{.*}}, lane={{\[\[}}0,1],[0,2],[0,4],
tile.program @alone(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 8, index_bits = 32} {
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<250x7xf32>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<250x7xf32>
  %a = tile.load %x[affine_map<(i, j) -> (i, j)>] () checked [true, true] : !tile.view<250x7xf32> -> tensor<256x8xf32>
  tile.store %a, %y[affine_map<(i, j) -> (i, j)>] () checked [true, true] : tensor<256x8xf32>, !tile.view<250x7xf32>
  tile.return
}

// What is read at remainders has its neighbours side by side, but for the ends of
// rows: lanes load them, and others store.
// CHECK-LABEL: tile.program @parts
// CHECK: tile.load {{.*}} -> tensor<2048xbf16, #tile.layout<"{reg={{.*}}, lane={{\[\[}}1],[2],[4],[8],[16]],
// CHECK: %[[S:.*]] = tile.convert_layout {{.*}} -> tensor<2048xbf16, #tile.layout<"{reg={{\[\[}}1],[2],[4]], lane={{\[\[}}8],
// CHECK: tile.store %[[S]]
tile.program @parts(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 8, index_bits = 32} {
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<31x65xbf16>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<2077xbf16>
  %a = tile.load %x[affine_map<(i) -> (i floordiv 67, i mod 67 - 1)>] () checked [true, true] : !tile.view<31x65xbf16> -> tensor<2048xbf16>
  tile.store %a, %y[affine_map<(i) -> (i)>] () checked [false] : tensor<2048xbf16>, !tile.view<2077xbf16>
  tile.return
}

// Steps of two, and places that no one knows, are no neighbours.
// CHECK-LABEL: tile.program @apart
// CHECK: tile.load {{.*}} -> tensor<2048xbf16, #tile.layout<"{reg={{\[\[}}1],[2],[4]], lane={{\[\[}}8],
// CHECK-NOT: tile.convert_layout
tile.program @apart(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 8, index_bits = 32} {
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<31x133xbf16>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<2077xbf16>
  %a = tile.load %x[affine_map<(i) -> (i floordiv 67, (i mod 67) * 2)>] () checked [true, true] : !tile.view<31x133xbf16> -> tensor<2048xbf16>
  tile.store %a, %y[affine_map<(i) -> (i)>] () checked [false] : tensor<2048xbf16>, !tile.view<2077xbf16>
  tile.return
}
