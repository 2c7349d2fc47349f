// RUN: fusion-opt %s | fusion-opt | FileCheck %s

#a = #tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">

// A product whose operands come through a ring, with the roles of warps.
// CHECK-LABEL: tile.program @matmul
tile.program @matmul(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>) attributes {
    num_warps = 4, extra_warps = 1, index_bits = 32,
    pipeline = #tile.pipeline<wgmma, stages = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %va = tile.view %a[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !tile.view<64x256xbf16>
  %vb = tile.view %b[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !tile.view<64x256xbf16>
  %vc = tile.view %c[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !tile.view<64x64xbf16>
  // CHECK: tile.tensor_map %{{.*}} : <64x256xbf16> -> <64x64xbf16, b128>
  %ma = tile.tensor_map %va : !tile.view<64x256xbf16> -> !tile.tensor_map<64x64xbf16, b128>
  %mb = tile.tensor_map %vb : !tile.view<64x256xbf16> -> !tile.tensor_map<64x64xbf16, b128>
  %mc = tile.tensor_map %vc : !tile.view<64x64xbf16> -> !tile.tensor_map<64x64xbf16, b128>
  %out = tile.alloc : !tile.buffer<64x64xbf16, #a>
  // CHECK: tile.make_ring : <4, [!tile.buffer<64x64xbf16
  %ring = tile.make_ring : <4, [!tile.buffer<64x64xbf16, #a>, !tile.buffer<64x64xbf16, #a>]>
  // CHECK: tile.specialize consumer
  tile.specialize consumer {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %sum, %end = scf.for %k = %c0 to %c256 step %c64 iter_args(%acc = %zero, %p = %c0) -> (tensor<64x64xf32>, index) {
      // CHECK: tile.wait
      %x:2 = tile.wait %ring[%p] : !tile.ring<4, [!tile.buffer<64x64xbf16, #a>, !tile.buffer<64x64xbf16, #a>]> -> !tile.buffer<64x64xbf16, #a>, !tile.buffer<64x64xbf16, #a>
      // CHECK: tile.mma_async
      %d = tile.mma_async %x#0, %x#1, %acc : !tile.buffer<64x64xbf16, #a>, !tile.buffer<64x64xbf16, #a> -> tensor<64x64xf32>
      %e = tile.mma_wait %d : tensor<64x64xf32> -> tensor<64x64xf32>
      // CHECK: tile.release
      tile.release %ring[%p] : !tile.ring<4, [!tile.buffer<64x64xbf16, #a>, !tile.buffer<64x64xbf16, #a>]>
      %q = arith.addi %p, %c1 : index
      scf.yield %e, %q : tensor<64x64xf32>, index
    }
    %r = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
    // CHECK: tile.async_store
    tile.async_store %r, %mc[%c0, %c0] through %out dims [0, 1] : tensor<64x64xbf16>, !tile.tensor_map<64x64xbf16, b128>, !tile.buffer<64x64xbf16, #a>
    tile.async_store_wait
  } producer {
    %end = scf.for %k = %c0 to %c256 step %c64 iter_args(%p = %c0) -> (index) {
      // CHECK: tile.acquire
      %x:2 = tile.acquire %ring[%p] : !tile.ring<4, [!tile.buffer<64x64xbf16, #a>, !tile.buffer<64x64xbf16, #a>]> -> !tile.buffer<64x64xbf16, #a>, !tile.buffer<64x64xbf16, #a>
      // CHECK: tile.async_load
      tile.async_load %ma[%c0, %k] into %x#0 signals %ring[%p] dims [0, 1] : !tile.tensor_map<64x64xbf16, b128>, !tile.buffer<64x64xbf16, #a>, !tile.ring<4, [!tile.buffer<64x64xbf16, #a>, !tile.buffer<64x64xbf16, #a>]>
      tile.async_load %mb[%c0, %k] into %x#1 signals %ring[%p] dims [0, 1] : !tile.tensor_map<64x64xbf16, b128>, !tile.buffer<64x64xbf16, #a>, !tile.ring<4, [!tile.buffer<64x64xbf16, #a>, !tile.buffer<64x64xbf16, #a>]>
      %q = arith.addi %p, %c1 : index
      scf.yield %q : index
    }
  }
  tile.return
}

#b = #tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">

// A copy of windows.
// CHECK-LABEL: tile.program @windows
// CHECK: tile.tensor_map %{{.*}} {element_strides = array<i64: 1, 2, 2, 1>, im2col = #tile.im2col<lower = [-1, -1], upper = [-1, 0]>} : <2x14x13x64xf16> -> <1x1x64x64xf16, b128>
// CHECK: tile.async_load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] offset[%{{.*}}, %{{.*}}] into
tile.program @windows(%a: !llvm.ptr<1>) attributes {num_warps = 4, extra_warps = 1} {
  %c0 = arith.constant 0 : index
  %va = tile.view %a[] {shape = affine_map<() -> (2, 14, 13, 64)>} : !llvm.ptr<1> to !tile.view<2x14x13x64xf16>
  %ma = tile.tensor_map %va {element_strides = array<i64: 1, 2, 2, 1>, im2col = #tile.im2col<lower = [-1, -1], upper = [-1, 0]>} : !tile.view<2x14x13x64xf16> -> !tile.tensor_map<1x1x64x64xf16, b128>
  %ring = tile.make_ring : <2, [!tile.buffer<64x64xf16, #b>]>
  %x = tile.acquire %ring[%c0] : !tile.ring<2, [!tile.buffer<64x64xf16, #b>]> -> !tile.buffer<64x64xf16, #b>
  tile.async_load %ma[%c0, %c0, %c0, %c0] offset[%c0, %c0] into %x signals %ring[%c0] dims [2, 3] : !tile.tensor_map<1x1x64x64xf16, b128>, !tile.buffer<64x64xf16, #b>, !tile.ring<2, [!tile.buffer<64x64xf16, #b>]>
  tile.return
}

// Groups that take turns: a ring without buffers passes them.
// CHECK-LABEL: tile.program @turns
tile.program @turns() attributes {num_warps = 4, extra_warps = 8,
    pipeline = #tile.pipeline<wgmma, stages = 4, groups = 2>} {
  %c1 = arith.constant 1 : index
  // CHECK: %[[TURNS:.*]] = tile.make_ring : <2, []>
  %turns = tile.make_ring : !tile.ring<2, []>
  // CHECK: tile.specialize {groups = 2 : i64} consumer
  tile.specialize {groups = 2 : i64} consumer {
    // CHECK: %[[G:.*]] = tile.group_number
    %g = tile.group_number
    %before = arith.addi %g, %c1 : index
    // CHECK: tile.acquire %[[TURNS]][%{{.*}}] : <2, []>{{$}}
    tile.acquire %turns[%before] : !tile.ring<2, []>
    // CHECK: tile.release %[[TURNS]][%[[G]]] : <2, []>
    tile.release %turns[%g] : !tile.ring<2, []>
  } producer {
  }
  tile.return
}

// Threads fill the stages by copies of their own.
// CHECK-LABEL: tile.program @by_threads
tile.program @by_threads() attributes {num_warps = 4,
    pipeline = #tile.pipeline<mma_sync, stages = 2, mbarriers = true>} {
  %c0 = arith.constant 0 : index
  // CHECK: %[[RING:.*]] = tile.make_ring by_threads : <2, []>
  %ring = tile.make_ring by_threads : !tile.ring<2, []>
  // CHECK: tile.copy_arrive %[[RING]][%{{.*}}] : <2, []>
  tile.copy_arrive %ring[%c0] : !tile.ring<2, []>
  // CHECK: tile.wait %[[RING]][%{{.*}}] : <2, []>{{$}}
  tile.wait %ring[%c0] : !tile.ring<2, []>
  tile.return
}
