// RUN: fusion-opt %s --pass-pipeline="builtin.module(fusion_tile.program(fusion-tile-assign-layouts))" | FileCheck %s

#rows = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">
#bytes = #fusion_tile.shared_layout<"{bytes=1, align=512, offsets=[[64,144,288,512,1024,2048],[1,2,4,8,16,32]]}">
#square = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096,8192],[2,4,8,16,32,64,16384]]}">
#columns = #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[2,4,8,16,32,64],[144,288,576,1024,2048,4096]]}">
#bytecolumns = #fusion_tile.shared_layout<"{bytes=1, align=512, offsets=[[1,2,4,8,16,32],[64,144,288,512,1024,2048]]}">

// What goes from one buffer to another is in the order of the latter's memory:
// threads have as many elements side by side as one access writes.
// CHECK-LABEL: fusion_tile.program @rows
// CHECK: fusion_tile.local_load {{.*}} -> tensor<64x64xf8E4M3FN, #fusion_tile.layout<"{reg={{\[\[}}0,1],[0,2],[0,4],
// CHECK-SAME: lane={{\[\[}}0,8],[0,16],[0,32],[1,0],[2,0]]
// CHECK-NOT: fusion_tile.convert_layout
// CHECK: fusion_tile.local_store
fusion_tile.program @rows(%p: !llvm.ptr<1>) attributes {num_warps = 4, index_bits = 32} {
  %a = fusion_tile.alloc : !fusion_tile.buffer<64x64xf8E4M3FN, #bytes>
  %b = fusion_tile.alloc : !fusion_tile.buffer<64x64xf16, #rows>
  %x = fusion_tile.local_load %a : !fusion_tile.buffer<64x64xf8E4M3FN, #bytes> -> tensor<64x64xf8E4M3FN>
  %y = arith.extf %x : tensor<64x64xf8E4M3FN> to tensor<64x64xf16>
  fusion_tile.local_store %y, %b : tensor<64x64xf16>, !fusion_tile.buffer<64x64xf16, #rows>
  fusion_tile.return
}

// CHECK-LABEL: fusion_tile.program @columns
// CHECK: fusion_tile.local_load {{.*}} -> tensor<64x64xf8E4M3FN, #fusion_tile.layout<"{reg={{\[\[}}1,0],[2,0],[4,0],
// CHECK: fusion_tile.local_store
fusion_tile.program @columns(%p: !llvm.ptr<1>) attributes {num_warps = 4, index_bits = 32} {
  %a = fusion_tile.alloc : !fusion_tile.buffer<64x64xf8E4M3FN, #bytecolumns>
  %b = fusion_tile.alloc : !fusion_tile.buffer<64x64xf16, #columns>
  %x = fusion_tile.local_load %a : !fusion_tile.buffer<64x64xf8E4M3FN, #bytecolumns> -> tensor<64x64xf8E4M3FN>
  %y = arith.extf %x : tensor<64x64xf8E4M3FN> to tensor<64x64xf16>
  fusion_tile.local_store %y, %b : tensor<64x64xf16>, !fusion_tile.buffer<64x64xf16, #columns>
  fusion_tile.return
}

