// Masks of positions are computed in turns in which they remove something of a
// product, and in no others.

// RUN: fusion-opt %s --fusion-tile-guard-masks --canonicalize | FileCheck %s

// The last of 64 columns against the first of 64 rows, and the first column against
// the last row before the window: between them nothing is removed.
// CHECK-LABEL: fusion_tile.program @window
// CHECK-DAG: %[[LAST:.*]] = arith.constant 63 : index
// CHECK-DAG: %[[BACK:.*]] = arith.constant 13 : index
// CHECK: scf.for %[[J:[^ ]+]] =
// CHECK: %[[S:.*]] = fusion_tile.mma_wait
// CHECK-NOT: fusion_tile.index
// CHECK: %[[END:.*]] = arith.addi %[[J]], %[[LAST]] : index
// CHECK: %[[PAST:.*]] = arith.cmpi sle, %[[END]], %[[ROW:[^ ]+]] : index
// CHECK: %[[BEFORE:.*]] = arith.addi %[[ROW]], %[[BACK]] : index
// CHECK: %[[NEAR:.*]] = arith.cmpi sgt, %[[J]], %[[BEFORE]] : index
// CHECK: %[[WHOLE:.*]] = arith.andi %[[PAST]], %[[NEAR]] : i1
// CHECK: scf.if %[[WHOLE]] -> (tensor<64x64xf32>)
// CHECK-NEXT: scf.yield %[[S]]
// CHECK-NEXT: } else {
// CHECK: fusion_tile.index
// CHECK: arith.cmpi sgt
// CHECK: arith.cmpi sle
// CHECK: arith.ori
// CHECK: %[[CHOSEN:.*]] = arith.select %{{.*}}, %{{.*}}, %[[S]]
// CHECK-NEXT: scf.yield %[[CHOSEN]]
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

