// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-split-epilogue))' | FileCheck %s

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// Reductions of whole rows are sweeps over the chunks: the first adds the
// residual, which is loaded once; the next ones go on with what it computed.

// CHECK-LABEL: fusion_tile.program @sweeps
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: %[[S0:.*]] = fusion_tile.slice %[[SUM]] [0, 0] : tensor<128x128xf32> -> tensor<128x64xf32>
// CHECK: %[[L0:.*]] = fusion_tile.load {{.*}} -> tensor<128x64xf32>
// CHECK: %[[X0:.*]] = arith.addf %[[S0]], %[[L0]] : tensor<128x64xf32>
// CHECK: %[[P0:.*]] = fusion_tile.reduce %[[X0]] along 1 : tensor<128x64xf32> -> tensor<128xf32>
// CHECK: %[[S1:.*]] = fusion_tile.slice %[[SUM]] [0, 64] : tensor<128x128xf32> -> tensor<128x64xf32>
// CHECK: %[[L1:.*]] = fusion_tile.load {{.*}} -> tensor<128x64xf32>
// CHECK: %[[X1:.*]] = arith.addf %[[S1]], %[[L1]] : tensor<128x64xf32>
// CHECK: %[[P1:.*]] = fusion_tile.reduce %[[X1]] along 1 : tensor<128x64xf32> -> tensor<128xf32>
// CHECK: %[[MAX:.*]] = arith.maximumf %[[P0]], %[[P1]] : tensor<128xf32>
// CHECK: %[[M0:.*]] = fusion_tile.broadcast %[[MAX]] dims [0] : tensor<128xf32> -> tensor<128x64xf32>
// CHECK: %[[D0:.*]] = arith.subf %[[X0]], %[[M0]] : tensor<128x64xf32>
// CHECK: %[[Q0:.*]] = fusion_tile.reduce %[[D0]] along 1
// CHECK: %[[D1:.*]] = arith.subf %[[X1]], %{{.*}} : tensor<128x64xf32>
// CHECK: %[[Q1:.*]] = fusion_tile.reduce %[[D1]] along 1
// CHECK: %[[ALL:.*]] = arith.addf %[[Q0]], %[[Q1]] : tensor<128xf32>
// CHECK-NOT: fusion_tile.load
// CHECK: arith.mulf %[[D0]], %{{.*}} : tensor<128x64xf32>
// CHECK: fusion_tile.store {{.*}} : tensor<128x64xf32>
// CHECK: arith.mulf %[[D1]], %{{.*}} : tensor<128x64xf32>
// CHECK: fusion_tile.store {{.*}} : tensor<128x64xf32>
// CHECK: fusion_tile.return
fusion_tile.program @sweeps(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pr: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 8, pipeline = #fusion_tile.pipeline<wgmma, stages = 4, columns = 64>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (128, 1024)>} : !llvm.ptr<1> to !fusion_tile.view<128x1024xbf16>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (128, 1024)>} : !llvm.ptr<1> to !fusion_tile.view<128x1024xbf16>
  %r = fusion_tile.view %pr[] {shape = affine_map<() -> (128, 128)>} : !llvm.ptr<1> to !fusion_tile.view<128x128xf32>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (128, 128)>} : !llvm.ptr<1> to !fusion_tile.view<128x128xf32>
  %init = fusion_tile.splat %zero : f32 -> tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %c1024 step %c64 iter_args(%acc = %init) -> (tensor<128x128xf32>) {
    %ka = fusion_tile.load %a[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<128x1024xbf16> -> tensor<128x64xbf16>
    %kb = fusion_tile.load %b[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<128x1024xbf16> -> tensor<128x64xbf16>
    %d = fusion_tile.dot %ka, %kb, %acc : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %l = fusion_tile.load %r[#tile] (%c0, %c0) checked [false, false] : !fusion_tile.view<128x128xf32> -> tensor<128x128xf32>
  %x = arith.addf %sum, %l : tensor<128x128xf32>
  %max = fusion_tile.reduce %x along 1 : tensor<128x128xf32> -> tensor<128xf32> {
  ^bb0(%u: f32, %v: f32):
    %q = arith.maximumf %u, %v : f32
    fusion_tile.yield %q : f32
  }
  %maxes = fusion_tile.broadcast %max dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %diff = arith.subf %x, %maxes : tensor<128x128xf32>
  %all = fusion_tile.reduce %diff along 1 : tensor<128x128xf32> -> tensor<128xf32> {
  ^bb0(%u: f32, %v: f32):
    %q = arith.addf %u, %v : f32
    fusion_tile.yield %q : f32
  }
  %alls = fusion_tile.broadcast %all dims [0] : tensor<128xf32> -> tensor<128x128xf32>
  %o = arith.mulf %diff, %alls : tensor<128x128xf32>
  fusion_tile.store %o, %y[#tile] (%c0, %c0) checked [false, false] : tensor<128x128xf32>, !fusion_tile.view<128x128xf32>
  fusion_tile.return
}
