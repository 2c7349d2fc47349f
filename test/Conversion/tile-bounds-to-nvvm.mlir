// The most and the least of a part of a view: by warps, whose lanes exchange what
// they found, and by a producer, which is one thread.

// RUN: fusion-opt %s --split-input-file --fusion-convert-tile-to-nvvm | FileCheck %s

// 64 elements are two for each lane; behind the last of the view is the last.
// CHECK-LABEL: llvm.func @warps
// CHECK: arith.minsi %{{.*}}, %c63_i32
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> i32
// CHECK: arith.minsi %{{.*}}, %c63_i32
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> i32
// CHECK-NOT: llvm.load
// CHECK: arith.maxsi
// CHECK-COUNT-5: nvvm.shfl.sync{{ *}}bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.store
fusion_tile.program @warps(%p: !llvm.ptr<1>, %r: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %ends = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<400xi32>
  %x = fusion_tile.view %r[] : !llvm.ptr<1> to !fusion_tile.view<16xi32>
  %i = gpu.block_id x
  %most = fusion_tile.find_bound %ends[%i] sizes [64] : !fusion_tile.view<400xi32>
  fusion_tile.store %most, %x[affine_map<()[s0] -> (s0)>] (%i) checked [true] : i32, !fusion_tile.view<16xi32>
  fusion_tile.return
}

// -----

// Of two dimensions; 64 bits are exchanged in two halves.
// CHECK-LABEL: llvm.func @least
// CHECK: arith.remui %{{.*}}, %c16_i32
// CHECK: arith.divui %{{.*}}, %c16_i32
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> i64
// CHECK-COUNT-2: nvvm.shfl.sync{{ *}}bfly
// CHECK: arith.minsi {{.*}} : i64
// CHECK-COUNT-8: nvvm.shfl.sync{{ *}}bfly
// CHECK-NOT: nvvm.shfl.sync
fusion_tile.program @least(%p: !llvm.ptr<1>, %r: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %begins = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<8x400xi64>
  %x = fusion_tile.view %r[] : !llvm.ptr<1> to !fusion_tile.view<16xi64>
  %i = gpu.block_id x
  %least = fusion_tile.find_bound least %begins[%i, %i] sizes [2, 16] : !fusion_tile.view<8x400xi64>
  fusion_tile.store %least, %x[affine_map<()[s0] -> (s0)>] (%i) checked [true] : i64, !fusion_tile.view<16xi64>
  fusion_tile.return
}

// -----

!buf = !fusion_tile.buffer<64x64xbf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>
!ring = !fusion_tile.ring<4, [!buf]>
!map = !fusion_tile.tensor_map<64x64xbf16, b128>

// CHECK-LABEL: llvm.func @producer
// CHECK: nvvm.elect.sync
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 4 : i64}
// CHECK: scf.for
// CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 4 : i64}
// CHECK-NOT: nvvm.shfl.sync{{ *}}bfly
// CHECK: nvvm.setmaxregister {{.*}}increase
// CHECK: nvvm.shfl.sync{{ *}}bfly
fusion_tile.program @producer(%p: !llvm.ptr<1>, %a: !llvm.ptr<1>, %r: !llvm.ptr<1>) attributes {num_warps = 4 : i64, extra_warps = 4 : i64, shared_bytes = 65536 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %ends = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<400xi32>
  %va = fusion_tile.view %a[] {shape = affine_map<() -> (1000, 64)>} : !llvm.ptr<1> to !fusion_tile.view<1000x64xbf16>
  %x = fusion_tile.view %r[] : !llvm.ptr<1> to !fusion_tile.view<9xi32>
  %ma = fusion_tile.tensor_map %va : !fusion_tile.view<1000x64xbf16> -> !map
  %i = gpu.block_id x
  %ring = fusion_tile.make_ring at 0 : !ring
  fusion_tile.specialize {registers = array<i64: 40, 232>} consumer {
    %most = fusion_tile.find_bound %ends[%i] sizes [64] : !fusion_tile.view<400xi32>
    %s = fusion_tile.wait %ring[%c0] : !ring -> !buf
    fusion_tile.release %ring[%c0] : !ring
    fusion_tile.store %most, %x[affine_map<()[s0] -> (s0)>] (%i) checked [true] : i32, !fusion_tile.view<9xi32>
  } producer {
    %most = fusion_tile.find_bound %ends[%i] sizes [64] : !fusion_tile.view<400xi32>
    %begin = arith.index_cast %most : i32 to index
    %s = fusion_tile.acquire %ring[%c0] : !ring -> !buf
    fusion_tile.async_load %ma[%begin, %c0] into %s signals %ring[%c0] dims [0, 1] : !map, !buf, !ring
  }
  fusion_tile.return
}
