// RUN: fusion-opt %s --pass-pipeline="builtin.module(fusion_tile.program(fusion-tile-pipeline-loads,cse))" --remarks-filter='fusion.*' --split-input-file 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// Where warps share the depth and unpack several numbers of a byte, and the copy
// engine can load the operands, a producer does: the largest operand first. What the epilogue
// reads is loaded before the loop, and a stage is free as soon as it is read.

// CHECK-LABEL: fusion_tile.program @produced
// CHECK-SAME: extra_warps = 1
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[W:.*]] = fusion_tile.tensor_map {{.*}} -> <16x32xi8, b32>
// CHECK-DAG: %[[X:.*]] = fusion_tile.tensor_map {{.*}} -> <8x64xbf16, b128>
// CHECK: %[[RING:.*]] = fusion_tile.make_ring : <3, [!fusion_tile.buffer<16x32xi8, {{.*}}>, !fusion_tile.buffer<8x64xbf16, {{.*}}>]>
// CHECK: fusion_tile.specialize consumer {
// CHECK: fusion_tile.load {{.*}} -> tensor<8xf32
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[TURN:.*]] = %[[ZERO]])
// CHECK-NEXT: %[[STAGE:.*]]:2 = fusion_tile.wait %[[RING]][%[[TURN]]]
// CHECK-NEXT: fusion_tile.local_load %[[STAGE]]#1
// CHECK-NEXT: fusion_tile.local_load %[[STAGE]]#0
// CHECK-NEXT: fusion_tile.release %[[RING]][%[[TURN]]]
// CHECK-NEXT: fusion_tile.repeat
// CHECK-NEXT: arith.sitofp
// CHECK-NEXT: fusion_tile.dot
// CHECK: arith.addi %[[TURN]], %{{.*}} : index
// CHECK-NOT: fusion_tile.load
// CHECK: } producer {
// CHECK: scf.for %[[K:.*]] = %{{.*}} iter_args(%[[NOW:.*]] = %[[ZERO]])
// CHECK: fusion_tile.acquire %[[RING]][%[[NOW]]]
// CHECK: fusion_tile.async_load %[[W]][%[[ZERO]], %{{.*}}]
// CHECK-NEXT: fusion_tile.async_load %[[X]][%[[ZERO]], %[[K]]]
// CHECK: arith.addi %[[NOW]], %{{.*}} : index

#c = #fusion_tile.layout<"{reg=[[0,0,1],[0,8,0]], lane=[[0,0,2],[0,0,4],[0,1,0],[0,2,0],[0,4,0]], warp=[[1,0,0]], shape=[2,16,8]}">
#f = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[16,64]}">
#h = #fusion_tile.layout<"{reg=[[0,0],[8,0],[0,4],[0,8]], lane=[[0,1],[0,2],[1,0],[2,0],[4,0]], warp=[[0,16]], shape=[16,32]}">
#g = #fusion_tile.layout<"{reg=[[0,1],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[8,64]}">
#v = #fusion_tile.layout<"{reg=[[1]], lane=[[2],[4],[0],[0],[0]], warp=[[0]], shape=[8]}">
fusion_tile.program @produced(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %o: !llvm.ptr<1>, %s: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync, stages = 3, mbarriers = true>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %end = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  %acc = fusion_tile.splat %zero : f32 -> tensor<2x16x8xf32, #c>
  %a = fusion_tile.view %p[] {shape = affine_map<() -> (128, 2048)>} : !llvm.ptr<1> to !fusion_tile.view<128x2048xi8>
  %b = fusion_tile.view %q[] {shape = affine_map<() -> (8, 4096)>} : !llvm.ptr<1> to !fusion_tile.view<8x4096xbf16>
  %v = fusion_tile.view %o[] : !llvm.ptr<1> to !fusion_tile.view<2x16x8xf32>
  %f = fusion_tile.view %s[] : !llvm.ptr<1> to !fusion_tile.view<8xf32>
  %r = scf.for %k = %c0 to %end step %step iter_args(%t = %acc) -> tensor<2x16x8xf32, #c> {
    %y = fusion_tile.load %b[affine_map<(i, j)[k] -> (i, j + k)>] (%k) checked [false, false] : !fusion_tile.view<8x4096xbf16> -> tensor<8x64xbf16, #g>
    %z = fusion_tile.load %a[affine_map<(i, j)[k] -> (i, j + k floordiv 2)>] (%k) checked [false, false] : !fusion_tile.view<128x2048xi8> -> tensor<16x32xi8, #h>
    %x = fusion_tile.repeat %z along 1 : tensor<16x32xi8, #h> -> tensor<16x64xi8, #f>
    %n = arith.sitofp %x : tensor<16x64xi8, #f> to tensor<16x64xbf16, #f>
    %d = fusion_tile.dot %n, %y, %t : tensor<16x64xbf16, #f>, tensor<8x64xbf16, #g> -> tensor<2x16x8xf32, #c>
    scf.yield %d : tensor<2x16x8xf32, #c>
  }
  %w = fusion_tile.load %f[affine_map<(i) -> (i)>] () checked [false] : !fusion_tile.view<8xf32> -> tensor<8xf32, #v>
  %e = fusion_tile.broadcast %w dims [2] : tensor<8xf32, #v> -> tensor<2x16x8xf32, #c>
  %m = arith.mulf %r, %e : tensor<2x16x8xf32, #c>
  fusion_tile.store %m, %v[affine_map<(p, i, j) -> (p, i, j)>] () checked [false, false, false] : tensor<2x16x8xf32, #c>, !fusion_tile.view<2x16x8xf32>
  fusion_tile.return
}

