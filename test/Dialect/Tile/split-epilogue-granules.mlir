// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-split-epilogue))' | FileCheck %s

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
#row = affine_map<(d0)[s0] -> (d0 + s0, 0)>

// Reductions in granules are done chunk by chunk with what they reduce: granules
// of columns by the chunk's own part, of rows on its columns. A chunk of the
// result of the former is one column. What reduces all columns is whole.

// CHECK-DAG: #[[NEXT:.*]] = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1 + 64)>
// CHECK-DAG: #[[AFTER:.*]] = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1 + 1)>
// CHECK-LABEL: fusion_tile.program @granules
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: fusion_tile.reduce %[[SUM]] along 1 : tensor<128x128xf32> -> tensor<128xf32>
// CHECK: %[[A:.*]] = fusion_tile.slice %[[SUM]] [0, 0] : tensor<128x128xf32> -> tensor<128x64xf32>
// CHECK: %[[R:.*]] = fusion_tile.reshape %[[A]] : tensor<128x64xf32> -> tensor<128x1x64xf32>
// CHECK: %[[MAX:.*]] = fusion_tile.reduce %[[R]] along 2 : tensor<128x1x64xf32> -> tensor<128x1xf32>
// CHECK: fusion_tile.store %[[MAX]], {{.*}} : tensor<128x1xf32>
// CHECK: %[[S:.*]] = fusion_tile.reshape %[[A]] : tensor<128x64xf32> -> tensor<8x16x64xf32>
// CHECK: fusion_tile.reduce %[[S]] along 1 : tensor<8x16x64xf32> -> tensor<8x64xf32>
// CHECK: fusion_tile.store {{.*}} : tensor<8x64xf32>
// CHECK: fusion_tile.slice %[[SUM]] [0, 64] : tensor<128x128xf32> -> tensor<128x64xf32>
// CHECK: fusion_tile.store {{.*}}[#[[AFTER]]] {{.*}} : tensor<128x1xf32>
// CHECK: fusion_tile.store {{.*}}[#[[NEXT]]] {{.*}} : tensor<8x64xf32>
// CHECK: fusion_tile.return
fusion_tile.program @granules(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pr: !llvm.ptr<1>, %py: !llvm.ptr<1>, %pz: !llvm.ptr<1>) attributes {
    num_warps = 8, pipeline = #fusion_tile.pipeline<wgmma, stages = 4, columns = 64>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (128, 1024)>} : !llvm.ptr<1> to !fusion_tile.view<128x1024xbf16>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (128, 1024)>} : !llvm.ptr<1> to !fusion_tile.view<128x1024xbf16>
  %r = fusion_tile.view %pr[] {shape = affine_map<() -> (128, 1)>} : !llvm.ptr<1> to !fusion_tile.view<128x1xf32>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (128, 2)>} : !llvm.ptr<1> to !fusion_tile.view<128x2xf32>
  %z = fusion_tile.view %pz[] {shape = affine_map<() -> (8, 128)>} : !llvm.ptr<1> to !fusion_tile.view<8x128xf32>
  %init = fusion_tile.splat %zero : f32 -> tensor<128x128xf32>
  %sum = scf.for %k = %c0 to %c1024 step %c64 iter_args(%acc = %init) -> (tensor<128x128xf32>) {
    %ka = fusion_tile.load %a[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<128x1024xbf16> -> tensor<128x64xbf16>
    %kb = fusion_tile.load %b[#tile] (%c0, %k) checked [false, false] : !fusion_tile.view<128x1024xbf16> -> tensor<128x64xbf16>
    %d = fusion_tile.dot %ka, %kb, %acc : tensor<128x64xbf16>, tensor<128x64xbf16> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  %all = fusion_tile.reduce %sum along 1 : tensor<128x128xf32> -> tensor<128xf32> {
  ^bb0(%u: f32, %v: f32):
    %q = arith.addf %u, %v : f32
    fusion_tile.yield %q : f32
  }
  fusion_tile.store %all, %r[#row] (%c0) checked [false, false] : tensor<128xf32>, !fusion_tile.view<128x1xf32>
  %parts = fusion_tile.reshape %sum : tensor<128x128xf32> -> tensor<128x2x64xf32>
  %max = fusion_tile.reduce %parts along 2 : tensor<128x2x64xf32> -> tensor<128x2xf32> {
  ^bb0(%u: f32, %v: f32):
    %q = arith.maximumf %u, %v : f32
    fusion_tile.yield %q : f32
  }
  fusion_tile.store %max, %y[#tile] (%c0, %c0) checked [false, false] : tensor<128x2xf32>, !fusion_tile.view<128x2xf32>
  %warps = fusion_tile.reshape %sum : tensor<128x128xf32> -> tensor<8x16x128xf32>
  %columns = fusion_tile.reduce %warps along 1 : tensor<8x16x128xf32> -> tensor<8x128xf32> {
  ^bb0(%u: f32, %v: f32):
    %q = arith.addf %u, %v : f32
    fusion_tile.yield %q : f32
  }
  fusion_tile.store %columns, %z[#tile] (%c0, %c0) checked [false, false] : tensor<8x128xf32>, !fusion_tile.view<8x128xf32>
  fusion_tile.return
}
