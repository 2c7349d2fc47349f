// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-specialize-warps,canonicalize,cse))' | FileCheck %s

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
#vec = affine_map<(d0)[s0] -> (d0 + s0)>

// A sum of a single step has no loop of its own: its products stand in the loop
// over tiles, beside the epilogue. The residual has a ring and the result is
// stored by copies all the same; the bias is there before the products are
// waited for, and the stage is free again before the epilogue.

// CHECK-LABEL: fusion_tile.program @single_step
// CHECK-DAG: %[[RING:.*]] = fusion_tile.make_ring : <3, [!fusion_tile.buffer<64x64xbf16{{.*}}, !fusion_tile.buffer<64x64xbf16
// CHECK-DAG: %[[SIDE:.*]] = fusion_tile.make_ring : <2, [!fusion_tile.buffer<64x64xbf16
// CHECK: fusion_tile.specialize consumer {
// CHECK:   scf.for {{.*}} iter_args(%[[P:.*]] = %{{.*}}, %[[Q:.*]] = %{{.*}}) -> (index, index)
// CHECK:     fusion_tile.load {{.*}} -> tensor<64xf32>
// CHECK:     %[[S:.*]]:2 = fusion_tile.wait %[[RING]][%[[P]]]
// CHECK:     %[[D:.*]] = fusion_tile.mma_async %[[S]]#0, %[[S]]#1
// CHECK:     fusion_tile.mma_wait %[[D]]
// CHECK-NEXT: fusion_tile.release %[[RING]][%[[P]]]
// CHECK:     fusion_tile.wait %[[SIDE]][%[[Q]]]
// CHECK:     fusion_tile.release %[[SIDE]][%[[Q]]]
// CHECK:     fusion_tile.async_store
// CHECK-NOT: fusion_tile.release
// CHECK:     scf.yield
// CHECK: } producer {
// CHECK:   scf.for
// CHECK:     fusion_tile.acquire %[[RING]]
// CHECK-NOT: scf.for
// CHECK:     scf.yield
// CHECK: } producer {
// CHECK:   scf.for
// CHECK:     fusion_tile.acquire %[[SIDE]]
fusion_tile.program @single_step(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pc: !llvm.ptr<1>, %pr: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c132 = arith.constant 132 : index
  %zero = arith.constant 0.0 : f32
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (1024, 64)>} : !llvm.ptr<1> to !fusion_tile.view<1024x64xbf16>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xbf16>
  %c = fusion_tile.view %pc[] {shape = affine_map<() -> (64)>} : !llvm.ptr<1> to !fusion_tile.view<64xf32>
  %r = fusion_tile.view %pr[] {shape = affine_map<() -> (1024, 64)>} : !llvm.ptr<1> to !fusion_tile.view<1024x64xbf16>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (1024, 64)>} : !llvm.ptr<1> to !fusion_tile.view<1024x64xbf16>
  %init = fusion_tile.splat %zero : f32 -> tensor<64x64xf32>
  %id = gpu.block_id x
  scf.for %t = %id to %c16 step %c132 {
    %om = arith.muli %t, %c64 : index
    %ka = fusion_tile.load %a[#tile] (%om, %c0) checked [false, false] : !fusion_tile.view<1024x64xbf16> -> tensor<64x64xbf16>
    %kb = fusion_tile.load %b[#tile] (%c0, %c0) checked [false, false] : !fusion_tile.view<64x64xbf16> -> tensor<64x64xbf16>
    %sum = fusion_tile.dot %ka, %kb, %init : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %bias = fusion_tile.load %c[#vec] (%c0) checked [false] : !fusion_tile.view<64xf32> -> tensor<64xf32>
    %bb = fusion_tile.broadcast %bias dims [1] : tensor<64xf32> -> tensor<64x64xf32>
    %s1 = arith.addf %sum, %bb : tensor<64x64xf32>
    %res = fusion_tile.load %r[#tile] (%om, %c0) checked [false, false] : !fusion_tile.view<1024x64xbf16> -> tensor<64x64xbf16>
    %rf = arith.extf %res : tensor<64x64xbf16> to tensor<64x64xf32>
    %s2 = arith.addf %s1, %rf : tensor<64x64xf32>
    %o = arith.truncf %s2 : tensor<64x64xf32> to tensor<64x64xbf16>
    fusion_tile.store %o, %y[#tile] (%om, %c0) checked [false, false] : tensor<64x64xbf16>, !fusion_tile.view<1024x64xbf16>
  }
  fusion_tile.return
}