// -----

// A tile that is too small for the engine is loaded one iteration ahead, in the
// layout in which it is used.

// CHECK-LABEL: fusion_tile.program @factors
// CHECK: fusion_tile.make_ring : <3, [!fusion_tile.buffer<16x32xi8, {{.*}}>, !fusion_tile.buffer<8x64xbf16, {{.*}}>]>
// CHECK: fusion_tile.specialize consumer {
// CHECK: %[[FIRST:.*]] = fusion_tile.load {{.*}} -> tensor<16x2xbf16
// CHECK: scf.for {{.*}} %[[FACTOR:.*]] = %[[FIRST]],
// CHECK: fusion_tile.load {{.*}} -> tensor<16x2xbf16
// CHECK: fusion_tile.wait
// CHECK: fusion_tile.repeat %[[FACTOR]] along 1

#c = #fusion_tile.layout<"{reg=[[0,0,1],[0,8,0]], lane=[[0,0,2],[0,0,4],[0,1,0],[0,2,0],[0,4,0]], warp=[[1,0,0]], shape=[2,16,8]}">
#f = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[16,64]}">
#h = #fusion_tile.layout<"{reg=[[0,0],[8,0],[0,4],[0,8]], lane=[[0,1],[0,2],[1,0],[2,0],[4,0]], warp=[[0,16]], shape=[16,32]}">
#g = #fusion_tile.layout<"{reg=[[0,1],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[8,64]}">
#s = #fusion_tile.layout<"{reg=[[0,0],[8,0],[0,0],[0,0]], lane=[[0,0],[0,0],[1,0],[2,0],[4,0]], warp=[[0,1]], shape=[16,2]}">
fusion_tile.program @factors(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %o: !llvm.ptr<1>, %s: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync, stages = 3, mbarriers = true>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %end = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  %acc = fusion_tile.splat %zero : f32 -> tensor<2x16x8xf32, #c>
  %a = fusion_tile.view %p[] {shape = affine_map<() -> (128, 2048)>} : !llvm.ptr<1> to !fusion_tile.view<128x2048xi8>
  %b = fusion_tile.view %q[] {shape = affine_map<() -> (8, 4096)>} : !llvm.ptr<1> to !fusion_tile.view<8x4096xbf16>
  %h = fusion_tile.view %s[] {shape = affine_map<() -> (128, 128)>} : !llvm.ptr<1> to !fusion_tile.view<128x128xbf16>
  %v = fusion_tile.view %o[] : !llvm.ptr<1> to !fusion_tile.view<2x16x8xf32>
  %r = scf.for %k = %c0 to %end step %step iter_args(%t = %acc) -> tensor<2x16x8xf32, #c> {
    %y = fusion_tile.load %b[affine_map<(i, j)[k] -> (i, j + k)>] (%k) checked [false, false] : !fusion_tile.view<8x4096xbf16> -> tensor<8x64xbf16, #g>
    %z = fusion_tile.load %a[affine_map<(i, j)[k] -> (i, j + k floordiv 2)>] (%k) checked [false, false] : !fusion_tile.view<128x2048xi8> -> tensor<16x32xi8, #h>
    %x = fusion_tile.repeat %z along 1 : tensor<16x32xi8, #h> -> tensor<16x64xi8, #f>
    %u = fusion_tile.load %h[affine_map<(i, j)[k] -> (i, j + k floordiv 32)>] (%k) checked [false, false] : !fusion_tile.view<128x128xbf16> -> tensor<16x2xbf16, #s>
    %w = fusion_tile.repeat %u along 1 : tensor<16x2xbf16, #s> -> tensor<16x64xbf16, #f>
    %n = arith.sitofp %x : tensor<16x64xi8, #f> to tensor<16x64xbf16, #f>
    %m = arith.mulf %n, %w : tensor<16x64xbf16, #f>
    %d = fusion_tile.dot %m, %y, %t : tensor<16x64xbf16, #f>, tensor<8x64xbf16, #g> -> tensor<2x16x8xf32, #c>
    scf.yield %d : tensor<2x16x8xf32, #c>
  }
  fusion_tile.store %r, %v[affine_map<(p, i, j) -> (p, i, j)>] () checked [false, false, false] : tensor<2x16x8xf32, #c>, !fusion_tile.view<2x16x8xf32>
  fusion_tile.return
}

