// RUN: fusion-opt %s --pass-pipeline='builtin.module(fusion_tile.program(fusion-tile-split-epilogue,fusion-tile-specialize-warps,canonicalize,cse))' --remarks-filter='fusion.*' --split-input-file 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// Two products of one tile, one walked and one of a single step: their operands
// come through one ring, in this order. What the first one is rounded to is kept
// in packed registers, and made wide again behind the second one, a chunk at a
// time.

// CHECK-LABEL: fusion_tile.program @walks
// CHECK: %[[RING:.*]] = fusion_tile.make_ring : <3, [!fusion_tile.buffer<64x64xbf16{{.*}}, !fusion_tile.buffer<128x64xbf16
// CHECK-NOT: fusion_tile.make_ring
// CHECK: fusion_tile.specialize consumer {
// CHECK:   %[[S:.*]]:2 = scf.for {{.*}} -> (tensor<64x128xf32>, index)
// CHECK:     fusion_tile.wait %[[RING]]
// CHECK:     fusion_tile.mma_async
// CHECK:     fusion_tile.release %[[RING]]
// CHECK:   %[[N:.*]] = arith.truncf %[[S]]#0
// CHECK:   %[[P:.*]] = fusion_tile.pin %[[N]]
// CHECK:   fusion_tile.wait %[[RING]][%[[S]]#1]
// CHECK:   fusion_tile.mma_async
// CHECK:   %[[L:.*]] = fusion_tile.slice %[[P]] [0, 0]
// CHECK-NEXT: fusion_tile.mma_wait
// CHECK:   %[[Q:.*]] = fusion_tile.pin %[[L]]
// CHECK:   arith.extf %[[Q]]
// CHECK:   fusion_tile.async_store
// CHECK:   fusion_tile.slice %[[P]] [0, 64]
// CHECK:   fusion_tile.pin
// CHECK:   fusion_tile.async_store
// CHECK: } producer {
// CHECK:   scf.for
// CHECK:     fusion_tile.acquire %[[RING]]
// CHECK:   }
// CHECK:   fusion_tile.acquire %[[RING]]
// CHECK-NOT: fusion_tile.acquire
// REMARK-NOT: FUS
fusion_tile.program @walks(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pc: !llvm.ptr<1>, %pd: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 3, columns = 64>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !fusion_tile.view<64x256xbf16>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (128, 256)>} : !llvm.ptr<1> to !fusion_tile.view<128x256xbf16>
  %c = fusion_tile.view %pc[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xbf16>
  %d = fusion_tile.view %pd[] {shape = affine_map<() -> (128, 64)>} : !llvm.ptr<1> to !fusion_tile.view<128x64xbf16>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (64, 128)>} : !llvm.ptr<1> to !fusion_tile.view<64x128xbf16>
  %init = fusion_tile.splat %zero : f32 -> tensor<64x128xf32>
  %s = scf.for %i = %c0 to %c256 step %c64 iter_args(%acc = %init) -> (tensor<64x128xf32>) {
    %ka = fusion_tile.load %a[#tile] (%c0, %i) checked [false, false] : !fusion_tile.view<64x256xbf16> -> tensor<64x64xbf16>
    %kb = fusion_tile.load %b[#tile] (%c0, %i) checked [false, false] : !fusion_tile.view<128x256xbf16> -> tensor<128x64xbf16>
    %p = fusion_tile.dot %ka, %kb, %acc : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
    scf.yield %p : tensor<64x128xf32>
  }
  %n = arith.truncf %s : tensor<64x128xf32> to tensor<64x128xbf16>
  %wide = arith.extf %n : tensor<64x128xbf16> to tensor<64x128xf32>
  %kc = fusion_tile.load %c[#tile] (%c0, %c0) checked [false, false] : !fusion_tile.view<64x64xbf16> -> tensor<64x64xbf16>
  %kd = fusion_tile.load %d[#tile] (%c0, %c0) checked [false, false] : !fusion_tile.view<128x64xbf16> -> tensor<128x64xbf16>
  %t = fusion_tile.dot %kc, %kd, %init : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
  %x = arith.addf %wide, %t : tensor<64x128xf32>
  %r = arith.truncf %x : tensor<64x128xf32> to tensor<64x128xbf16>
  fusion_tile.store %r, %y[#tile] (%c0, %c0) checked [false, false] : tensor<64x128xbf16>, !fusion_tile.view<64x128xbf16>
  fusion_tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// Operands of other tiles have no stages in common.

// REMARK: FUS-3210: products in several loops have operands of other tiles; the products are made warp by warp
// CHECK-LABEL: fusion_tile.program @other_tiles
// CHECK-SAME: mma_sync
// CHECK-NOT: fusion_tile.specialize
fusion_tile.program @other_tiles(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #fusion_tile.pipeline<wgmma, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %a = fusion_tile.view %pa[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !fusion_tile.view<64x256xbf16>
  %b = fusion_tile.view %pb[] {shape = affine_map<() -> (64, 32)>} : !llvm.ptr<1> to !fusion_tile.view<64x32xbf16>
  %y = fusion_tile.view %py[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xf32>
  %init = fusion_tile.splat %zero : f32 -> tensor<64x64xf32>
  %s = scf.for %i = %c0 to %c256 step %c64 iter_args(%acc = %init) -> (tensor<64x64xf32>) {
    %ka = fusion_tile.load %a[#tile] (%c0, %i) checked [false, false] : !fusion_tile.view<64x256xbf16> -> tensor<64x64xbf16>
    %kb = fusion_tile.load %a[#tile] (%c0, %i) checked [false, false] : !fusion_tile.view<64x256xbf16> -> tensor<64x64xbf16>
    %p = fusion_tile.dot %ka, %kb, %acc : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %p : tensor<64x64xf32>
  }
  %kc = fusion_tile.load %b[#tile] (%c0, %c0) checked [false, false] : !fusion_tile.view<64x32xbf16> -> tensor<64x32xbf16>
  %kd = fusion_tile.load %b[#tile] (%c0, %c0) checked [false, false] : !fusion_tile.view<64x32xbf16> -> tensor<64x32xbf16>
  %t = fusion_tile.dot %kc, %kd, %init : tensor<64x32xbf16>, tensor<64x32xbf16> -> tensor<64x64xf32>
  %x = arith.addf %s, %t : tensor<64x64xf32>
  fusion_tile.store %x, %y[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !fusion_tile.view<64x64xf32>
  fusion_tile.return
}
