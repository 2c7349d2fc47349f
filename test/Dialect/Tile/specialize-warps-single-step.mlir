// RUN: fusion-opt %s --pass-pipeline='builtin.module(tile.program(tile-specialize-warps,canonicalize,cse))' | FileCheck %s

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>
#vec = affine_map<(d0)[s0] -> (d0 + s0)>

// A sum of a single step has no loop of its own: its products stand in the loop
// over tiles, beside the epilogue. The residual has a ring and the result is
// stored by copies all the same; the bias is there before the products are
// waited for, and the stage is free again before the epilogue.

// CHECK-LABEL: tile.program @single_step
// CHECK-DAG: %[[RING:.*]] = tile.make_ring : <3, [!tile.buffer<64x64xbf16{{.*}}, !tile.buffer<64x64xbf16
// CHECK-DAG: %[[SIDE:.*]] = tile.make_ring : <2, [!tile.buffer<64x64xbf16
// CHECK: tile.specialize consumer {
// CHECK:   scf.for {{.*}} iter_args(%[[P:.*]] = %{{.*}}, %[[Q:.*]] = %{{.*}}) -> (index, index)
// CHECK:     tile.load {{.*}} -> tensor<64xf32>
// CHECK:     %[[S:.*]]:2 = tile.wait %[[RING]][%[[P]]]
// CHECK:     %[[D:.*]] = tile.mma_async %[[S]]#0, %[[S]]#1
// CHECK:     tile.mma_wait %[[D]]
// CHECK-NEXT: tile.release %[[RING]][%[[P]]]
// CHECK:     tile.wait %[[SIDE]][%[[Q]]]
// CHECK:     tile.release %[[SIDE]][%[[Q]]]
// CHECK:     tile.async_store
// CHECK-NOT: tile.release
// CHECK:     scf.yield
// CHECK: } producer {
// CHECK:   scf.for
// CHECK:     tile.acquire %[[RING]]
// CHECK-NOT: scf.for
// CHECK:     scf.yield
// CHECK: } producer {
// CHECK:   scf.for
// CHECK:     tile.acquire %[[SIDE]]
tile.program @single_step(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pc: !llvm.ptr<1>, %pr: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #tile.pipeline<wgmma, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c132 = arith.constant 132 : index
  %zero = arith.constant 0.0 : f32
  %a = tile.view %pa[] {shape = affine_map<() -> (1024, 64)>} : !llvm.ptr<1> to !tile.view<1024x64xbf16>
  %b = tile.view %pb[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !tile.view<64x64xbf16>
  %c = tile.view %pc[] {shape = affine_map<() -> (64)>} : !llvm.ptr<1> to !tile.view<64xf32>
  %r = tile.view %pr[] {shape = affine_map<() -> (1024, 64)>} : !llvm.ptr<1> to !tile.view<1024x64xbf16>
  %y = tile.view %py[] {shape = affine_map<() -> (1024, 64)>} : !llvm.ptr<1> to !tile.view<1024x64xbf16>
  %init = tile.splat %zero : f32 -> tensor<64x64xf32>
  %id = gpu.block_id x
  scf.for %t = %id to %c16 step %c132 {
    %om = arith.muli %t, %c64 : index
    %ka = tile.load %a[#tile] (%om, %c0) checked [false, false] : !tile.view<1024x64xbf16> -> tensor<64x64xbf16>
    %kb = tile.load %b[#tile] (%c0, %c0) checked [false, false] : !tile.view<64x64xbf16> -> tensor<64x64xbf16>
    %sum = tile.dot %ka, %kb, %init : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    %bias = tile.load %c[#vec] (%c0) checked [false] : !tile.view<64xf32> -> tensor<64xf32>
    %bb = tile.broadcast %bias dims [1] : tensor<64xf32> -> tensor<64x64xf32>
    %s1 = arith.addf %sum, %bb : tensor<64x64xf32>
    %res = tile.load %r[#tile] (%om, %c0) checked [false, false] : !tile.view<1024x64xbf16> -> tensor<64x64xbf16>
    %rf = arith.extf %res : tensor<64x64xbf16> to tensor<64x64xf32>
    %s2 = arith.addf %s1, %rf : tensor<64x64xf32>
    %o = arith.truncf %s2 : tensor<64x64xf32> to tensor<64x64xbf16>
    tile.store %o, %y[#tile] (%om, %c0) checked [false, false] : tensor<64x64xbf16>, !tile.view<1024x64xbf16>
  }
  tile.return
}
