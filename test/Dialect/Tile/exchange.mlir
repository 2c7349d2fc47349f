// RUN: fusion-opt %s --canonicalize --split-input-file | FileCheck %s
// RUN: fusion-opt %s --pass-pipeline='builtin.module(tile.program(tile-assign-layouts))' --split-input-file | FileCheck %s --check-prefix=LAYOUT
// RUN: fusion-opt %s --pass-pipeline='builtin.module(tile.program(tile-assign-layouts,tile-lower-exchanges,tile-allocate-shared-memory,tile-place-barriers),fusion-convert-tile-to-nvvm)' --split-input-file | FileCheck %s --check-prefix=NVVM

#id = affine_map<(a, b) -> (a, b)>

// The same exchange twice is none, different ones are one, and elements that
// are all the same need none.

// CHECK-LABEL: tile.program @folds
// CHECK: %[[X:.*]] = tile.load
// CHECK: tile.store %[[X]],
// CHECK: %[[BOTH:.*]] = tile.exchange %[[X]] along 1 by 5 : tensor<4x128xf32>
// CHECK: tile.store %[[BOTH]],
// CHECK: %[[ROWS:.*]] = tile.exchange
// CHECK: %[[C:.*]] = tile.exchange %[[ROWS]] along 1 by 2
// CHECK: tile.store %[[C]],
// CHECK: %[[S:.*]] = tile.splat
// CHECK: tile.store %[[S]],
tile.program @folds(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %s: f32) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<64x128xf32>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<64x128xf32>
  %t = tile.load %x[#id] () checked [false, false] : !tile.view<64x128xf32> -> tensor<4x128xf32>
  %a = tile.exchange %t along 1 by 4 : tensor<4x128xf32>
  %b = tile.exchange %a along 1 by 4 : tensor<4x128xf32>
  tile.store %b, %y[#id] () checked [false, false] : tensor<4x128xf32>, !tile.view<64x128xf32>
  %c = tile.exchange %a along 1 by 1 : tensor<4x128xf32>
  tile.store %c, %y[#id] () checked [false, false] : tensor<4x128xf32>, !tile.view<64x128xf32>
  %d = tile.exchange %t along 0 by 2 : tensor<4x128xf32>
  %e = tile.exchange %d along 1 by 2 : tensor<4x128xf32>
  tile.store %e, %y[#id] () checked [false, false] : tensor<4x128xf32>, !tile.view<64x128xf32>
  %f = tile.splat %s : f32 -> tensor<4x128xf32>
  %g = tile.exchange %f along 1 by 2 : tensor<4x128xf32>
  tile.store %g, %y[#id] () checked [false, false] : tensor<4x128xf32>, !tile.view<64x128xf32>
  tile.return
}

// -----

#id = affine_map<(a, b) -> (a, b)>

// Registers hold neighbours of four (mask 2: renamed), lanes the rest of a row
// (mask 16: a shuffle each), both (mask 17), warps the rows (through another
// layout and back).

// LAYOUT-LABEL: tile.program @places
// LAYOUT: %[[X:.*]] = tile.load {{.*}}reg={{\[\[}}0,1],[0,2]], lane={{\[\[}}0,4],[0,8],[0,16],[0,32],[0,64]], warp={{\[\[}}1,0],[2,0]], shape=[4,128]}
// LAYOUT: tile.exchange %[[X]] along 1 by 2
// LAYOUT: tile.exchange %[[X]] along 1 by 16
// LAYOUT: tile.exchange %[[X]] along 1 by 17
// LAYOUT: %[[C:.*]] = tile.convert_layout %[[X]]
// LAYOUT: %[[R:.*]] = tile.exchange %[[C]] along 0 by 2 {{.*}}reg={{\[\[}}2,0],
// LAYOUT: %[[B:.*]] = tile.convert_layout %[[R]]
// LAYOUT: tile.store %[[B]]

// NVVM-LABEL: llvm.func @places
// NVVM-NOT: nvvm.shfl
// NVVM: llvm.store
// NVVM-COUNT-8: nvvm.shfl.sync bfly
// NVVM-NOT: nvvm.shfl
// NVVM: nvvm.barrier
tile.program @places(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<64x128xf32>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<64x128xf32>
  %t = tile.load %x[#id] () checked [false, false] : !tile.view<64x128xf32> -> tensor<4x128xf32>
  %a = tile.exchange %t along 1 by 2 : tensor<4x128xf32>
  tile.store %a, %y[#id] () checked [false, false] : tensor<4x128xf32>, !tile.view<64x128xf32>
  %b = tile.exchange %t along 1 by 16 : tensor<4x128xf32>
  tile.store %b, %y[#id] () checked [false, false] : tensor<4x128xf32>, !tile.view<64x128xf32>
  %c = tile.exchange %t along 1 by 17 : tensor<4x128xf32>
  tile.store %c, %y[#id] () checked [false, false] : tensor<4x128xf32>, !tile.view<64x128xf32>
  %d = tile.exchange %t along 0 by 2 : tensor<4x128xf32>
  tile.store %d, %y[#id] () checked [false, false] : tensor<4x128xf32>, !tile.view<64x128xf32>
  tile.return
}
