// RUN: fusion-opt %s --pass-pipeline="builtin.module(tile.program(tile-pipeline-loads,cse))" --remarks-filter='fusion.*' --split-input-file 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// Where warps share the depth and unpack several numbers of a byte, and the copy
// engine can load the operands, a producer does: the largest operand first. What the epilogue
// reads is loaded before the loop, and a stage is free as soon as it is read.

// CHECK-LABEL: tile.program @produced
// CHECK-SAME: extra_warps = 1
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[W:.*]] = tile.tensor_map {{.*}} -> <16x32xi8, b32>
// CHECK-DAG: %[[X:.*]] = tile.tensor_map {{.*}} -> <8x64xbf16, b128>
// CHECK: %[[RING:.*]] = tile.make_ring : <3, [!tile.buffer<16x32xi8, {{.*}}>, !tile.buffer<8x64xbf16, {{.*}}>]>
// CHECK: tile.specialize consumer {
// CHECK: tile.load {{.*}} -> tensor<8xf32
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[TURN:.*]] = %[[ZERO]])
// CHECK-NEXT: %[[STAGE:.*]]:2 = tile.wait %[[RING]][%[[TURN]]]
// CHECK-NEXT: tile.local_load %[[STAGE]]#1
// CHECK-NEXT: tile.local_load %[[STAGE]]#0
// CHECK-NEXT: tile.release %[[RING]][%[[TURN]]]
// CHECK-NEXT: tile.repeat
// CHECK-NEXT: arith.sitofp
// CHECK-NEXT: tile.dot
// CHECK: arith.addi %[[TURN]], %{{.*}} : index
// CHECK-NOT: tile.load
// CHECK: } producer {
// CHECK: scf.for %[[K:.*]] = %{{.*}} iter_args(%[[NOW:.*]] = %[[ZERO]])
// CHECK: tile.acquire %[[RING]][%[[NOW]]]
// CHECK: tile.async_load %[[W]][%[[ZERO]], %{{.*}}]
// CHECK-NEXT: tile.async_load %[[X]][%[[ZERO]], %[[K]]]
// CHECK: arith.addi %[[NOW]], %{{.*}} : index

#c = #tile.layout<"{reg=[[0,0,1],[0,8,0]], lane=[[0,0,2],[0,0,4],[0,1,0],[0,2,0],[0,4,0]], warp=[[1,0,0]], shape=[2,16,8]}">
#f = #tile.layout<"{reg=[[0,1],[8,0],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[16,64]}">
#h = #tile.layout<"{reg=[[0,0],[8,0],[0,4],[0,8]], lane=[[0,1],[0,2],[1,0],[2,0],[4,0]], warp=[[0,16]], shape=[16,32]}">
#g = #tile.layout<"{reg=[[0,1],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[8,64]}">
#v = #tile.layout<"{reg=[[1]], lane=[[2],[4],[0],[0],[0]], warp=[[0]], shape=[8]}">
tile.program @produced(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %o: !llvm.ptr<1>, %s: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, pipeline = #tile.pipeline<mma_sync, stages = 3, mbarriers = true>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %end = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  %acc = tile.splat %zero : f32 -> tensor<2x16x8xf32, #c>
  %a = tile.view %p[] {shape = affine_map<() -> (128, 2048)>} : !llvm.ptr<1> to !tile.view<128x2048xi8>
  %b = tile.view %q[] {shape = affine_map<() -> (8, 4096)>} : !llvm.ptr<1> to !tile.view<8x4096xbf16>
  %v = tile.view %o[] : !llvm.ptr<1> to !tile.view<2x16x8xf32>
  %f = tile.view %s[] : !llvm.ptr<1> to !tile.view<8xf32>
  %r = scf.for %k = %c0 to %end step %step iter_args(%t = %acc) -> tensor<2x16x8xf32, #c> {
    %y = tile.load %b[affine_map<(i, j)[k] -> (i, j + k)>] (%k) checked [false, false] : !tile.view<8x4096xbf16> -> tensor<8x64xbf16, #g>
    %z = tile.load %a[affine_map<(i, j)[k] -> (i, j + k floordiv 2)>] (%k) checked [false, false] : !tile.view<128x2048xi8> -> tensor<16x32xi8, #h>
    %x = tile.repeat %z along 1 : tensor<16x32xi8, #h> -> tensor<16x64xi8, #f>
    %n = arith.sitofp %x : tensor<16x64xi8, #f> to tensor<16x64xbf16, #f>
    %d = tile.dot %n, %y, %t : tensor<16x64xbf16, #f>, tensor<8x64xbf16, #g> -> tensor<2x16x8xf32, #c>
    scf.yield %d : tensor<2x16x8xf32, #c>
  }
  %w = tile.load %f[affine_map<(i) -> (i)>] () checked [false] : !tile.view<8xf32> -> tensor<8xf32, #v>
  %e = tile.broadcast %w dims [2] : tensor<8xf32, #v> -> tensor<2x16x8xf32, #c>
  %m = arith.mulf %r, %e : tensor<2x16x8xf32, #c>
  tile.store %m, %v[affine_map<(p, i, j) -> (p, i, j)>] () checked [false, false, false] : tensor<2x16x8xf32, #c>, !tile.view<2x16x8xf32>
  tile.return
}

