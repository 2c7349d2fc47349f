// RUN: fusion-opt %s --pass-pipeline="builtin.module(tile.program(tile-assign-layouts))" | FileCheck %s

#rows = #tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">
#bytes = #tile.shared_layout<"{bytes=1, align=512, offsets=[[64,144,288,512,1024,2048],[1,2,4,8,16,32]]}">
#columns = #tile.shared_layout<"{bytes=2, align=1024, offsets=[[2,4,8,16,32,64],[144,288,576,1024,2048,4096]]}">
#bytecolumns = #tile.shared_layout<"{bytes=1, align=512, offsets=[[1,2,4,8,16,32],[64,144,288,512,1024,2048]]}">

// What goes from one buffer to another is in the order of the latter's memory:
// threads have as many elements side by side as one access writes.
// CHECK-LABEL: tile.program @rows
// CHECK: tile.local_load {{.*}} -> tensor<64x64xf8E4M3FN, #tile.layout<"{reg={{\[\[}}0,1],[0,2],[0,4],
// CHECK-SAME: lane={{\[\[}}0,8],[0,16],[0,32],[1,0],[2,0]]
// CHECK-NOT: tile.convert_layout
// CHECK: tile.local_store
tile.program @rows(%p: !llvm.ptr<1>) attributes {num_warps = 4, index_bits = 32} {
  %a = tile.alloc : !tile.buffer<64x64xf8E4M3FN, #bytes>
  %b = tile.alloc : !tile.buffer<64x64xf16, #rows>
  %x = tile.local_load %a : !tile.buffer<64x64xf8E4M3FN, #bytes> -> tensor<64x64xf8E4M3FN>
  %y = arith.extf %x : tensor<64x64xf8E4M3FN> to tensor<64x64xf16>
  tile.local_store %y, %b : tensor<64x64xf16>, !tile.buffer<64x64xf16, #rows>
  tile.return
}

// CHECK-LABEL: tile.program @columns
// CHECK: tile.local_load {{.*}} -> tensor<64x64xf8E4M3FN, #tile.layout<"{reg={{\[\[}}1,0],[2,0],[4,0],
// CHECK: tile.local_store
tile.program @columns(%p: !llvm.ptr<1>) attributes {num_warps = 4, index_bits = 32} {
  %a = tile.alloc : !tile.buffer<64x64xf8E4M3FN, #bytecolumns>
  %b = tile.alloc : !tile.buffer<64x64xf16, #columns>
  %x = tile.local_load %a : !tile.buffer<64x64xf8E4M3FN, #bytecolumns> -> tensor<64x64xf8E4M3FN>
  %y = arith.extf %x : tensor<64x64xf8E4M3FN> to tensor<64x64xf16>
  tile.local_store %y, %b : tensor<64x64xf16>, !tile.buffer<64x64xf16, #columns>
  tile.return
}

// What goes to a buffer is not exchanged before: it is loaded as it is stored,
// whatever its neighbours in memory.
// CHECK-LABEL: tile.program @loaded
// CHECK-COUNT-2: tile.load
// CHECK-NOT: tile.convert_layout
// CHECK: tile.local_store
tile.program @loaded(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4, index_bits = 32} {
  %b = tile.alloc : !tile.buffer<64x64xf16, #rows>
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<64x64xf16>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<64x64xf16>
  %u = tile.load %x[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !tile.view<64x64xf16> -> tensor<64x64xf16>
  %v = tile.load %y[affine_map<(i, j) -> (j, i)>] () checked [false, false] : !tile.view<64x64xf16> -> tensor<64x64xf16>
  %w = arith.addf %u, %v : tensor<64x64xf16>
  tile.local_store %w, %b : tensor<64x64xf16>, !tile.buffer<64x64xf16, #rows>
  tile.return
}

// Blocks that share columns which warps and lanes have: threads get some of each
// part first.
// CHECK-LABEL: tile.program @shares
// CHECK: %[[SUM:.*]] = tile.mma_wait
// CHECK: %[[PARTS:.*]] = tile.convert_layout %[[SUM]]
// CHECK: tile.grid_gather %[[PARTS]]
// CHECK-NOT: tile.convert_layout
// CHECK: tile.reduce
tile.program @shares(%p: !llvm.ptr<1>) attributes {num_warps = 4, index_bits = 32, grid = affine_map<() -> (8)>, together = 4 : i64} {
  %zero = arith.constant dense<0.0> : tensor<8x64xf32>
  %signals = tile.scratch 128 signals : !llvm.ptr<1>
  %slots = tile.scratch 32768 : !llvm.ptr<1>
  %i = gpu.block_id x
  %c4 = arith.constant 4 : index
  %rank = arith.remui %i, %c4 : index
  %a = tile.alloc : !tile.buffer<8x64xf16, #tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576],[2,4,8,16,32,64]]}">>
  %b = tile.alloc : !tile.buffer<64x64xf16, #rows>
  %s = tile.mma_async %a, %b, %zero swapped : !tile.buffer<8x64xf16, #tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576],[2,4,8,16,32,64]]}">>, !tile.buffer<64x64xf16, #rows> -> tensor<8x64xf32>
  %e = tile.mma_wait %s : tensor<8x64xf32> -> tensor<8x64xf32>
  %g = tile.grid_gather %e through %slots signals %signals[%i, %rank] along [1] : !llvm.ptr<1>, tensor<8x64xf32> -> tensor<8x16x4xf32>
  %r = tile.reduce %g along 2 : tensor<8x16x4xf32> -> tensor<8x16xf32> {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    tile.yield %z : f32
  }
  %o = tile.view %p[] : !llvm.ptr<1> to !tile.view<8x16xf32>
  tile.store %r, %o[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<8x16xf32>, !tile.view<8x16xf32>
  tile.return
}
