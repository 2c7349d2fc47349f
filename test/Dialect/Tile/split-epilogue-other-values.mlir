// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-split-epilogue))' --split-input-file | FileCheck %s

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// A residual that is added to the sums is stored as well, and so is a function
// of it: both stores go chunk after chunk with that of the sums, and what they
// have in common is loaded and computed once a chunk.

// CHECK-LABEL: fusion_tile.program @stored_residual
// CHECK: %[[SUM:.*]] = scf.for
// CHECK-NOT: tensor<128x128xbf16>
// CHECK: %[[R:.*]] = fusion_tile.load {{.*}} -> tensor<128x64xf32>
// CHECK: %[[H:.*]] = arith.negf %[[R]] : tensor<128x64xf32>
// CHECK: fusion_tile.store %[[H]]
// CHECK: %[[E:.*]] = math.exp %[[H]]
// CHECK: fusion_tile.store %[[E]]
// CHECK: %[[PART:.*]] = fusion_tile.slice %[[SUM]] [0, 0] : tensor<128x128xf32> -> tensor<128x64xf32>
// CHECK: arith.addf %[[PART]], %[[H]]
// CHECK: fusion_tile.load {{.*}} -> tensor<128x64xf32>
// CHECK-NOT: fusion_tile.load
// CHECK: fusion_tile.slice %[[SUM]] [0, 64]
// CHECK-NOT: {{fusion_tile.load|fusion_tile.slice}}
// CHECK: fusion_tile.return
fusion_tile.program @stored_residual(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pr: !llvm.ptr<1>, %ph: !llvm.ptr<1>, %pe: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 8, pipeline = #fusion_tile.pipeline<wgmma, stages = 4, columns = 64>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (128, 256)>} : !llvm.ptr<1> to !fusion_tile.view<128x256xbf16>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (128, 256)>} : !llvm.ptr<1> to !fusion_tile.view<128x256xbf16>
  %r = fusion_tile.view %pr[] {shape = affine_map<() -> (128, 128)>} : !llvm.ptr<1> to !fusion_tile.view<128x128xf32>
  %h = fusion_tile.view %ph[] {shape = affine_map<() -> (128, 128)>} : !llvm.ptr<1> to !fusion_tile.view<128x128xf32>
  %e = fusion_tile.view %pe[] {shape = affine_map<() -> (128, 128)>} : !llvm.ptr<1> to !fusion_tile.view<128x128xf32>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (128, 128)>} : !llvm.ptr<1> to !fusion_tile.view<128x128xf32>
  %init = arith.constant dense<0.0> : tensor<128x128xf32>
  %tr = fusion_tile.load %r[#tile] (%c0, %c0) checked [false, false] : !fusion_tile.view<128x128xf32> -> tensor<128x128xf32>
  %th = arith.negf %tr : tensor<128x128xf32>
  fusion_tile.store %th, %h[#tile] (%c0, %c0) checked [false, false] : tensor<128x128xf32>, !fusion_tile.view<128x128xf32>
  %te = math.exp %th : tensor<128x128xf32>
  fusion_tile.store %te, %e[#tile] (%c0, %c0) checked [false, false] : tensor<128x128xf32>, !fusion_tile.view<128x128xf32>
  %sum = scf.for %k = %c0 to %c256 step %c64 iter_args(%acc = %init) -> (tensor<128x128xf32>) {
    %ka = fusion_tile.load %a[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<128x256xbf16> -> tensor<128x64xbf16>
    %kb = fusion_tile.load %b[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<128x256xbf16> -> tensor<128x64xbf16>
    %d = fusion_tile.dot %ka, %kb, %acc : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %ty = arith.addf %sum, %th : tensor<128x128xf32>
  fusion_tile.store %ty, %y[#tile] (%c0, %c0) checked [false, false] : tensor<128x128xf32>, !fusion_tile.view<128x128xf32>
  fusion_tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
#vec = affine_map<(d0)[s0] -> (d0 + s0)>

// Its rows' sums need the residual whole, away from the sums: no part of it is
// taken, chunks load theirs.

// CHECK-LABEL: fusion_tile.program @reduced_residual
// CHECK: %[[WHOLE:.*]] = fusion_tile.load {{.*}} -> tensor<128x128xf32>
// CHECK: fusion_tile.reduce %[[WHOLE]] along 1
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: %[[PART:.*]] = fusion_tile.slice %[[SUM]] [0, 0]
// CHECK: %[[R:.*]] = fusion_tile.load {{.*}} -> tensor<128x64xf32>
// CHECK: arith.addf %[[PART]], %[[R]]
// CHECK-NOT: fusion_tile.slice %[[WHOLE]]
// CHECK: fusion_tile.return
fusion_tile.program @reduced_residual(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pr: !llvm.ptr<1>, %ps: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 8, pipeline = #fusion_tile.pipeline<wgmma, stages = 4, columns = 64>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (128, 256)>} : !llvm.ptr<1> to !fusion_tile.view<128x256xbf16>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (128, 256)>} : !llvm.ptr<1> to !fusion_tile.view<128x256xbf16>
  %r = fusion_tile.view %pr[] {shape = affine_map<() -> (128, 128)>} : !llvm.ptr<1> to !fusion_tile.view<128x128xf32>
  %s = fusion_tile.view %ps[] {shape = affine_map<() -> (128)>} : !llvm.ptr<1> to !fusion_tile.view<128xf32>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (128, 128)>} : !llvm.ptr<1> to !fusion_tile.view<128x128xf32>
  %init = arith.constant dense<0.0> : tensor<128x128xf32>
  %tr = fusion_tile.load %r[#tile] (%c0, %c0) checked [false, false] : !fusion_tile.view<128x128xf32> -> tensor<128x128xf32>
  %ts = fusion_tile.reduce %tr along 1 : tensor<128x128xf32> -> tensor<128xf32> {
  ^bb0(%u: f32, %v: f32):
    %w = arith.addf %u, %v : f32
    fusion_tile.yield %w : f32
  }
  fusion_tile.store %ts, %s[#vec] (%c0) checked [false] : tensor<128xf32>, !fusion_tile.view<128xf32>
  %sum = scf.for %k = %c0 to %c256 step %c64 iter_args(%acc = %init) -> (tensor<128x128xf32>) {
    %ka = fusion_tile.load %a[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<128x256xbf16> -> tensor<128x64xbf16>
    %kb = fusion_tile.load %b[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<128x256xbf16> -> tensor<128x64xbf16>
    %d = fusion_tile.dot %ka, %kb, %acc : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %ty = arith.addf %sum, %tr : tensor<128x128xf32>
  fusion_tile.store %ty, %y[#tile] (%c0, %c0) checked [false, false] : tensor<128x128xf32>, !fusion_tile.view<128x128xf32>
  fusion_tile.return
}
