// The search for a tile of rows in groups: by warps, 32 ranges at a time, and by
// a producer, which is one thread.

// RUN: fusion-opt %s --split-input-file --fusion-convert-tile-to-nvvm | FileCheck %s

// 40 groups and the rows around them are 42 ranges.
// CHECK-LABEL: llvm.func @warps
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

// CHECK-LABEL: llvm.func @producer
// CHECK: nvvm.elect.sync
// CHECK: scf.for
// CHECK-COUNT-8: llvm.load %{{.*}} invariant
// CHECK-NOT: nvvm.vote.sync
// CHECK: nvvm.setmaxregister increase
// CHECK: nvvm.vote.sync ballot
tile.program @producer(%p: !llvm.ptr<1>, %r: !llvm.ptr<1>) attributes {num_warps = 4 : i64, extra_warps = 4 : i64, index_bits = 32 : i64} {
  %offsets = tile.view %p[] : !llvm.ptr<1> to !tile.view<41xi32>
  %x = tile.view %r[] : !llvm.ptr<1> to !tile.view<16xi32>
  %i = gpu.block_id x
  tile.return
}
