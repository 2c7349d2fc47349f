// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-assign-layouts,fusion-tile-allocate-shared-memory),fusion-convert-tile-to-nvvm,cse)' | FileCheck %s

// A quotient is that of the first register that has it: one for the four
// elements of a thread, and one for pairs where a tile begins at even elements.
// CHECK-LABEL: llvm.func @quotients
// CHECK-COUNT-3: arith.divui
// CHECK-NOT: arith.divui
// CHECK: llvm.return
fusion_tile.program @quotients(%q: !llvm.ptr<1>, %r: !llvm.ptr<1>) attributes {num_warps = 1, index_bits = 32} {
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<128xi32>
  %z = fusion_tile.view %r[] : !llvm.ptr<1> to !fusion_tile.view<128xi32>
  %c6 = arith.constant 6 : index
  %b = gpu.block_id x
  %at = arith.muli %b, %c6 : index
  %i = fusion_tile.index affine_map<(a) -> (a floordiv 8)> () : tensor<128xindex>
  %j = fusion_tile.index affine_map<(a)[s] -> ((a + s) floordiv 8)> (%at) : tensor<128xindex>
  %v = arith.index_cast %i : tensor<128xindex> to tensor<128xi32>
  %w = arith.index_cast %j : tensor<128xindex> to tensor<128xi32>
  fusion_tile.store %v, %y[affine_map<(a) -> (a)>] () checked [false] : tensor<128xi32>, !fusion_tile.view<128xi32>
  fusion_tile.store %w, %z[affine_map<(a) -> (a)>] () checked [false] : tensor<128xi32>, !fusion_tile.view<128xi32>
  fusion_tile.return
}

// Rows that begin at even elements: two pairs of each of two rows. What a row's
// number is multiplied by is even, but it has no low bits to leave out.
// CHECK-LABEL: llvm.func @rows
// CHECK-COUNT-4: arith.divui
// CHECK-NOT: arith.divui
// CHECK: llvm.return
fusion_tile.program @rows(%q: !llvm.ptr<1>) attributes {num_warps = 1, index_bits = 32} {
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<2x128xi32>
  %i = fusion_tile.index affine_map<(r, a) -> ((r * 102 + a) floordiv 8)> () : tensor<2x128xindex>
  %v = arith.index_cast %i : tensor<2x128xindex> to tensor<2x128xi32>
  fusion_tile.store %v, %y[affine_map<(r, a) -> (r, a)>] () checked [false, false] : tensor<2x128xi32>, !fusion_tile.view<2x128xi32>
  fusion_tile.return
}