// -----

// A tile that is too small for the engine is loaded one iteration ahead, in the
// layout in which it is used.

// CHECK-LABEL: tile.program @factors
// CHECK: tile.make_ring : <3, [!tile.buffer<16x32xi8, {{.*}}>, !tile.buffer<8x64xbf16, {{.*}}>]>
// CHECK: tile.specialize consumer {
// CHECK: %[[FIRST:.*]] = tile.load {{.*}} -> tensor<16x2xbf16
// CHECK: scf.for {{.*}} %[[FACTOR:.*]] = %[[FIRST]],
// CHECK: tile.load {{.*}} -> tensor<16x2xbf16
// CHECK: tile.wait
// CHECK: tile.repeat %[[FACTOR]] along 1

#c = #tile.layout<"{reg=[[0,0,1],[0,8,0]], lane=[[0,0,2],[0,0,4],[0,1,0],[0,2,0],[0,4,0]], warp=[[1,0,0]], shape=[2,16,8]}">
#f = #tile.layout<"{reg=[[0,1],[8,0],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[16,64]}">
#h = #tile.layout<"{reg=[[0,0],[8,0],[0,4],[0,8]], lane=[[0,1],[0,2],[1,0],[2,0],[4,0]], warp=[[0,16]], shape=[16,32]}">
#g = #tile.layout<"{reg=[[0,1],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[8,64]}">
#s = #tile.layout<"{reg=[[0,0],[8,0],[0,0],[0,0]], lane=[[0,0],[0,0],[1,0],[2,0],[4,0]], warp=[[0,1]], shape=[16,2]}">
tile.program @factors(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %o: !llvm.ptr<1>, %s: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, pipeline = #tile.pipeline<mma_sync, stages = 3, mbarriers = true>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %end = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  %acc = tile.splat %zero : f32 -> tensor<2x16x8xf32, #c>
  %a = tile.view %p[] {shape = affine_map<() -> (128, 2048)>} : !llvm.ptr<1> to !tile.view<128x2048xi8>
  %b = tile.view %q[] {shape = affine_map<() -> (8, 4096)>} : !llvm.ptr<1> to !tile.view<8x4096xbf16>
  %h = tile.view %s[] {shape = affine_map<() -> (128, 128)>} : !llvm.ptr<1> to !tile.view<128x128xbf16>
  %v = tile.view %o[] : !llvm.ptr<1> to !tile.view<2x16x8xf32>
  %r = scf.for %k = %c0 to %end step %step iter_args(%t = %acc) -> tensor<2x16x8xf32, #c> {
    %y = tile.load %b[affine_map<(i, j)[k] -> (i, j + k)>] (%k) checked [false, false] : !tile.view<8x4096xbf16> -> tensor<8x64xbf16, #g>
    %z = tile.load %a[affine_map<(i, j)[k] -> (i, j + k floordiv 2)>] (%k) checked [false, false] : !tile.view<128x2048xi8> -> tensor<16x32xi8, #h>
    %x = tile.repeat %z along 1 : tensor<16x32xi8, #h> -> tensor<16x64xi8, #f>
    %u = tile.load %h[affine_map<(i, j)[k] -> (i, j + k floordiv 32)>] (%k) checked [false, false] : !tile.view<128x128xbf16> -> tensor<16x2xbf16, #s>
    %w = tile.repeat %u along 1 : tensor<16x2xbf16, #s> -> tensor<16x64xbf16, #f>
    %n = arith.sitofp %x : tensor<16x64xi8, #f> to tensor<16x64xbf16, #f>
    %m = arith.mulf %n, %w : tensor<16x64xbf16, #f>
    %d = tile.dot %m, %y, %t : tensor<16x64xbf16, #f>, tensor<8x64xbf16, #g> -> tensor<2x16x8xf32, #c>
    scf.yield %d : tensor<2x16x8xf32, #c>
  }
  tile.store %r, %v[affine_map<(p, i, j) -> (p, i, j)>] () checked [false, false, false] : tensor<2x16x8xf32, #c>, !tile.view<2x16x8xf32>
  tile.return
}

