// RUN: fusion-opt %s | fusion-opt | FileCheck %s

#a = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">

// A product whose operands come through a ring, with the roles of warps.
// CHECK-LABEL: fusion_tile.program @matmul
fusion_tile.program @matmul(%a: !llvm.ptr<1>, %b: !llvm.ptr<1>, %c: !llvm.ptr<1>) attributes {
    num_warps = 4, extra_warps = 1, index_bits = 32,
    pipeline = #fusion_tile.pipeline<wgmma, stages = 4>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %va = fusion_tile.view %a[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !fusion_tile.view<64x256xbf16>
  %vb = fusion_tile.view %b[] {shape = affine_map<() -> (64, 256)>} : !llvm.ptr<1> to !fusion_tile.view<64x256xbf16>
  %vc = fusion_tile.view %c[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to !fusion_tile.view<64x64xbf16>
  // CHECK: fusion_tile.tensor_map %{{.*}} : <64x256xbf16> -> <64x64xbf16, b128>
  %ma = fusion_tile.tensor_map %va : !fusion_tile.view<64x256xbf16> -> !fusion_tile.tensor_map<64x64xbf16, b128>
  %mb = fusion_tile.tensor_map %vb : !fusion_tile.view<64x256xbf16> -> !fusion_tile.tensor_map<64x64xbf16, b128>
  %mc = fusion_tile.tensor_map %vc : !fusion_tile.view<64x64xbf16> -> !fusion_tile.tensor_map<64x64xbf16, b128>
  %out = fusion_tile.alloc : !fusion_tile.buffer<64x64xbf16, #a>
  // CHECK: fusion_tile.make_ring : <4, [!fusion_tile.buffer<64x64xbf16
  %ring = fusion_tile.make_ring : <4, [!fusion_tile.buffer<64x64xbf16, #a>, !fusion_tile.buffer<64x64xbf16, #a>]>
  // CHECK: fusion_tile.specialize consumer
  fusion_tile.specialize consumer {
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %sum, %end = scf.for %k = %c0 to %c256 step %c64 iter_args(%acc = %zero, %p = %c0) -> (tensor<64x64xf32>, index) {
      // CHECK: fusion_tile.wait
      %x:2 = fusion_tile.wait %ring[%p] : !fusion_tile.ring<4, [!fusion_tile.buffer<64x64xbf16, #a>, !fusion_tile.buffer<64x64xbf16, #a>]> -> !fusion_tile.buffer<64x64xbf16, #a>, !fusion_tile.buffer<64x64xbf16, #a>
      // CHECK: fusion_tile.mma_async
      %d = fusion_tile.mma_async %x#0, %x#1, %acc : !fusion_tile.buffer<64x64xbf16, #a>, !fusion_tile.buffer<64x64xbf16, #a> -> tensor<64x64xf32>
      %e = fusion_tile.mma_wait %d : tensor<64x64xf32> -> tensor<64x64xf32>
      // CHECK: fusion_tile.release
      fusion_tile.release %ring[%p] : !fusion_tile.ring<4, [!fusion_tile.buffer<64x64xbf16, #a>, !fusion_tile.buffer<64x64xbf16, #a>]>
      %q = arith.addi %p, %c1 : index
      scf.yield %e, %q : tensor<64x64xf32>, index
    }
    %r = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
    // CHECK: fusion_tile.async_store
    fusion_tile.async_store %r, %mc[%c0, %c0] through %out dims [0, 1] : tensor<64x64xbf16>, !fusion_tile.tensor_map<64x64xbf16, b128>, !fusion_tile.buffer<64x64xbf16, #a>
    fusion_tile.async_store_wait
  } producer {
    %end = scf.for %k = %c0 to %c256 step %c64 iter_args(%p = %c0) -> (index) {
      // CHECK: fusion_tile.acquire
      %x:2 = fusion_tile.acquire %ring[%p] : !fusion_tile.ring<4, [!fusion_tile.buffer<64x64xbf16, #a>, !fusion_tile.buffer<64x64xbf16, #a>]> -> !fusion_tile.buffer<64x64xbf16, #a>, !fusion_tile.buffer<64x64xbf16, #a>
      // CHECK: fusion_tile.async_load
      fusion_tile.async_load %ma[%c0, %k] into %x#0 signals %ring[%p] dims [0, 1] : !fusion_tile.tensor_map<64x64xbf16, b128>, !fusion_tile.buffer<64x64xbf16, #a>, !fusion_tile.ring<4, [!fusion_tile.buffer<64x64xbf16, #a>, !fusion_tile.buffer<64x64xbf16, #a>]>
      fusion_tile.async_load %mb[%c0, %k] into %x#1 signals %ring[%p] dims [0, 1] : !fusion_tile.tensor_map<64x64xbf16, b128>, !fusion_tile.buffer<64x64xbf16, #a>, !fusion_tile.ring<4, [!fusion_tile.buffer<64x64xbf16, #a>, !fusion_tile.buffer<64x64xbf16, #a>]>
      %q = arith.addi %p, %c1 : index
      scf.yield %q : index
    }
  }
  fusion_tile.return
}

#b = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">

// A copy of windows.
// CHECK-LABEL: fusion_tile.program @windows
// CHECK: fusion_tile.tensor_map %{{.*}} {element_strides = array<i64: 1, 2, 2, 1>, im2col = #fusion_tile.im2col<lower = [-1, -1], upper = [-1, 0]>} : <2x14x13x64xf16> -> <1x1x64x64xf16, b128>
// CHECK: fusion_tile.async_load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] offset[%{{.*}}, %{{.*}}] into
fusion_tile.program @windows(%a: !llvm.ptr<1>) attributes {num_warps = 4, extra_warps = 1} {
  %c0 = arith.constant 0 : index
  %va = fusion_tile.view %a[] {shape = affine_map<() -> (2, 14, 13, 64)>} : !llvm.ptr<1> to !fusion_tile.view<2x14x13x64xf16>
  %ma = fusion_tile.tensor_map %va {element_strides = array<i64: 1, 2, 2, 1>, im2col = #fusion_tile.im2col<lower = [-1, -1], upper = [-1, 0]>} : !fusion_tile.view<2x14x13x64xf16> -> !fusion_tile.tensor_map<1x1x64x64xf16, b128>
  %ring = fusion_tile.make_ring : <2, [!fusion_tile.buffer<64x64xf16, #b>]>
  %x = fusion_tile.acquire %ring[%c0] : !fusion_tile.ring<2, [!fusion_tile.buffer<64x64xf16, #b>]> -> !fusion_tile.buffer<64x64xf16, #b>
  fusion_tile.async_load %ma[%c0, %c0, %c0, %c0] offset[%c0, %c0] into %x signals %ring[%c0] dims [2, 3] : !fusion_tile.tensor_map<1x1x64x64xf16, b128>, !fusion_tile.buffer<64x64xf16, #b>, !fusion_tile.ring<2, [!fusion_tile.buffer<64x64xf16, #b>]>
  fusion_tile.return
}

// Groups that take turns: a ring without buffers passes them.
// CHECK-LABEL: fusion_tile.program @turns
fusion_tile.program @turns() attributes {num_warps = 4, extra_warps = 8,
    pipeline = #fusion_tile.pipeline<wgmma, stages = 4, groups = 2>} {
  %c1 = arith.constant 1 : index
  // CHECK: %[[TURNS:.*]] = fusion_tile.make_ring : <2, []>
  %turns = fusion_tile.make_ring : !fusion_tile.ring<2, []>
  // CHECK: fusion_tile.specialize {groups = 2 : i64} consumer
  fusion_tile.specialize {groups = 2 : i64} consumer {
    // CHECK: %[[G:.*]] = fusion_tile.group_number
    %g = fusion_tile.group_number
    %before = arith.addi %g, %c1 : index
    // CHECK: fusion_tile.acquire %[[TURNS]][%{{.*}}] : <2, []>{{$}}
    fusion_tile.acquire %turns[%before] : !fusion_tile.ring<2, []>
    // CHECK: fusion_tile.release %[[TURNS]][%[[G]]] : <2, []>
    fusion_tile.release %turns[%g] : !fusion_tile.ring<2, []>
  } producer {
  }
  fusion_tile.return
}

// Threads fill the stages by copies of their own.
// CHECK-LABEL: fusion_tile.program @by_threads
fusion_tile.program @by_threads() attributes {num_warps = 4,
    pipeline = #fusion_tile.pipeline<mma_sync, stages = 2, mbarriers = true>} {
  %c0 = arith.constant 0 : index
  // CHECK: %[[RING:.*]] = fusion_tile.make_ring by_threads : <2, []>
  %ring = fusion_tile.make_ring by_threads : !fusion_tile.ring<2, []>
  // CHECK: fusion_tile.copy_arrive %[[RING]][%{{.*}}] : <2, []>
  fusion_tile.copy_arrive %ring[%c0] : !fusion_tile.ring<2, []>
  // CHECK: fusion_tile.wait %[[RING]][%{{.*}}] : <2, []>{{$}}
  fusion_tile.wait %ring[%c0] : !fusion_tile.ring<2, []>
  fusion_tile.return
}