// -----

// Rows that the engine refuses are copied by the warps, and the remark says so.

// REMARK: producer-load
// REMARK-SAME: FUS-3211: the copy engine cannot load an operand: a row of the tensor is not known to have a multiple of 16 bytes; warps copy it themselves
// CHECK-LABEL: fusion_tile.program @odd_rows
// CHECK-NOT: fusion_tile.specialize
// CHECK: fusion_tile.make_ring by_threads
// CHECK: fusion_tile.copy_start

#c = #fusion_tile.layout<"{reg=[[0,0,1],[0,8,0]], lane=[[0,0,2],[0,0,4],[0,1,0],[0,2,0],[0,4,0]], warp=[[1,0,0]], shape=[2,16,8]}">
#f = #fusion_tile.layout<"{reg=[[0,1],[8,0],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[16,64]}">
#h = #fusion_tile.layout<"{reg=[[0,0],[8,0],[0,4],[0,8]], lane=[[0,1],[0,2],[1,0],[2,0],[4,0]], warp=[[0,16]], shape=[16,32]}">
#g = #fusion_tile.layout<"{reg=[[0,1],[0,8],[0,16]], lane=[[0,2],[0,4],[1,0],[2,0],[4,0]], warp=[[0,32]], shape=[8,64]}">
fusion_tile.program @odd_rows(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>, %o: !llvm.ptr<1>) attributes {num_warps = 2 : i64, index_bits = 32 : i64, pipeline = #fusion_tile.pipeline<mma_sync, stages = 3, mbarriers = true>} {
  %c0 = arith.constant 0 : index
  %step = arith.constant 64 : index
  %end = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f32
  %acc = fusion_tile.splat %zero : f32 -> tensor<2x16x8xf32, #c>
  %a = fusion_tile.view %p[] {shape = affine_map<() -> (128, 2050)>} : !llvm.ptr<1> to !fusion_tile.view<128x2050xi8>
  %b = fusion_tile.view %q[] {shape = affine_map<() -> (8, 4100)>} : !llvm.ptr<1> to !fusion_tile.view<8x4100xbf16>
  %v = fusion_tile.view %o[] : !llvm.ptr<1> to !fusion_tile.view<2x16x8xf32>
  %r = scf.for %k = %c0 to %end step %step iter_args(%t = %acc) -> tensor<2x16x8xf32, #c> {
    %z = fusion_tile.load %a[affine_map<(i, j)[k] -> (i, j + k floordiv 2)>] (%k) checked [false, false] : !fusion_tile.view<128x2050xi8> -> tensor<16x32xi8, #h>
    %x = fusion_tile.repeat %z along 1 : tensor<16x32xi8, #h> -> tensor<16x64xi8, #f>
    %y = fusion_tile.load %b[affine_map<(i, j)[k] -> (i, j + k)>] (%k) checked [false, false] : !fusion_tile.view<8x4100xbf16> -> tensor<8x64xbf16, #g>
    %n = arith.sitofp %x : tensor<16x64xi8, #f> to tensor<16x64xbf16, #f>
    %d = fusion_tile.dot %n, %y, %t : tensor<16x64xbf16, #f>, tensor<8x64xbf16, #g> -> tensor<2x16x8xf32, #c>
    scf.yield %d : tensor<2x16x8xf32, #c>
  }
  fusion_tile.store %r, %v[affine_map<(p, i, j) -> (p, i, j)>] () checked [false, false, false] : tensor<2x16x8xf32, #c>, !fusion_tile.view<2x16x8xf32>
  fusion_tile.return
}
