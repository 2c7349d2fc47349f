// Products that need another's result run one turn behind it.

// RUN: fusion-opt %s --tile-skew-products | FileCheck %s

// CHECK-LABEL: tile.program @carried
// CHECK: %[[END:.*]] = arith.addi %{{.*}}, %[[STEP:.*]] : index
// CHECK: %[[LOOP:.*]]:4 = scf.for %[[I:.*]] = %[[BEGIN:.*]] to %[[END]] step %[[STEP]] iter_args(%[[O:.*]] = %{{.*}}, %[[M:.*]] = %{{.*}}, %[[E:.*]] = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK: %[[P:.*]] = arith.truncf %[[E]]
// CHECK: tile.load %{{.*}} (%[[I]]) checked [true, true]
// CHECK: tile.dot
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[I]], %[[BEGIN]]
// CHECK: %[[BEFORE:.*]] = arith.subi %[[I]], %[[STEP]]
// CHECK: %[[PLACE:.*]] = arith.select %[[FIRST]], %{{.*}}, %[[BEFORE]]
// CHECK: %[[V:.*]] = tile.load %{{.*}} (%[[PLACE]]) checked [true, true]
// CHECK: %[[NEXT:.*]] = tile.dot %[[P]], %[[V]], %[[O]]
// CHECK: %[[EXP:.*]] = math.exp
// CHECK: scf.yield %[[NEXT]], %{{.*}}, %[[EXP]], %[[M]]
// CHECK: tile.store %[[LOOP]]#0
// CHECK: tile.store %[[LOOP]]#3
tile.program @carried(%q: !llvm.ptr<1>, %k: !llvm.ptr<1>, %y: !llvm.ptr<1>, %z: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, grid = affine_map<() -> (1)>, size_arguments = array<i64>, pipeline = #tile.pipeline<wgmma, stages = 2, skew = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %0 = tile.view %q[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf16>
  %1 = tile.view %k[] {shape = affine_map<() -> (256, 64)>} : !llvm.ptr<1> to <256x64xf16>
  %2 = tile.view %y[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %3 = tile.view %z[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %a = tile.load %0[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : <64x64xf16> -> tensor<64x64xf16>
  %init = tile.splat %zero : f32 -> tensor<64x64xf32>
  %r:2 = scf.for %i = %c0 to %c256 step %c64 iter_args(%o = %init, %m = %init) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %b = tile.load %1[affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>] (%i) checked [false, false] : <256x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %a, %b, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %n = arith.addf %m, %s : tensor<64x64xf32>
    %e = math.exp %s : tensor<64x64xf32>
    %p = arith.truncf %e : tensor<64x64xf32> to tensor<64x64xf16>
    %v = tile.load %1[affine_map<(d0, d1)[s0] -> (d1 + s0, d0)>] (%i) checked [false, false] : <256x64xf16> -> tensor<64x64xf16>
    %t = tile.dot %p, %v, %o : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %t, %n : tensor<64x64xf32>, tensor<64x64xf32>
  }
  tile.store %r#0, %2[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  tile.store %r#1, %3[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  tile.return
}

// A sum that the turn reads besides stays where it is.
// CHECK-LABEL: tile.program @read
// CHECK: scf.for {{.*}} -> (tensor<64x64xf32>, tensor<64x64xf32>)
// CHECK: tile.dot
// CHECK: math.exp
// CHECK: tile.dot
tile.program @read(%q: !llvm.ptr<1>, %k: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, grid = affine_map<() -> (1)>, size_arguments = array<i64>, pipeline = #tile.pipeline<wgmma, stages = 2, skew = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %0 = tile.view %q[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf16>
  %1 = tile.view %k[] {shape = affine_map<() -> (256, 64)>} : !llvm.ptr<1> to <256x64xf16>
  %2 = tile.view %y[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %a = tile.load %0[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : <64x64xf16> -> tensor<64x64xf16>
  %init = tile.splat %zero : f32 -> tensor<64x64xf32>
  %r:2 = scf.for %i = %c0 to %c256 step %c64 iter_args(%o = %init, %m = %init) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %b = tile.load %1[affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>] (%i) checked [false, false] : <256x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %a, %b, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %n = arith.addf %m, %o : tensor<64x64xf32>
    %e = math.exp %s : tensor<64x64xf32>
    %p = arith.truncf %e : tensor<64x64xf32> to tensor<64x64xf16>
    %v = tile.load %1[affine_map<(d0, d1)[s0] -> (d1 + s0, d0)>] (%i) checked [false, false] : <256x64xf16> -> tensor<64x64xf16>
    %t = tile.dot %p, %v, %o : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %t, %n : tensor<64x64xf32>, tensor<64x64xf32>
  }
  tile.store %r#1, %2[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  tile.return
}
