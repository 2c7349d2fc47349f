// RUN: fusion-opt %s --split-input-file | fusion-opt --split-input-file | FileCheck %s --check-prefix=PARSED
// RUN: fusion-opt %s --split-input-file --pass-pipeline="builtin.module(tile.program(tile-assign-layouts,tile-lower-exchanges,tile-allocate-shared-memory,tile-place-barriers))" | FileCheck %s

// Four blocks walk a row in rounds. What the threads of a block tell each other
// for the total of its tile, they do not tell again for its elements; the first
// warp exchanges with the other blocks, and tells the others what is before it.

// PARSED-LABEL: tile.program @round
// PARSED: tile.panel_publish %{{.*}} through %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] members 4 copies 2 at 16 of 80 : !llvm.ptr<1>, f32
// PARSED: %{{.*}}, %{{.*}} = tile.panel_scan from %{{.*}} through %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] members 4 copies 2 at 16 of 80 : !llvm.ptr<1>, f32 {
// PARSED-NEXT: ^bb0(%[[U:.*]]: f32, %[[V:.*]]: f32):
// PARSED-NEXT: %[[W:.*]] = arith.addf %[[U]], %[[V]] : f32
// PARSED-NEXT: tile.yield %[[W]] : f32

// CHECK-LABEL: tile.program @round
// CHECK: scf.for {{.*}} iter_args(%[[CARRY:.*]] = %{{.*}}) -> (f32)
// CHECK: %[[X:.*]] = tile.load
// Threads combine their neighbours, which lanes and warps scan.
// CHECK: %{{.*}}, %[[RUNS:.*]] = tile.scan %[[X]] along 0 parts 512 :
// CHECK: %{{.*}}, %[[OWN:.*]] = tile.scan %[[RUNS]] along 0 parts 16 :
// CHECK: tile.local_store %[[OWN]]
// CHECK-NEXT: tile.barrier
// CHECK-NEXT: %[[ALL:.*]] = tile.local_load
// CHECK-NEXT: %[[WARPS:.*]], %[[TOTAL:.*]] = tile.scan %[[ALL]] inits(%{{.*}} : f32) along 0 exclusive : {{.*}} totals f32
// CHECK: %[[START:.*]] = tile.convert_layout %[[WARPS]]
// CHECK: %[[STARTS:.*]], %{{.*}} = tile.scan %[[RUNS]] inits(%[[START]] : {{.*}}) along 0 parts 16 exclusive :
// CHECK: tile.panel_publish %[[TOTAL]]
// CHECK: %[[INIT:.*]] = tile.splat %[[CARRY]] : f32 -> tensor<1xf32, #[[ONE:.*]]>
// CHECK: %[[BEFORE:.*]], %[[NEXT:.*]] = tile.panel_scan from %[[INIT]] through {{.*}} by_owners : !llvm.ptr<1>, tensor<1xf32, #[[ONE]]> {
// CHECK: tile.local_store %[[BEFORE]]
// CHECK: tile.barrier
// CHECK: %[[TOLD:.*]] = tile.local_load
// CHECK: %[[PLACE:.*]] = tile.reduce %[[TOLD]] along 0 :
// What follows the round concerns the next exchange alone.
// CHECK-NOT: tile.local_store
// CHECK: %[[LATER:.*]] = tile.reduce %[[NEXT]] along 0 :
// CHECK: %[[PLACES:.*]] = tile.splat %[[PLACE]]
// CHECK: %[[BEGIN:.*]] = arith.addf %[[PLACES]], %[[STARTS]]
// CHECK: tile.scan %[[X]] inits(%[[BEGIN]] : {{.*}}) along 0 parts 512 in_order :
// CHECK: scf.yield %[[LATER]]
tile.program @round(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, together = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c2048 = arith.constant 2048 : index
  %c8192 = arith.constant 8192 : index
  %c32768 = arith.constant 32768 : index
  %zero = arith.constant 0.0 : f32
  %memory = tile.scratch 80 signals : !llvm.ptr<1>
  %member = gpu.block_id x
  %x = tile.view %p[] : !llvm.ptr<1> to !tile.view<32768xf32>
  %y = tile.view %q[] : !llvm.ptr<1> to !tile.view<32768xf32>
  %own = arith.muli %member, %c2048 : index
  %last = scf.for %i = %c0 to %c32768 step %c8192 iter_args(%carry = %zero) -> (f32) {
    %turn = arith.divui %i, %c8192 : index
    %at = arith.addi %i, %own : index
    %t = tile.load %x[affine_map<(a)[s] -> (a + s)>] (%at) checked [false] : !tile.view<32768xf32> -> tensor<2048xf32>
    %o, %total = tile.scan %t inits(%zero : f32) along 0 : tensor<2048xf32> -> tensor<2048xf32> totals f32 {
    ^bb0(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      tile.yield %w : f32
    }
    tile.panel_publish %total through %memory[%c0, %member, %turn] members 4 copies 2 at 16 of 80 : !llvm.ptr<1>, f32
    %before, %next = tile.panel_scan from %carry through %memory[%c0, %member, %turn] members 4 copies 2 at 16 of 80 : !llvm.ptr<1>, f32 {
    ^bb0(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      tile.yield %w : f32
    }
    %r, %unused = tile.scan %t inits(%before : f32) along 0 : tensor<2048xf32> -> tensor<2048xf32> totals f32 {
    ^bb0(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      tile.yield %w : f32
    }
    tile.store %r, %y[affine_map<(a)[s] -> (a + s)>] (%at) checked [false] : tensor<2048xf32>, !tile.view<32768xf32>
    scf.yield %next : f32
  }
  tile.panel_leave %memory[%c0] arrivals 4 of 80 : !llvm.ptr<1>
  tile.return
}
