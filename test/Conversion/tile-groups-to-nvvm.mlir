// The search for a tile of rows in groups: by warps, 32 ranges at a time, and by
// a producer, which is one thread.

// RUN: fusion-opt %s --split-input-file --fusion-convert-tile-to-nvvm | FileCheck %s

// 40 groups and the rows around them are 42 ranges.
// CHECK-LABEL: llvm.func @warps
// CHECK: llvm.load %{{.*}} invariant
// CHECK-COUNT-2: nvvm.vote.sync ballot
// CHECK-NOT: nvvm.vote.sync
// CHECK-NOT: scf.for
fusion_tile.program @warps(%p: !llvm.ptr<1>, %r: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %offsets = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<41xi32>
  %x = fusion_tile.view %r[] : !llvm.ptr<1> to !fusion_tile.view<16xi32>
  %i = gpu.block_id x
  %group, %begin, %end, %total = fusion_tile.find_group %offsets[%i] tile 64 rows 1000 : !fusion_tile.view<41xi32>
  %v = arith.index_cast %begin : index to i32
  fusion_tile.store %v, %x[affine_map<()[s0] -> (s0)>] (%group) checked [true] : i32, !fusion_tile.view<16xi32>
  fusion_tile.return
}

// -----

!buf = !fusion_tile.buffer<64x64xbf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>
!ring = !fusion_tile.ring<4, [!buf]>
!map = !fusion_tile.tensor_map<64x64xbf16, b128>

// CHECK-LABEL: llvm.func @producer
// CHECK: nvvm.elect.sync
// CHECK: scf.for
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 4 : i64}
// CHECK-NOT: nvvm.vote.sync
// CHECK: nvvm.setmaxregister {{.*}}increase
// CHECK: nvvm.vote.sync ballot
// CHECK-NOT: scf.for
fusion_tile.program @producer(%p: !llvm.ptr<1>, %a: !llvm.ptr<1>, %r: !llvm.ptr<1>) attributes {num_warps = 4 : i64, extra_warps = 4 : i64, shared_bytes = 65536 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %offsets = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<9xi32>
  %va = fusion_tile.view %a[] {shape = affine_map<() -> (1000, 64)>} : !llvm.ptr<1> to !fusion_tile.view<1000x64xbf16>
  %x = fusion_tile.view %r[] : !llvm.ptr<1> to !fusion_tile.view<9xi32>
  %ma = fusion_tile.tensor_map %va : !fusion_tile.view<1000x64xbf16> -> !map
  %i = gpu.block_id x
  %ring = fusion_tile.make_ring at 0 : !ring
  fusion_tile.specialize {registers = array<i64: 40, 232>} consumer {
    %group, %begin, %end, %total = fusion_tile.find_group %offsets[%i] tile 64 rows 1000 : !fusion_tile.view<9xi32>
    %v = arith.index_cast %end : index to i32
    %s = fusion_tile.wait %ring[%c0] : !ring -> !buf
    fusion_tile.release %ring[%c0] : !ring
    fusion_tile.store %v, %x[affine_map<()[s0] -> (s0)>] (%group) checked [true] : i32, !fusion_tile.view<9xi32>
  } producer {
    %group, %begin, %end, %total = fusion_tile.find_group %offsets[%i] tile 64 rows 1000 : !fusion_tile.view<9xi32>
    %s = fusion_tile.acquire %ring[%c0] : !ring -> !buf
    fusion_tile.async_load %ma[%begin, %c0] into %s signals %ring[%c0] dims [0, 1] : !map, !buf, !ring
  }
  fusion_tile.return
}
