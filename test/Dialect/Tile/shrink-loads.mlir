// RUN: fusion-opt %s --pass-pipeline="builtin.module(fusion_tile.program(fusion-tile-shrink-loads,canonicalize,cse))" --split-input-file | FileCheck %s

// Two numbers in a byte; one factor for 32 of them, the whole depth of a tile.

// CHECK-DAG: #[[$BYTES:.*]] = affine_map<(d0, d1)[s0] -> (d0, d1 + s0 floordiv 2)>
// CHECK-DAG: #[[$FACTORS:.*]] = affine_map<(d0)[s0] -> (d0, s0 floordiv 64)>
// CHECK-LABEL: fusion_tile.program @packed
// CHECK: %[[X:.*]] = fusion_tile.load %{{.*}}[#[[$BYTES]]] {{.*}} -> tensor<8x16xi8>
// CHECK: %[[R:.*]] = fusion_tile.repeat %[[X]] along 1 : tensor<8x16xi8> -> tensor<8x32xi8>
// CHECK: %[[F:.*]] = fusion_tile.load %{{.*}}[#[[$FACTORS]]] {{.*}} -> tensor<8xi8>
// CHECK: %[[B:.*]] = fusion_tile.broadcast %[[F]] dims [0] : tensor<8xi8> -> tensor<8x32xi8>
// CHECK: arith.muli %[[R]], %[[B]]
fusion_tile.program @packed(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %o: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync>} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %v = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<8x64xi8>
  %g = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<8x2xi8>
  %w = fusion_tile.view %o[] : !llvm.ptr<1> to !fusion_tile.view<8x128xi8>
  scf.for %k = %c0 to %c128 step %c32 {
    %x = fusion_tile.load %v[affine_map<(n, k)[s] -> (n, (k + s) floordiv 2)>] (%k) checked [false, false] : !fusion_tile.view<8x64xi8> -> tensor<8x32xi8>
    %f = fusion_tile.load %g[affine_map<(n, k)[s] -> (n, (k + s) floordiv 64)>] (%k) checked [false, false] : !fusion_tile.view<8x2xi8> -> tensor<8x32xi8>
    %m = arith.muli %x, %f : tensor<8x32xi8>
    fusion_tile.store %m, %w[affine_map<(n, k)[s] -> (n, k + s)>] (%k) checked [false, false] : tensor<8x32xi8>, !fusion_tile.view<8x128xi8>
  }
  fusion_tile.return
}

// -----

// Left alone: a place that is no multiple of the divisor, a dimension that also
// occurs whole, and programs without matrix instructions.

// CHECK-LABEL: fusion_tile.program @left_alone
// CHECK-COUNT-2: fusion_tile.load {{.*}} -> tensor<8x32xi8>
// CHECK-NOT: fusion_tile.repeat
fusion_tile.program @left_alone(%p: !llvm.ptr<1>, %o: !llvm.ptr<1>, %at: index) attributes {num_warps = 1 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync>} {
  %v = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<8x64xi8>
  %w = fusion_tile.view %o[] : !llvm.ptr<1> to !fusion_tile.view<8x32xi8>
  %x = fusion_tile.load %v[affine_map<(n, k)[s] -> (n, (k + s) floordiv 2)>] (%at) checked [false, true] : !fusion_tile.view<8x64xi8> -> tensor<8x32xi8>
  %y = fusion_tile.load %v[affine_map<(n, k) -> (n + k mod 2, k floordiv 2)>] () checked [true, false] : !fusion_tile.view<8x64xi8> -> tensor<8x32xi8>
  %m = arith.muli %x, %y : tensor<8x32xi8>
  fusion_tile.store %m, %w[affine_map<(n, k) -> (n, k)>] () checked [false, false] : tensor<8x32xi8>, !fusion_tile.view<8x32xi8>
  fusion_tile.return
}

// CHECK-LABEL: fusion_tile.program @scalar_products
// CHECK-NOT: fusion_tile.repeat
fusion_tile.program @scalar_products(%p: !llvm.ptr<1>, %o: !llvm.ptr<1>) attributes {num_warps = 1 : i64, index_bits = 32 : i64} {
  %v = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<8x64xi8>
  %w = fusion_tile.view %o[] : !llvm.ptr<1> to !fusion_tile.view<8x32xi8>
  %x = fusion_tile.load %v[affine_map<(n, k) -> (n, k floordiv 2)>] () checked [false, false] : !fusion_tile.view<8x64xi8> -> tensor<8x32xi8>
  fusion_tile.store %x, %w[affine_map<(n, k) -> (n, k)>] () checked [false, false] : tensor<8x32xi8>, !fusion_tile.view<8x32xi8>
  fusion_tile.return
}
