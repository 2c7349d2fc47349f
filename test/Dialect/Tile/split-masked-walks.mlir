// Turns in which a mask removes nothing have a loop without it.

// RUN: fusion-opt %s --fusion-tile-guard-masks --fusion-tile-split-masked-walks --canonicalize --cse | FileCheck %s

// Columns up to j + 63 of rows from i on: whole turns end at the first j from
// i - 62 on.
// CHECK-LABEL: fusion_tile.program @causal
// CHECK: %[[ROW:.*]] = gpu.block_id x
// CHECK: %[[LAST:.*]] = arith.addi %[[ROW]], %{{.*}} : index
// CHECK: %[[LEAST:.*]] = arith.maxsi %[[LAST]], %{{.*}} : index
// CHECK: %[[UP:.*]] = arith.addi %[[LEAST]], %{{.*}} : index
// CHECK: %[[TURNS:.*]] = arith.divui %[[UP]], %{{.*}} : index
// CHECK: %[[AT:.*]] = arith.muli %[[TURNS]], %{{.*}} : index
// CHECK: %[[END:.*]] = arith.minsi %{{.*}}, %{{.*}} : index
// CHECK: %[[WHOLE:.*]] = scf.for %{{.*}} = %c0 to %[[END]]
// CHECK-NOT: arith.select
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} = %[[END]] to %c256 {{.*}} iter_args(%{{.*}} = %[[WHOLE]])
// CHECK-NOT: scf.if
// CHECK: arith.select
// CHECK: scf.yield
// CHECK: fusion_tile.return
fusion_tile.program @causal(%q: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, grid = affine_map<() -> (4)>, size_arguments = array<i64>, pipeline = #fusion_tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %row = gpu.block_id x
  %0 = fusion_tile.view %q[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf16>
  %1 = fusion_tile.view %y[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %init = fusion_tile.splat %zero : f32 -> tensor<64x64xf32>
  %none = fusion_tile.splat %lowest : f32 -> tensor<64x64xf32>
  %a = fusion_tile.alloc : <64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>
  %i = fusion_tile.index affine_map<(d0)[s0] -> (d0 + s0)> (%row) : tensor<64xindex>
  %r = scf.for %j = %c0 to %c256 step %c64 iter_args(%o = %init) -> (tensor<64x64xf32>) {
    %p = fusion_tile.mma_async %a, %a, %init : !fusion_tile.buffer<64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>, !fusion_tile.buffer<64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">> -> tensor<64x64xf32>
    %s = fusion_tile.mma_wait %p : tensor<64x64xf32> -> tensor<64x64xf32>
    %columns = fusion_tile.index affine_map<(d0)[s0] -> (d0 + s0)> (%j) : tensor<64xindex>
    %c = fusion_tile.broadcast %columns dims [1] : tensor<64xindex> -> tensor<64x64xindex>
    %b = fusion_tile.broadcast %i dims [0] : tensor<64xindex> -> tensor<64x64xindex>
    %isPast = arith.cmpi sgt, %c, %b : tensor<64x64xindex>
    %z = arith.select %isPast, %none, %s : tensor<64x64xi1>, tensor<64x64xf32>
    %n = arith.addf %o, %z : tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  fusion_tile.store %r, %1[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  fusion_tile.return
}

// A window has masked turns at both ends.
// CHECK-LABEL: fusion_tile.program @window
// CHECK: %[[BEFORE:.*]] = scf.for %{{.*}} = %c0 to %[[BEGIN:[^ ]+]]
// CHECK: arith.select
// CHECK: %[[WHOLE:.*]] = scf.for %{{.*}} = %[[BEGIN]] to %[[END:[^ ]+]] {{.*}} iter_args(%{{.*}} = %[[BEFORE]])
// CHECK-NOT: arith.select
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} = %[[END]] to %c256 {{.*}} iter_args(%{{.*}} = %[[WHOLE]])
// CHECK-NOT: scf.if
// CHECK: arith.select
// CHECK: fusion_tile.return
fusion_tile.program @window(%q: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, grid = affine_map<() -> (4)>, size_arguments = array<i64>, pipeline = #fusion_tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %row = gpu.block_id x
  %0 = fusion_tile.view %q[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf16>
  %1 = fusion_tile.view %y[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %init = fusion_tile.splat %zero : f32 -> tensor<64x64xf32>
  %none = fusion_tile.splat %lowest : f32 -> tensor<64x64xf32>
  %a = fusion_tile.alloc : <64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>
  %i = fusion_tile.index affine_map<(d0)[s0] -> (d0 + s0)> (%row) : tensor<64xindex>
  %before = fusion_tile.index affine_map<(d0)[s0] -> (d0 + s0 - 50)> (%row) : tensor<64xindex>
  %r = scf.for %j = %c0 to %c256 step %c64 iter_args(%o = %init) -> (tensor<64x64xf32>) {
    %p = fusion_tile.mma_async %a, %a, %init : !fusion_tile.buffer<64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>, !fusion_tile.buffer<64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">> -> tensor<64x64xf32>
    %s = fusion_tile.mma_wait %p : tensor<64x64xf32> -> tensor<64x64xf32>
    %columns = fusion_tile.index affine_map<(d0)[s0] -> (d0 + s0)> (%j) : tensor<64xindex>
    %c = fusion_tile.broadcast %columns dims [1] : tensor<64xindex> -> tensor<64x64xindex>
    %b = fusion_tile.broadcast %i dims [0] : tensor<64xindex> -> tensor<64x64xindex>
    %w = fusion_tile.broadcast %before dims [0] : tensor<64xindex> -> tensor<64x64xindex>
    %isPast = arith.cmpi sgt, %c, %b : tensor<64x64xindex>
    %isBefore = arith.cmpi sle, %c, %w : tensor<64x64xindex>
    %isOut = arith.ori %isPast, %isBefore : tensor<64x64xi1>
    %z = arith.select %isOut, %none, %s : tensor<64x64xi1>, tensor<64x64xf32>
    %n = arith.addf %o, %z : tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  fusion_tile.store %r, %1[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  fusion_tile.return
}

// Where the position counts twice the branch stays.
// CHECK-LABEL: fusion_tile.program @other
// CHECK: scf.for
// CHECK: scf.if
// CHECK-NOT: scf.for
// CHECK: fusion_tile.return
fusion_tile.program @other(%q: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, grid = affine_map<() -> (4)>, size_arguments = array<i64>, pipeline = #fusion_tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %row = gpu.block_id x
  %0 = fusion_tile.view %q[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf16>
  %1 = fusion_tile.view %y[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %init = fusion_tile.splat %zero : f32 -> tensor<64x64xf32>
  %none = fusion_tile.splat %lowest : f32 -> tensor<64x64xf32>
  %a = fusion_tile.alloc : <64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>
  %i = fusion_tile.index affine_map<(d0)[s0] -> (d0 + s0)> (%row) : tensor<64xindex>
  %r = scf.for %j = %c0 to %c256 step %c64 iter_args(%o = %init) -> (tensor<64x64xf32>) {
    %p = fusion_tile.mma_async %a, %a, %init : !fusion_tile.buffer<64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>, !fusion_tile.buffer<64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">> -> tensor<64x64xf32>
    %s = fusion_tile.mma_wait %p : tensor<64x64xf32> -> tensor<64x64xf32>
    %columns = fusion_tile.index affine_map<(d0)[s0] -> (d0 + s0 * 2)> (%j) : tensor<64xindex>
    %c = fusion_tile.broadcast %columns dims [1] : tensor<64xindex> -> tensor<64x64xindex>
    %b = fusion_tile.broadcast %i dims [0] : tensor<64xindex> -> tensor<64x64xindex>
    %isPast = arith.cmpi sgt, %c, %b : tensor<64x64xindex>
    %z = arith.select %isPast, %none, %s : tensor<64x64xi1>, tensor<64x64xf32>
    %n = arith.addf %o, %z : tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  fusion_tile.store %r, %1[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  fusion_tile.return
}
