// RUN: fusion-opt %s --canonicalize --split-input-file | FileCheck %s
// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-assign-layouts))' --split-input-file | FileCheck %s --check-prefix=LAYOUT
// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-assign-layouts,fusion-tile-lower-exchanges,fusion-tile-allocate-shared-memory,fusion-tile-place-barriers),fusion-convert-tile-to-nvvm)' --split-input-file | FileCheck %s --check-prefix=NVVM

#id = affine_map<(a, b) -> (a, b)>

// The same exchange twice is none, different ones are one, and elements that
// are all the same need none.

// CHECK-LABEL: fusion_tile.program @folds
// CHECK: %[[X:.*]] = fusion_tile.load
// CHECK: fusion_tile.store %[[X]],
// CHECK: %[[BOTH:.*]] = fusion_tile.exchange %[[X]] along 1 by 5 : tensor<4x128xf32>
// CHECK: fusion_tile.store %[[BOTH]],
// CHECK: %[[ROWS:.*]] = fusion_tile.exchange
// CHECK: %[[C:.*]] = fusion_tile.exchange %[[ROWS]] along 1 by 2
// CHECK: fusion_tile.store %[[C]],
// CHECK: %[[S:.*]] = fusion_tile.splat
// CHECK: fusion_tile.store %[[S]],
fusion_tile.program @folds(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %s: f32) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<64x128xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<64x128xf32>
  %t = fusion_tile.load %x[#id] () checked [false, false] : !fusion_tile.view<64x128xf32> -> tensor<4x128xf32>
  %a = fusion_tile.exchange %t along 1 by 4 : tensor<4x128xf32>
  %b = fusion_tile.exchange %a along 1 by 4 : tensor<4x128xf32>
  fusion_tile.store %b, %y[#id] () checked [false, false] : tensor<4x128xf32>, !fusion_tile.view<64x128xf32>
  %c = fusion_tile.exchange %a along 1 by 1 : tensor<4x128xf32>
  fusion_tile.store %c, %y[#id] () checked [false, false] : tensor<4x128xf32>, !fusion_tile.view<64x128xf32>
  %d = fusion_tile.exchange %t along 0 by 2 : tensor<4x128xf32>
  %e = fusion_tile.exchange %d along 1 by 2 : tensor<4x128xf32>
  fusion_tile.store %e, %y[#id] () checked [false, false] : tensor<4x128xf32>, !fusion_tile.view<64x128xf32>
  %f = fusion_tile.splat %s : f32 -> tensor<4x128xf32>
  %g = fusion_tile.exchange %f along 1 by 2 : tensor<4x128xf32>
  fusion_tile.store %g, %y[#id] () checked [false, false] : tensor<4x128xf32>, !fusion_tile.view<64x128xf32>
  fusion_tile.return
}

// -----

#id = affine_map<(a, b) -> (a, b)>

// Registers hold neighbours of four (mask 2: renamed), lanes the rest of a row
// (mask 16: a shuffle each), both (mask 17), warps the rows (through another
// layout and back).

// LAYOUT-LABEL: fusion_tile.program @places
// LAYOUT: %[[X:.*]] = fusion_tile.load {{.*}}reg={{\[\[}}0,1],[0,2]], lane={{\[\[}}0,4],[0,8],[0,16],[0,32],[0,64]], warp={{\[\[}}1,0],[2,0]], shape=[4,128]}
// LAYOUT: fusion_tile.exchange %[[X]] along 1 by 2
// LAYOUT: fusion_tile.exchange %[[X]] along 1 by 16
// LAYOUT: fusion_tile.exchange %[[X]] along 1 by 17
// LAYOUT: %[[C:.*]] = fusion_tile.convert_layout %[[X]]
// LAYOUT: %[[R:.*]] = fusion_tile.exchange %[[C]] along 0 by 2 {{.*}}reg={{\[\[}}2,0],
// LAYOUT: %[[B:.*]] = fusion_tile.convert_layout %[[R]]
// LAYOUT: fusion_tile.store %[[B]]

// NVVM-LABEL: llvm.func @places
// NVVM-NOT: nvvm.shfl
// NVVM: llvm.store
// NVVM-COUNT-8: nvvm.shfl.sync bfly
// NVVM-NOT: nvvm.shfl
// NVVM: nvvm.barrier
fusion_tile.program @places(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<64x128xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<64x128xf32>
  %t = fusion_tile.load %x[#id] () checked [false, false] : !fusion_tile.view<64x128xf32> -> tensor<4x128xf32>
  %a = fusion_tile.exchange %t along 1 by 2 : tensor<4x128xf32>
  fusion_tile.store %a, %y[#id] () checked [false, false] : tensor<4x128xf32>, !fusion_tile.view<64x128xf32>
  %b = fusion_tile.exchange %t along 1 by 16 : tensor<4x128xf32>
  fusion_tile.store %b, %y[#id] () checked [false, false] : tensor<4x128xf32>, !fusion_tile.view<64x128xf32>
  %c = fusion_tile.exchange %t along 1 by 17 : tensor<4x128xf32>
  fusion_tile.store %c, %y[#id] () checked [false, false] : tensor<4x128xf32>, !fusion_tile.view<64x128xf32>
  %d = fusion_tile.exchange %t along 0 by 2 : tensor<4x128xf32>
  fusion_tile.store %d, %y[#id] () checked [false, false] : tensor<4x128xf32>, !fusion_tile.view<64x128xf32>
  fusion_tile.return
}
