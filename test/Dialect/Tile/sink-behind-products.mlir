// What is computed of no product is computed behind the wait for it.

// RUN: fusion-opt %s --tile-sink-behind-products | FileCheck %s

// A bias by positions, all the way from the positions; what is loaded stays where
// it is, and is widened where it is added. What the product itself needs, or what
// is needed before the wait, stays as well.
// CHECK-LABEL: tile.program @bias
// CHECK: scf.for
// CHECK: %[[L:.*]] = tile.load
// CHECK: %[[C:.*]] = tile.splat %{{.*}} : f32 -> tensor<64x64xf32>
// CHECK: %[[EARLY:.*]] = arith.mulf %[[C]], %[[C]]
// CHECK: tile.store %[[EARLY]]
// CHECK-NEXT: %[[P:.*]] = tile.mma_async
// CHECK-NEXT: %[[S:.*]] = tile.mma_wait %[[P]]
// CHECK-NEXT: %[[I:.*]] = tile.index
// CHECK-NEXT: %[[B:.*]] = tile.broadcast %[[I]]
// CHECK-NEXT: %[[X:.*]] = arith.addf %[[S]], %[[B]]
// CHECK-NEXT: %[[W:.*]] = arith.extf %[[L]]
// CHECK-NEXT: %[[Y:.*]] = arith.addf %[[X]], %[[W]]
tile.program @bias(%q: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, grid = affine_map<() -> (4)>, size_arguments = array<i64>, pipeline = #tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %0 = tile.view %q[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf16>
  %1 = tile.view %y[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %init = tile.splat %zero : f32 -> tensor<64x64xf32>
  %a = tile.alloc : <64x64xf16, #tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>
  %r = scf.for %j = %c0 to %c256 step %c64 iter_args(%o = %init) -> (tensor<64x64xf32>) {
    %i = tile.index affine_map<(d0)[s0] -> (d0 + s0)> (%j) : tensor<64xf32>
    %b = tile.broadcast %i dims [1] : tensor<64xf32> -> tensor<64x64xf32>
    %l = tile.load %0[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : <64x64xf16> -> tensor<64x64xf16>
    %w = arith.extf %l : tensor<64x64xf16> to tensor<64x64xf32>
    %c = tile.splat %zero : f32 -> tensor<64x64xf32>
    %early = arith.mulf %c, %c : tensor<64x64xf32>
    tile.store %early, %1[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
    %p = tile.mma_async %a, %a, %c : !tile.buffer<64x64xf16, #tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>, !tile.buffer<64x64xf16, #tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">> -> tensor<64x64xf32>
    %s = tile.mma_wait %p : tensor<64x64xf32> -> tensor<64x64xf32>
    %x = arith.addf %s, %b : tensor<64x64xf32>
    %z = arith.addf %x, %w : tensor<64x64xf32>
    scf.yield %z : tensor<64x64xf32>
  }
  tile.store %r, %1[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  tile.return
}

!stage = !tile.buffer<64x64xi8, #tile.shared_layout<"{bytes=1, align=512, offsets=[[80,160,256,512,1024,2048],[1,2,4,8,16,32]]}">>
!row = !tile.buffer<1x64xf32, #tile.shared_layout<"{bytes=4, align=128, offsets=[[],[4,8,16,32,64,128]]}">>
!keys = !tile.buffer<64x64xf16, #tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>

// A mask of a stage is read behind the product, before the stage is freed; a row
// is read before, as what another ring has that is freed meanwhile.
// CHECK-LABEL: tile.program @mask
// CHECK: %[[S:.*]]:3 = tile.wait
// CHECK: %[[T:.*]] = tile.wait
// CHECK-NEXT: tile.local_load %[[T]]
// CHECK-NEXT: tile.release
// CHECK-NEXT: tile.local_load %[[S]]#1
// CHECK-NEXT: tile.mma_async
// CHECK-NEXT: tile.mma_wait
// CHECK-NEXT: tile.local_load %[[S]]#0
// CHECK-NEXT: tile.release
tile.program @mask(%y: !llvm.ptr<1>) attributes {num_warps = 4 : i64, extra_warps = 1 : i64, index_bits = 32 : i64, pipeline = #tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %0 = tile.view %y[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %ring = tile.make_ring : !tile.ring<2, [!stage, !row, !keys]>
  %other = tile.make_ring : !tile.ring<2, [!stage]>
  tile.specialize consumer {
    %zero = arith.constant dense<0> : tensor<64x64xi8>
    %init = arith.constant dense<0.0> : tensor<64x64xf32>
    %s:3 = tile.wait %ring[%c0] : !tile.ring<2, [!stage, !row, !keys]> -> !stage, !row, !keys
    %t = tile.wait %other[%c0] : !tile.ring<2, [!stage]> -> !stage
    %before = tile.local_load %t : !stage -> tensor<64x64xi8>
    tile.release %other[%c0] : !tile.ring<2, [!stage]>
    %mask = tile.local_load %s#0 : !stage -> tensor<64x64xi8>
    %vector = tile.local_load %s#1 : !row -> tensor<1x64xf32>
    %p = tile.mma_async %s#2, %s#2, %init : !keys, !keys -> tensor<64x64xf32>
    %r = tile.mma_wait %p : tensor<64x64xf32> -> tensor<64x64xf32>
    tile.release %ring[%c0] : !tile.ring<2, [!stage, !row, !keys]>
    %both = arith.ori %mask, %before : tensor<64x64xi8>
    %bits = arith.cmpi ne, %both, %zero : tensor<64x64xi8>
    %flat = tile.reshape %vector : tensor<1x64xf32> -> tensor<64xf32>
    %wide = tile.broadcast %flat dims [1] : tensor<64xf32> -> tensor<64x64xf32>
    %x = arith.select %bits, %r, %wide : tensor<64x64xi1>, tensor<64x64xf32>
    tile.store %x, %0[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  } producer {
  }
  tile.return
}
