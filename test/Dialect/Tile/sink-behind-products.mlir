// What is computed of no product is computed behind the wait for it.

// RUN: fusion-opt %s --fusion-tile-sink-behind-products | FileCheck %s

// A bias by positions, all the way from the positions; what is loaded stays where
// it is, and is widened where it is added. What the product itself needs, or what
// is needed before the wait, stays as well.
// CHECK-LABEL: fusion_tile.program @bias
// CHECK: scf.for
// CHECK: %[[L:.*]] = fusion_tile.load
// CHECK: %[[C:.*]] = fusion_tile.splat %{{.*}} : f32 -> tensor<64x64xf32>
// CHECK: %[[EARLY:.*]] = arith.mulf %[[C]], %[[C]]
// CHECK: fusion_tile.store %[[EARLY]]
// CHECK-NEXT: %[[P:.*]] = fusion_tile.mma_async
// CHECK-NEXT: %[[S:.*]] = fusion_tile.mma_wait %[[P]]
// CHECK-NEXT: %[[I:.*]] = fusion_tile.index
// CHECK-NEXT: %[[B:.*]] = fusion_tile.broadcast %[[I]]
// CHECK-NEXT: %[[X:.*]] = arith.addf %[[S]], %[[B]]
// CHECK-NEXT: %[[W:.*]] = arith.extf %[[L]]
// CHECK-NEXT: %[[Y:.*]] = arith.addf %[[X]], %[[W]]
fusion_tile.program @bias(%q: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, grid = affine_map<() -> (4)>, size_arguments = array<i64>, pipeline = #fusion_tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %0 = fusion_tile.view %q[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf16>
  %1 = fusion_tile.view %y[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %init = fusion_tile.splat %zero : f32 -> tensor<64x64xf32>
  %a = fusion_tile.alloc : <64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>
  %r = scf.for %j = %c0 to %c256 step %c64 iter_args(%o = %init) -> (tensor<64x64xf32>) {
    %i = fusion_tile.index affine_map<(d0)[s0] -> (d0 + s0)> (%j) : tensor<64xf32>
    %b = fusion_tile.broadcast %i dims [1] : tensor<64xf32> -> tensor<64x64xf32>
    %l = fusion_tile.load %0[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : <64x64xf16> -> tensor<64x64xf16>
    %w = arith.extf %l : tensor<64x64xf16> to tensor<64x64xf32>
    %c = fusion_tile.splat %zero : f32 -> tensor<64x64xf32>
    %early = arith.mulf %c, %c : tensor<64x64xf32>
    fusion_tile.store %early, %1[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
    %p = fusion_tile.mma_async %a, %a, %c : !fusion_tile.buffer<64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>, !fusion_tile.buffer<64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">> -> tensor<64x64xf32>
    %s = fusion_tile.mma_wait %p : tensor<64x64xf32> -> tensor<64x64xf32>
    %x = arith.addf %s, %b : tensor<64x64xf32>
    %z = arith.addf %x, %w : tensor<64x64xf32>
    scf.yield %z : tensor<64x64xf32>
  }
  fusion_tile.store %r, %1[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  fusion_tile.return
}

!stage = !fusion_tile.buffer<64x64xi8, #fusion_tile.shared_layout<"{bytes=1, align=512, offsets=[[80,160,256,512,1024,2048],[1,2,4,8,16,32]]}">>
!row = !fusion_tile.buffer<1x64xf32, #fusion_tile.shared_layout<"{bytes=4, align=128, offsets=[[],[4,8,16,32,64,128]]}">>
!keys = !fusion_tile.buffer<64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>

// A mask of a stage is read behind the product, before the stage is freed; a row
// is read before, as what another ring has that is freed meanwhile.
// CHECK-LABEL: fusion_tile.program @mask
// CHECK: %[[S:.*]]:3 = fusion_tile.wait
// CHECK: %[[T:.*]] = fusion_tile.wait
// CHECK-NEXT: fusion_tile.local_load %[[T]]
// CHECK-NEXT: fusion_tile.release
// CHECK-NEXT: fusion_tile.local_load %[[S]]#1
// CHECK-NEXT: fusion_tile.mma_async
// CHECK-NEXT: fusion_tile.mma_wait
// CHECK-NEXT: fusion_tile.local_load %[[S]]#0
// CHECK-NEXT: fusion_tile.release
fusion_tile.program @mask(%y: !llvm.ptr<1>) attributes {num_warps = 4 : i64, extra_warps = 1 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %0 = fusion_tile.view %y[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %ring = fusion_tile.make_ring : !fusion_tile.ring<2, [!stage, !row, !keys]>
  %other = fusion_tile.make_ring : !fusion_tile.ring<2, [!stage]>
  fusion_tile.specialize consumer {
    %zero = arith.constant dense<0> : tensor<64x64xi8>
    %init = arith.constant dense<0.0> : tensor<64x64xf32>
    %s:3 = fusion_tile.wait %ring[%c0] : !fusion_tile.ring<2, [!stage, !row, !keys]> -> !stage, !row, !keys
    %t = fusion_tile.wait %other[%c0] : !fusion_tile.ring<2, [!stage]> -> !stage
    %before = fusion_tile.local_load %t : !stage -> tensor<64x64xi8>
    fusion_tile.release %other[%c0] : !fusion_tile.ring<2, [!stage]>
    %mask = fusion_tile.local_load %s#0 : !stage -> tensor<64x64xi8>
    %vector = fusion_tile.local_load %s#1 : !row -> tensor<1x64xf32>
    %p = fusion_tile.mma_async %s#2, %s#2, %init : !keys, !keys -> tensor<64x64xf32>
    %r = fusion_tile.mma_wait %p : tensor<64x64xf32> -> tensor<64x64xf32>
    fusion_tile.release %ring[%c0] : !fusion_tile.ring<2, [!stage, !row, !keys]>
    %both = arith.ori %mask, %before : tensor<64x64xi8>
    %bits = arith.cmpi ne, %both, %zero : tensor<64x64xi8>
    %flat = fusion_tile.reshape %vector : tensor<1x64xf32> -> tensor<64xf32>
    %wide = fusion_tile.broadcast %flat dims [1] : tensor<64xf32> -> tensor<64x64xf32>
    %x = arith.select %bits, %r, %wide : tensor<64x64xi1>, tensor<64x64xf32>
    fusion_tile.store %x, %0[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  } producer {
  }
  fusion_tile.return
}