// What goes to a buffer is not exchanged before: it is loaded as it is stored,
// whatever its neighbours in memory.
// CHECK-LABEL: fusion_tile.program @loaded
// CHECK-COUNT-2: fusion_tile.load
// CHECK-NOT: fusion_tile.convert_layout
// CHECK: fusion_tile.local_store
fusion_tile.program @loaded(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4, index_bits = 32} {
  %b = fusion_tile.alloc : !fusion_tile.buffer<64x64xf16, #rows>
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<64x64xf16>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<64x64xf16>
  %u = fusion_tile.load %x[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !fusion_tile.view<64x64xf16> -> tensor<64x64xf16>
  %v = fusion_tile.load %y[affine_map<(i, j) -> (j, i)>] () checked [false, false] : !fusion_tile.view<64x64xf16> -> tensor<64x64xf16>
  %w = arith.addf %u, %v : tensor<64x64xf16>
  fusion_tile.local_store %w, %b : tensor<64x64xf16>, !fusion_tile.buffer<64x64xf16, #rows>
  fusion_tile.return
}

// Blocks that share columns which warps and lanes have: threads get some of each
// part first.
// CHECK-LABEL: fusion_tile.program @shares
// CHECK: %[[SUM:.*]] = fusion_tile.mma_wait
// CHECK: %[[PARTS:.*]] = fusion_tile.convert_layout %[[SUM]]
// CHECK: fusion_tile.grid_gather %[[PARTS]]
// CHECK-NOT: fusion_tile.convert_layout
// CHECK: fusion_tile.reduce
fusion_tile.program @shares(%p: !llvm.ptr<1>) attributes {num_warps = 4, index_bits = 32, grid = affine_map<() -> (8)>, together = 4 : i64} {
  %zero = arith.constant dense<0.0> : tensor<8x64xf32>
  %signals = fusion_tile.scratch 128 signals : !llvm.ptr<1>
  %slots = fusion_tile.scratch 32768 : !llvm.ptr<1>
  %i = gpu.block_id x
  %c4 = arith.constant 4 : index
  %rank = arith.remui %i, %c4 : index
  %a = fusion_tile.alloc : !fusion_tile.buffer<8x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576],[2,4,8,16,32,64]]}">>
  %b = fusion_tile.alloc : !fusion_tile.buffer<64x64xf16, #rows>
  %s = fusion_tile.mma_async %a, %b, %zero swapped : !fusion_tile.buffer<8x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576],[2,4,8,16,32,64]]}">>, !fusion_tile.buffer<64x64xf16, #rows> -> tensor<8x64xf32>
  %e = fusion_tile.mma_wait %s : tensor<8x64xf32> -> tensor<8x64xf32>
  %g = fusion_tile.grid_gather %e through %slots signals %signals[%i, %rank] along [1] : !llvm.ptr<1>, tensor<8x64xf32> -> tensor<8x16x4xf32>
  %r = fusion_tile.reduce %g along 2 : tensor<8x16x4xf32> -> tensor<8x16xf32> {
  ^bb0(%x: f32, %y: f32):
    %z = arith.addf %x, %y : f32
    fusion_tile.yield %z : f32
  }
  %o = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<8x16xf32>
  fusion_tile.store %r, %o[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<8x16xf32>, !fusion_tile.view<8x16xf32>
  fusion_tile.return
}

// A column is exchanged for rows through shared memory, where a block has room
// for that at that moment; else threads load it as they use it.
// CHECK-LABEL: fusion_tile.program @room
// CHECK: fusion_tile.convert_layout
// CHECK: fusion_tile.return
fusion_tile.program @room(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %r: !llvm.ptr<1>) attributes {num_warps = 4, index_bits = 32} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<128x128xf16>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<128x128xf16>
  %z = fusion_tile.view %r[] : !llvm.ptr<1> to !fusion_tile.view<128x128xf16>
  %ring = fusion_tile.make_ring : !fusion_tile.ring<6, [!fusion_tile.buffer<128x128xf16, #square>]>
  %u = fusion_tile.load %x[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !fusion_tile.view<128x128xf16> -> tensor<128x128xf16>
  %v = fusion_tile.load %y[affine_map<(i, j) -> (j, i)>] () checked [false, false] : !fusion_tile.view<128x128xf16> -> tensor<128x128xf16>
  %w = arith.addf %u, %v : tensor<128x128xf16>
  fusion_tile.store %w, %z[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<128x128xf16>, !fusion_tile.view<128x128xf16>
  fusion_tile.return
}

// CHECK-LABEL: fusion_tile.program @no_room
// CHECK-NOT: fusion_tile.convert_layout
// CHECK: fusion_tile.return
fusion_tile.program @no_room(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %r: !llvm.ptr<1>) attributes {num_warps = 4, index_bits = 32} {
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<128x128xf16>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<128x128xf16>
  %z = fusion_tile.view %r[] : !llvm.ptr<1> to !fusion_tile.view<128x128xf16>
  %ring = fusion_tile.make_ring : !fusion_tile.ring<7, [!fusion_tile.buffer<128x128xf16, #square>]>
  %u = fusion_tile.load %x[affine_map<(i, j) -> (i, j)>] () checked [false, false] : !fusion_tile.view<128x128xf16> -> tensor<128x128xf16>
  %v = fusion_tile.load %y[affine_map<(i, j) -> (j, i)>] () checked [false, false] : !fusion_tile.view<128x128xf16> -> tensor<128x128xf16>
  %w = arith.addf %u, %v : tensor<128x128xf16>
  fusion_tile.store %w, %z[affine_map<(i, j) -> (i, j)>] () checked [false, false] : tensor<128x128xf16>, !fusion_tile.view<128x128xf16>
  fusion_tile.return
}