// -----

// Rows that the engine refuses are copied by the warps, and the remark says so.

// REMARK: producer-load
// REMARK-SAME: FUS-3211: the copy engine cannot load an operand: a row of the tensor is not known to have a multiple of 16 bytes; warps copy it themselves
// CHECK-LABEL: tile.program @odd_rows
// CHECK-NOT: tile.specialize
// CHECK: tile.make_ring by_threads
// CHECK: tile.copy_start

#c = #tile.layout<"{reg=[[0,0,1],[0,8,0]], lane=[[0,0,2],[0,0,4],[0,1,0],[0,2,0],[0,4,0]], warp=[[1,0,0]], shape=[2,16,8]}">
#f = #tile.layout<"{reg=[[0,1],[8,0],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[16,64]}">
#h = #tile.layout<"{reg=[[0,0],[8,0],[0,4],[0,8]], lane=[[0,1],[0,2],[1,0],[2,0],[4,0]], warp=[[0,16]], shape=[16,32]}">
#g = #tile.layout<"{reg=[[0,1],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[8,64]}">
tile.program @odd_rows(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %o: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, pipeline = #tile.pipeline<mma_sync, stages = 3, mbarriers = true>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %end = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  %acc = tile.splat %zero : f32 -> tensor<2x16x8xf32, #c>
  %a = tile.view %p[] {shape = affine_map<() -> (128, 2050)>} : !llvm.ptr<1> to !tile.view<128x2050xi8>
  %b = tile.view %q[] {shape = affine_map<() -> (8, 4100)>} : !llvm.ptr<1> to !tile.view<8x4100xbf16>
  %v = tile.view %o[] : !llvm.ptr<1> to !tile.view<2x16x8xf32>
  %r = scf.for %k = %c0 to %end step %step iter_args(%t = %acc) -> tensor<2x16x8xf32, #c> {
    %z = tile.load %a[affine_map<(i, j)[k] -> (i, j + k floordiv 2)>] (%k) checked [false, false] : !tile.view<128x2050xi8> -> tensor<16x32xi8, #h>
    %x = tile.repeat %z along 1 : tensor<16x32xi8, #h> -> tensor<16x64xi8, #f>
    %y = tile.load %b[affine_map<(i, j)[k] -> (i, j + k)>] (%k) checked [false, false] : !tile.view<8x4100xbf16> -> tensor<8x64xbf16, #g>
    %n = arith.sitofp %x : tensor<16x64xi8, #f> to tensor<16x64xbf16, #f>
    %d = tile.dot %n, %y, %t : tensor<16x64xbf16, #f>, tensor<8x64xbf16, #g> -> tensor<2x16x8xf32, #c>
    scf.yield %d : tensor<2x16x8xf32, #c>
  }
  tile.store %r, %v[affine_map<(p, i, j) -> (p, i, j)>] () checked [false, false, false] : tensor<2x16x8xf32, #c>, !tile.view<2x16x8xf32>
  tile.return
}
