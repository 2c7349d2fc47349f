// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-chain-sums))' | FileCheck %s

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// Sums that are added to earlier ones begin with these, whichever is written
// first in the addition, in a loop and in a single step.

// CHECK-LABEL: fusion_tile.program @sums
// CHECK: %[[S:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[ZERO:.*]]) -> (tensor<64x64xf32>)
// CHECK: %[[T:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[S]]) -> (tensor<64x64xf32>)
// CHECK: %[[U:.*]] = fusion_tile.dot %{{.*}}, %{{.*}}, %[[T]]
// CHECK-NOT: arith.addf
// CHECK: fusion_tile.store %[[U]]
fusion_tile.program @sums(%pa: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {num_warps = 4} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !fusion_tile.view<64x256xf16>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = fusion_tile.splat %zero : f32 -> tensor<64x64xf32>
  %s = scf.for %i = %c0 to %c256 step %c64 iter_args(%acc = %init) -> (tensor<64x64xf32>) {
    %k = fusion_tile.load %a[#tile] (%c0, %i) checked [false, false] : !fusion_tile.view<64x256xf16> -> tensor<64x64xf16>
    %d = fusion_tile.dot %k, %k, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %t = scf.for %i = %c0 to %c256 step %c64 iter_args(%acc = %init) -> (tensor<64x64xf32>) {
    %k = fusion_tile.load %a[#tile] (%c0, %i) checked [false, false] : !fusion_tile.view<64x256xf16> -> tensor<64x64xf16>
    %d = fusion_tile.dot %k, %k, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  %x = arith.addf %t, %s : tensor<64x64xf32>
  %k = fusion_tile.load %a[#tile] (%c0, %c0) checked [false, false] : !fusion_tile.view<64x256xf16> -> tensor<64x64xf16>
  %u = fusion_tile.dot %k, %k, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %z = arith.addf %x, %u : tensor<64x64xf32>
  fusion_tile.store %z, %y[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}

// Not what something else reads, what begins with something else, or what is no
// sum of products.

// CHECK-LABEL: fusion_tile.program @others
// CHECK: arith.addf
// CHECK: arith.addf
// CHECK: arith.addf
fusion_tile.program @others(%pa: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {num_warps = 4} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf16>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = fusion_tile.splat %zero : f32 -> tensor<64x64xf32>
  %ones = fusion_tile.splat %one : f32 -> tensor<64x64xf32>
  %k = fusion_tile.load %a[#tile] (%c0, %c0) checked [false, false] : !fusion_tile.view<64x64xf16> -> tensor<64x64xf16>
  %s = fusion_tile.dot %k, %k, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %t = fusion_tile.dot %k, %k, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %x = arith.addf %s, %t : tensor<64x64xf32>
  fusion_tile.store %s, %y[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  %u = fusion_tile.dot %k, %k, %ones : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %v = fusion_tile.dot %k, %k, %ones : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %z = arith.addf %u, %v : tensor<64x64xf32>
  %l = fusion_tile.load %y[#tile] (%c0, %c0) checked [false, false] : !fusion_tile.view<64x64xf32> -> tensor<64x64xf32>
  %w = fusion_tile.dot %k, %k, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %q = arith.addf %l, %w : tensor<64x64xf32>
  fusion_tile.store %x, %y[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.store %z, %y[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.store %q, %y[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}
