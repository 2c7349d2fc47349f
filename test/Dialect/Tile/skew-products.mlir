// Products that need another's result run one turn behind it.

// RUN: fusion-opt %s --fusion-tile-specialize-warps --fusion-tile-skew-products | FileCheck %s

// Keys and values are in rings of their own; the first turn's scores stand before
// the loop, the last turn's product behind it. What is rounded passes the wait
// for the product that reads the operand before.
// CHECK-LABEL: fusion_tile.program @carried
// CHECK: %[[K:.*]] = fusion_tile.make_ring : <2,
// CHECK: %[[V:.*]] = fusion_tile.make_ring : <2,
// CHECK: consumer {
// CHECK: fusion_tile.wait %[[K]][%[[ZERO:[a-z0-9_]+]]]
// CHECK: %[[S0:.*]] = fusion_tile.mma_async
// CHECK: fusion_tile.mma_wait %[[S0]]
// CHECK: math.exp
// CHECK: %[[P0:.*]] = arith.truncf
// CHECK: %[[SECOND:.*]] = arith.addi %[[BEGIN:.*]], %[[STEP:.*]] : index
// CHECK: %[[LOOP:.*]]:5 = scf.for %{{.*}} = %[[SECOND]] to %{{.*}} step %[[STEP]] iter_args(%[[O:.*]] = %{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}, %[[AT:.*]] = %[[ZERO]], %[[P:.*]] = %[[P0]])
// CHECK: %[[S:.*]] = fusion_tile.mma_async
// CHECK: fusion_tile.mma_wait {pending = 1 : i64}
// CHECK: %[[B:.*]] = fusion_tile.wait %[[V]][%[[AT]]]
// CHECK: %[[T:.*]] = fusion_tile.mma_async %[[P]], %[[B]], %[[O]]
// CHECK: fusion_tile.mma_wait %[[S]] {pending = 1 : i64}
// CHECK: fusion_tile.release %[[K]]
// CHECK: %[[E:.*]] = math.exp
// CHECK: %[[DONE:.*]]:2 = fusion_tile.mma_wait %[[T]], %[[E]] {{.*}}keeping %[[P]]
// CHECK: fusion_tile.release %[[V]][%[[AT]]]
// CHECK: %[[NEXT:.*]] = arith.truncf %[[DONE]]#1
// CHECK: scf.yield %[[DONE]]#0, {{.*}}, %[[NEXT]]
// CHECK: fusion_tile.wait %[[V]][%[[LOOP]]#3]
// CHECK: fusion_tile.mma_async %[[LOOP]]#4, %{{.*}}, %[[LOOP]]#0
// CHECK: fusion_tile.release %[[V]][%[[LOOP]]#3]
// CHECK: } producer {
// CHECK-NOT: fusion_tile.mma_async
// CHECK: fusion_tile.return
fusion_tile.program @carried(%q: !llvm.ptr<1>, %k: !llvm.ptr<1>, %y: !llvm.ptr<1>, %z: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, grid = affine_map<() -> (1)>, size_arguments = array<i64>, pipeline = #fusion_tile.pipeline<wgmma, stages = 2, skew = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %0 = fusion_tile.view %q[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf16>
  %1 = fusion_tile.view %k[] {shape = affine_map<() -> (256, 64)>} : !llvm.ptr<1> to <256x64xf16>
  %2 = fusion_tile.view %y[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %3 = fusion_tile.view %z[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %a = fusion_tile.load %0[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : <64x64xf16> -> tensor<64x64xf16>
  %init = fusion_tile.splat %zero : f32 -> tensor<64x64xf32>
  %r:2 = scf.for %i = %c0 to %c256 step %c64 iter_args(%o = %init, %m = %init) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %b = fusion_tile.load %1[affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>] (%i) checked [false, false] : <256x64xf16> -> tensor<64x64xf16>
    %s = fusion_tile.dot %a, %b, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %n = arith.addf %m, %s : tensor<64x64xf32>
    %e = math.exp %s : tensor<64x64xf32>
    %p = arith.truncf %e : tensor<64x64xf32> to tensor<64x64xf16>
    %v = fusion_tile.load %1[affine_map<(d0, d1)[s0] -> (d1 + s0, d0)>] (%i) checked [false, false] : <256x64xf16> -> tensor<64x64xf16>
    %t = fusion_tile.dot %p, %v, %o : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %t, %n : tensor<64x64xf32>, tensor<64x64xf32>
  }
  fusion_tile.store %r#0, %2[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  fusion_tile.store %r#1, %3[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  fusion_tile.return
}

// A sum that the turn reads besides stays where it is.
// CHECK-LABEL: fusion_tile.program @read
// CHECK: scf.for {{.*}} -> (tensor<64x64xf32>, tensor<64x64xf32>, index, index)
// CHECK: fusion_tile.mma_async
// CHECK: math.exp
// CHECK: fusion_tile.mma_async
fusion_tile.program @read(%q: !llvm.ptr<1>, %k: !llvm.ptr<1>, %y: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, grid = affine_map<() -> (1)>, size_arguments = array<i64>, pipeline = #fusion_tile.pipeline<wgmma, stages = 2, skew = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %0 = fusion_tile.view %q[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf16>
  %1 = fusion_tile.view %k[] {shape = affine_map<() -> (256, 64)>} : !llvm.ptr<1> to <256x64xf16>
  %2 = fusion_tile.view %y[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %a = fusion_tile.load %0[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : <64x64xf16> -> tensor<64x64xf16>
  %init = fusion_tile.splat %zero : f32 -> tensor<64x64xf32>
  %r:2 = scf.for %i = %c0 to %c256 step %c64 iter_args(%o = %init, %m = %init) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %b = fusion_tile.load %1[affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>] (%i) checked [false, false] : <256x64xf16> -> tensor<64x64xf16>
    %s = fusion_tile.dot %a, %b, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %n = arith.addf %m, %o : tensor<64x64xf32>
    %e = math.exp %s : tensor<64x64xf32>
    %p = arith.truncf %e : tensor<64x64xf32> to tensor<64x64xf16>
    %v = fusion_tile.load %1[affine_map<(d0, d1)[s0] -> (d1 + s0, d0)>] (%i) checked [false, false] : <256x64xf16> -> tensor<64x64xf16>
    %t = fusion_tile.dot %p, %v, %o : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %t, %n : tensor<64x64xf32>, tensor<64x64xf32>
  }
  fusion_tile.store %r#1, %2[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  fusion_tile.return
}

// A walk of no turns gives what it begins with.
// CHECK-LABEL: fusion_tile.program @limited
// CHECK: consumer {
// CHECK: %[[SOME:.*]] = arith.cmpi slt, %{{.*}}, %[[END:.*]] : index
// CHECK: %[[R:.*]]:4 = scf.if %[[SOME]]
// CHECK: fusion_tile.mma_async
// CHECK: scf.for {{.*}} to %[[END]]
// CHECK: fusion_tile.mma_async
// CHECK: fusion_tile.mma_async
// CHECK: fusion_tile.mma_async
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[INIT:.*]], %[[INIT]], %[[Z:.*]], %[[Z]]
// CHECK: fusion_tile.async_store %[[R]]#0
fusion_tile.program @limited(%q: !llvm.ptr<1>, %k: !llvm.ptr<1>, %y: !llvm.ptr<1>, %z: !llvm.ptr<1>, %keys: i64) attributes {num_warps = 4 : i64, index_bits = 32 : i64, grid = affine_map<() -> (1)>, size_arguments = array<i64: 4>, pipeline = #fusion_tile.pipeline<wgmma, stages = 2, skew = 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %0 = fusion_tile.view %q[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf16>
  %1 = fusion_tile.view %k[] {shape = affine_map<() -> (256, 64)>} : !llvm.ptr<1> to <256x64xf16>
  %2 = fusion_tile.view %y[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %3 = fusion_tile.view %z[] {shape = affine_map<() -> (64, 64)>} : !llvm.ptr<1> to <64x64xf32>
  %a = fusion_tile.load %0[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : <64x64xf16> -> tensor<64x64xf16>
  %init = fusion_tile.splat %zero : f32 -> tensor<64x64xf32>
  %end = arith.index_cast %keys : i64 to index
  %r:2 = scf.for %i = %c0 to %end step %c64 iter_args(%o = %init, %m = %init) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %b = fusion_tile.load %1[affine_map<(d0, d1)[s0] -> (d0 + s0, d1)>] (%i) checked [false, false] : <256x64xf16> -> tensor<64x64xf16>
    %s = fusion_tile.dot %a, %b, %init : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %n = arith.addf %m, %s : tensor<64x64xf32>
    %e = math.exp %s : tensor<64x64xf32>
    %p = arith.truncf %e : tensor<64x64xf32> to tensor<64x64xf16>
    %v = fusion_tile.load %1[affine_map<(d0, d1)[s0] -> (d1 + s0, d0)>] (%i) checked [false, false] : <256x64xf16> -> tensor<64x64xf16>
    %t = fusion_tile.dot %p, %v, %o : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %t, %n : tensor<64x64xf32>, tensor<64x64xf32>
  }
  fusion_tile.store %r#0, %2[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  fusion_tile.store %r#1, %3[affine_map<(d0, d1) -> (d0, d1)>] () checked [false, false] : tensor<64x64xf32>, <64x64xf32>
  fusion_tile.return
}

