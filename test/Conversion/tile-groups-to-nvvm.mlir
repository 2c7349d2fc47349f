// The search for a tile of rows in groups: by warps, 32 ranges at a time, and by
// a producer, which is one thread.

// RUN: fusion-opt %s --split-input-file --fusion-convert-tile-to-nvvm | FileCheck %s

// 40 groups and the rows around them are 42 ranges.
// CHECK-LABEL: llvm.func @warps
// CHECK: llvm.load %{{.*}} invariant
// CHECK-COUNT-2: nvvm.vote.sync ballot
// CHECK-NOT: nvvm.vote.sync
// CHECK-NOT: scf.for
tile.program @warps(%p: !llvm.ptr<1>, %r: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64} {
  %offsets = tile.view %p[] : !llvm.ptr<1> to !tile.view<41xi32>
  %x = tile.view %r[] : !llvm.ptr<1> to !tile.view<16xi32>
  %i = gpu.block_id x
  %group, %begin, %end, %total = tile.find_group %offsets[%i] tile 64 rows 1000 : !tile.view<41xi32>
  %v = arith.index_cast %begin : index to i32
  tile.store %v, %x[affine_map<()[s0] -> (s0)>] (%group) checked [true] : i32, !tile.view<16xi32>
  tile.return
}

// -----

!buf = !tile.buffer<64x64xbf16, #tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>
!ring = !tile.ring<4, [!buf]>
!map = !tile.tensor_map<64x64xbf16, b128>

// CHECK-LABEL: llvm.func @producer
// CHECK: nvvm.elect.sync
// CHECK: scf.for
// CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 4 : i64}
// CHECK-NOT: nvvm.vote.sync
// CHECK: nvvm.setmaxregister {{.*}}increase
// CHECK: nvvm.vote.sync ballot
// CHECK-NOT: scf.for
tile.program @producer(%p: !llvm.ptr<1>, %a: !llvm.ptr<1>, %r: !llvm.ptr<1>) attributes {num_warps = 4 : i64, extra_warps = 4 : i64, shared_bytes = 65536 : i64, index_bits = 32 : i64} {
  %c0 = arith.constant 0 : index
  %offsets = tile.view %p[] : !llvm.ptr<1> to !tile.view<9xi32>
  %va = tile.view %a[] {shape = affine_map<() -> (1000, 64)>} : !llvm.ptr<1> to !tile.view<1000x64xbf16>
  %x = tile.view %r[] : !llvm.ptr<1> to !tile.view<9xi32>
  %ma = tile.tensor_map %va : !tile.view<1000x64xbf16> -> !map
  %i = gpu.block_id x
  %ring = tile.make_ring at 0 : !ring
  tile.specialize {registers = array<i64: 40, 232>} consumer {
    %group, %begin, %end, %total = tile.find_group %offsets[%i] tile 64 rows 1000 : !tile.view<9xi32>
    %v = arith.index_cast %end : index to i32
    %s = tile.wait %ring[%c0] : !ring -> !buf
    tile.release %ring[%c0] : !ring
    tile.store %v, %x[affine_map<()[s0] -> (s0)>] (%group) checked [true] : i32, !tile.view<9xi32>
  } producer {
    %group, %begin, %end, %total = tile.find_group %offsets[%i] tile 64 rows 1000 : !tile.view<9xi32>
    %s = tile.acquire %ring[%c0] : !ring -> !buf
    tile.async_load %ma[%begin, %c0] into %s signals %ring[%c0] dims [0, 1] : !map, !buf, !ring
  }
  tile.return
}
