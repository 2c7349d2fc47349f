// RUN: fusion-opt %s --pass-pipeline='builtin.module(tile.program(tile-split-epilogue,tile-specialize-warps,canonicalize,cse))' --remarks-filter='fusion.*' --split-input-file 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// Two products of one tile, one walked and one of a single step: their operands
// come through one ring, in this order. What the first one is rounded to is kept
// in packed registers, and made wide again behind the second one, a chunk at a
// time.

// CHECK-LABEL: tile.program @walks
// CHECK: %[[RING:.*]] = tile.make_ring : <3, [!tile.buffer<64x64xbf16{{.*}}, !tile.buffer<128x64xbf16
// CHECK-NOT: tile.make_ring
// CHECK: tile.specialize consumer {
// CHECK:   %[[S:.*]]:2 = scf.for {{.*}} -> (tensor<64x128xf32>, index)
// CHECK:     tile.wait %[[RING]]
// CHECK:     tile.mma_async
// CHECK:     tile.release %[[RING]]
// CHECK:   %[[N:.*]] = arith.truncf %[[S]]#0
// CHECK:   %[[P:.*]] = tile.pin %[[N]]
// CHECK:   tile.wait %[[RING]][%[[S]]#1]
// CHECK:   tile.mma_async
// CHECK:   %[[L:.*]] = tile.slice %[[P]] [0, 0]
// CHECK-NEXT: tile.mma_wait
// CHECK:   %[[Q:.*]] = tile.pin %[[L]]
// CHECK:   arith.extf %[[Q]]
// CHECK:   tile.async_store
// CHECK:   tile.slice %[[P]] [0, 64]
// CHECK:   tile.pin
// CHECK:   tile.async_store
// CHECK: } producer {
// CHECK:   scf.for
// CHECK:     tile.acquire %[[RING]]
// CHECK:   }
// CHECK:   tile.acquire %[[RING]]
// CHECK-NOT: tile.acquire
// REMARK-NOT: FUS
tile.program @walks(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %pc: !llvm.ptr<1>, %pd: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #tile.pipeline<wgmma, stages = 3, columns = 64>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %a = tile.view %pa[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !tile.view<64x256xbf16>
  %b = tile.view %pb[] {shape = affine_map<() -> (128, 256)>} : !llvm.ptr<1> to !tile.view<128x256xbf16>
  %c = tile.view %pc[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !tile.view<64x64xbf16>
  %d = tile.view %pd[] {shape = affine_map<() -> (128, 64)>} : !llvm.ptr<1> to !tile.view<128x64xbf16>
  %y = tile.view %py[] {shape = affine_map<() -> (64, 128)>} : !llvm.ptr<1> to !tile.view<64x128xbf16>
  %init = tile.splat %zero : f32 -> tensor<64x128xf32>
  %s = scf.for %i = %c0 to %c256 step %c64 iter_args(%acc = %init) -> (tensor<64x128xf32>) {
    %ka = tile.load %a[#tile] (%c0, %i) checked [false, false] : !tile.view<64x256xbf16> -> tensor<64x64xbf16>
    %kb = tile.load %b[#tile] (%c0, %i) checked [false, false] : !tile.view<128x256xbf16> -> tensor<128x64xbf16>
    %p = tile.dot %ka, %kb, %acc : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
    scf.yield %p : tensor<64x128xf32>
  }
  %n = arith.truncf %s : tensor<64x128xf32> to tensor<64x128xbf16>
  %wide = arith.extf %n : tensor<64x128xbf16> to tensor<64x128xf32>
  %kc = tile.load %c[#tile] (%c0, %c0) checked [false, false] : !tile.view<64x64xbf16> -> tensor<64x64xbf16>
  %kd = tile.load %d[#tile] (%c0, %c0) checked [false, false] : !tile.view<128x64xbf16> -> tensor<128x64xbf16>
  %t = tile.dot %kc, %kd, %init : tensor<64x64xbf16>, tensor<128x64xbf16> -> tensor<64x128xf32>
  %x = arith.addf %wide, %t : tensor<64x128xf32>
  %r = arith.truncf %x : tensor<64x128xf32> to tensor<64x128xbf16>
  tile.store %r, %y[#tile] (%c0, %c0) checked [false, false] : tensor<64x128xbf16>, !tile.view<64x128xbf16>
  tile.return
}

// -----

#tile = affine_map<(d0, d1)[s0, s1] -> (d0 + s0, d1 + s1)>

// Operands of other tiles have no stages in common.

// REMARK: FUS-3210: products in several loops have operands of other tiles; the products are made warp by warp
// CHECK-LABEL: tile.program @other_tiles
// CHECK-SAME: mma_sync
// CHECK-NOT: tile.specialize
tile.program @other_tiles(%pa: !llvm.ptr<1>, %pb: !llvm.ptr<1>, %py: !llvm.ptr<1>) attributes {
    num_warps = 4, pipeline = #tile.pipeline<wgmma, stages = 3>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %a = tile.view %pa[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !tile.view<64x256xbf16>
  %b = tile.view %pb[] {shape = affine_map<() -> (64, 32)>} : !llvm.ptr<1> to !tile.view<64x32xbf16>
  %y = tile.view %py[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !tile.view<64x64xf32>
  %init = tile.splat %zero : f32 -> tensor<64x64xf32>
  %s = scf.for %i = %c0 to %c256 step %c64 iter_args(%acc = %init) -> (tensor<64x64xf32>) {
    %ka = tile.load %a[#tile] (%c0, %i) checked [false, false] : !tile.view<64x256xbf16> -> tensor<64x64xbf16>
    %kb = tile.load %a[#tile] (%c0, %i) checked [false, false] : !tile.view<64x256xbf16> -> tensor<64x64xbf16>
    %p = tile.dot %ka, %kb, %acc : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xf32>
    scf.yield %p : tensor<64x64xf32>
  }
  %kc = tile.load %b[#tile] (%c0, %c0) checked [false, false] : !tile.view<64x32xbf16> -> tensor<64x32xbf16>
  %kd = tile.load %b[#tile] (%c0, %c0) checked [false, false] : !tile.view<64x32xbf16> -> tensor<64x32xbf16>
  %t = tile.dot %kc, %kd, %init : tensor<64x32xbf16>, tensor<64x32xbf16> -> tensor<64x64xf32>
  %x = arith.addf %s, %t : tensor<64x64xf32>
  tile.store %x, %y[#tile] (%c0, %c0) checked [false, false] : tensor<64x64xf32>, !tile.view<64x64xf32>
  tile.return
}