// What is no product of the turn is chosen as it was, and so is what data decides.
// CHECK-LABEL: fusion_tile.program @others
// CHECK-NOT: scf.if
fusion_tile.program @others(%q: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, grid = affine_map<() -> (4)>, size_arguments = array<i64>, pipeline = #fusion_tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %0 = fusion_tile.view %q[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %1 = fusion_tile.view %y[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %init = fusion_tile.splat %zero : f32 -> tensor<64x64xf32>
  %a = fusion_tile.alloc : <64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>
  %rows = fusion_tile.index affine_map<(d0) -> (d0)> () : tensor<64xindex>
  %r = scf.for %j = %c0 to %c256 step %c64 iter_args(%o = %init) -> (tensor<64x64xf32>) {
    %p = fusion_tile.mma_async %a, %a, %init : !fusion_tile.buffer<64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>, !fusion_tile.buffer<64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">> -> tensor<64x64xf32>
    %s = fusion_tile.mma_wait %p : tensor<64x64xf32> -> tensor<64x64xf32>
    %x = fusion_tile.load %0[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : <64x64xf32> -> tensor<64x64xf32>
    %columns = fusion_tile.index affine_map<(d0)[s0] -> (d0 + s0)> (%j) : tensor<64xindex>
    %c = fusion_tile.broadcast %columns dims [1] : tensor<64xindex> -> tensor<64x64xindex>
    %b = fusion_tile.broadcast %rows dims [0] : tensor<64xindex> -> tensor<64x64xindex>
    %isPast = arith.cmpi sgt, %c, %b : tensor<64x64xindex>
    %isLarge = arith.cmpf ogt, %x, %init : tensor<64x64xf32>
    %y0 = arith.select %isPast, %init, %x : tensor<64x64xi1>, tensor<64x64xf32>
    %y1 = arith.select %isLarge, %init, %s : tensor<64x64xi1>, tensor<64x64xf32>
    %n = arith.addf %y0, %y1 : tensor<64x64xf32>
    %m = arith.addf %o, %n : tensor<64x64xf32>
    scf.yield %m : tensor<64x64xf32>
  }
  fusion_tile.store %r, %1[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  fusion_tile.return
}

// Rows of several heads in one tile, as many as are known when it runs: the
// positions of a tile are no sums.
// CHECK-LABEL: fusion_tile.program @several
// CHECK-NOT: scf.if
// CHECK: fusion_tile.return
fusion_tile.program @several(%q: !llvm.ptr<1>, %y: !llvm.ptr<1>, %n: index) attributes {num_warps = 4 : i64, index_bits = 32 : i64, grid = affine_map<() -> (4)>, size_arguments = array<i64: 2>, pipeline = #fusion_tile.pipeline<wgmma, stages = 2>} {
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
  %i = fusion_tile.index affine_map<(d0)[s0, s1] -> ((d0 + s0) mod s1)> (%row, %n) : tensor<64xindex>
  %before = fusion_tile.index affine_map<(d0)[s0, s1] -> (d0 + s0 - s1 * s1)> (%row, %n) : tensor<64xindex>
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
    %next = arith.addf %o, %z : tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  fusion_tile.store %r, %1[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  fusion_tile.return
}

// Distances in integers that hold positions: the last row less the first column.
// CHECK-LABEL: fusion_tile.program @steps
// CHECK: scf.for %[[J:[^ ]+]] =
// CHECK: %[[S:.*]] = fusion_tile.mma_wait
// CHECK-NOT: fusion_tile.index
// CHECK: %[[MOST:.*]] = arith.subi %{{.*}}, %[[J]] : index
// CHECK: %[[NEAR:.*]] = arith.cmpi slt, %[[MOST]], %{{.*}} : index
// CHECK: scf.if %[[NEAR]] -> (tensor<64x64xf32>)
// CHECK-NEXT: scf.yield %[[S]]
fusion_tile.program @steps(%q: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, grid = affine_map<() -> (4)>, size_arguments = array<i64>, pipeline = #fusion_tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %size = arith.constant 50 : i32
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %row = gpu.block_id x
  %1 = fusion_tile.view %y[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %init = fusion_tile.splat %zero : f32 -> tensor<64x64xf32>
  %none = fusion_tile.splat %lowest : f32 -> tensor<64x64xf32>
  %sizes = fusion_tile.splat %size : i32 -> tensor<64x64xi32>
  %a = fusion_tile.alloc : <64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>
  %i = fusion_tile.index affine_map<(d0)[s0] -> (d0 + s0)> (%row) : tensor<64xindex>
  %ii = arith.index_cast %i : tensor<64xindex> to tensor<64xi32>
  %r = scf.for %j = %c0 to %c256 step %c64 iter_args(%o = %init) -> (tensor<64x64xf32>) {
    %p = fusion_tile.mma_async %a, %a, %init : !fusion_tile.buffer<64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>, !fusion_tile.buffer<64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">> -> tensor<64x64xf32>
    %s = fusion_tile.mma_wait %p : tensor<64x64xf32> -> tensor<64x64xf32>
    %columns = fusion_tile.index affine_map<(d0)[s0] -> (d0 + s0)> (%j) : tensor<64xindex>
    %jj = arith.index_cast %columns : tensor<64xindex> to tensor<64xi32>
    %c = fusion_tile.broadcast %jj dims [1] : tensor<64xi32> -> tensor<64x64xi32>
    %b = fusion_tile.broadcast %ii dims [0] : tensor<64xi32> -> tensor<64x64xi32>
    %d = arith.subi %b, %c : tensor<64x64xi32>
    %isFar = arith.cmpi sge, %d, %sizes : tensor<64x64xi32>
    %x = arith.select %isFar, %none, %s : tensor<64x64xi1>, tensor<64x64xf32>
    %n = arith.addf %o, %x : tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  fusion_tile.store %r, %1[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  fusion_tile.return
}

// 16 bits may not hold them.
// CHECK-LABEL: fusion_tile.program @narrow
// CHECK-NOT: scf.if
// CHECK: fusion_tile.return
fusion_tile.program @narrow(%q: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, grid = affine_map<() -> (4)>, size_arguments = array<i64>, pipeline = #fusion_tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %size = arith.constant 50 : i16
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %row = gpu.block_id x
  %1 = fusion_tile.view %y[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %init = fusion_tile.splat %zero : f32 -> tensor<64x64xf32>
  %none = fusion_tile.splat %lowest : f32 -> tensor<64x64xf32>
  %sizes = fusion_tile.splat %size : i16 -> tensor<64x64xi16>
  %a = fusion_tile.alloc : <64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>
  %i = fusion_tile.index affine_map<(d0)[s0] -> (d0 + s0)> (%row) : tensor<64xindex>
  %ii = arith.index_cast %i : tensor<64xindex> to tensor<64xi16>
  %r = scf.for %j = %c0 to %c256 step %c64 iter_args(%o = %init) -> (tensor<64x64xf32>) {
    %p = fusion_tile.mma_async %a, %a, %init : !fusion_tile.buffer<64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>, !fusion_tile.buffer<64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">> -> tensor<64x64xf32>
    %s = fusion_tile.mma_wait %p : tensor<64x64xf32> -> tensor<64x64xf32>
    %columns = fusion_tile.index affine_map<(d0)[s0] -> (d0 + s0)> (%j) : tensor<64xindex>
    %jj = arith.index_cast %columns : tensor<64xindex> to tensor<64xi16>
    %c = fusion_tile.broadcast %jj dims [1] : tensor<64xi16> -> tensor<64x64xi16>
    %b = fusion_tile.broadcast %ii dims [0] : tensor<64xi16> -> tensor<64x64xi16>
    %d = arith.subi %b, %c : tensor<64x64xi16>
    %isFar = arith.cmpi sge, %d, %sizes : tensor<64x64xi16>
    %x = arith.select %isFar, %none, %s : tensor<64x64xi1>, tensor<64x64xf32>
    %n = arith.addf %o, %x : tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  fusion_tile.store %r, %1[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  fusion_tile.return
}

// Ends of rows that data give are looked at once, before the loop; those of 64 bits
// are no further away than indices of the program are.
// CHECK-LABEL: fusion_tile.program @ends
// CHECK: %[[ENDS:.*]] = fusion_tile.load
// CHECK-NEXT: %[[LEAST:.*]] = fusion_tile.find_bound least %{{.*}}[%{{.*}}] sizes [64] : <1000xi64>
// CHECK-NEXT: %[[BELOW:.*]] = arith.minsi %[[LEAST]], %c2147483647_i64
// CHECK-NEXT: %[[WITHIN:.*]] = arith.maxsi %[[BELOW]], %c-2147483648_i64
// CHECK-NEXT: %[[END:.*]] = arith.index_cast %[[WITHIN]]
// CHECK: scf.for %[[J:[^ ]+]] =
// CHECK: %[[LAST:.*]] = arith.addi %[[J]], %{{.*}} : index
// CHECK: %[[WHOLE:.*]] = arith.cmpi slt, %[[LAST]], %[[END]] : index
// CHECK: scf.if %[[WHOLE]] -> (tensor<64x64xf32>)
fusion_tile.program @ends(%e: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, grid = affine_map<() -> (4)>, size_arguments = array<i64>, pipeline = #fusion_tile.pipeline<wgmma, stages = 2>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %row = gpu.block_id x
  %0 = fusion_tile.view %e[] : !llvm.ptr<1> to <1000xi64>
  %1 = fusion_tile.view %y[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %init = fusion_tile.splat %zero : f32 -> tensor<64x64xf32>
  %none = fusion_tile.splat %lowest : f32 -> tensor<64x64xf32>
  %a = fusion_tile.alloc : <64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>
  %ends = fusion_tile.load %0[affine_map<(d0)[s0] -> (d0 + s0)>] (%row) checked [true] : <1000xi64> -> tensor<64xi64>
  %r = scf.for %j = %c0 to %c256 step %c64 iter_args(%o = %init) -> (tensor<64x64xf32>) {
    %p = fusion_tile.mma_async %a, %a, %init : !fusion_tile.buffer<64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">>, !fusion_tile.buffer<64x64xf16, #fusion_tile.shared_layout<"{bytes=2, align=1024, offsets=[[144,288,576,1024,2048,4096],[2,4,8,16,32,64]]}">> -> tensor<64x64xf32>
    %s = fusion_tile.mma_wait %p : tensor<64x64xf32> -> tensor<64x64xf32>
    %columns = fusion_tile.index affine_map<(d0)[s0] -> (d0 + s0)> (%j) : tensor<64xindex>
    %places = arith.index_cast %columns : tensor<64xindex> to tensor<64xi64>
    %c = fusion_tile.broadcast %places dims [1] : tensor<64xi64> -> tensor<64x64xi64>
    %b = fusion_tile.broadcast %ends dims [0] : tensor<64xi64> -> tensor<64x64xi64>
    %isSeen = arith.cmpi slt, %c, %b : tensor<64x64xi64>
    %z = arith.select %isSeen, %s, %none : tensor<64x64xi1>, tensor<64x64xf32>
    %n = arith.addf %o, %z : tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  fusion_tile.store %r, %1[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  fusion_tile.return
}
