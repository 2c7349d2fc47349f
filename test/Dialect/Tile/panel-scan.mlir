// RUN: fusion-opt %s --split-input-file | fusion-opt --split-input-file | FileCheck %s --check-prefix=PARSED
// RUN: fusion-opt %s --split-input-file --pass-pipeline="builtin.module(fusion_tile.program(fusion-tile-assign-layouts,fusion-tile-lower-exchanges,fusion-tile-allocate-shared-memory,fusion-tile-place-barriers))" | FileCheck %s

// Four blocks walk a row in rounds. What the threads of a block tell each other
// for the total of its tile, they do not tell again for its elements; the first
// warp exchanges with the other blocks, and tells the others what is before it.

// PARSED-LABEL: fusion_tile.program @round
// PARSED: fusion_tile.panel_publish %{{.*}} through %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] members 4 copies 2 at 16 of 80 : !llvm.ptr<1>, f32
// PARSED: %{{.*}}, %{{.*}} = fusion_tile.panel_scan from %{{.*}} through %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] members 4 copies 2 at 16 of 80 : !llvm.ptr<1>, f32 {
// PARSED-NEXT: ^bb0(%[[U:.*]]: f32, %[[V:.*]]: f32):
// PARSED-NEXT: %[[W:.*]] = arith.addf %[[U]], %[[V]] : f32
// PARSED-NEXT: fusion_tile.yield %[[W]] : f32

// CHECK-LABEL: fusion_tile.program @round
// CHECK: scf.for {{.*}} iter_args(%[[CARRY:.*]] = %{{.*}}) -> (f32)
// CHECK: %[[X:.*]] = fusion_tile.load
// Threads combine their neighbours, which lanes and warps scan.
// CHECK: %{{.*}}, %[[RUNS:.*]] = fusion_tile.scan %[[X]] along 0 parts 512 :
// CHECK: %{{.*}}, %[[OWN:.*]] = fusion_tile.scan %[[RUNS]] along 0 parts 16 :
// CHECK: fusion_tile.local_store %[[OWN]]
// CHECK-NEXT: fusion_tile.barrier
// CHECK-NEXT: %[[ALL:.*]] = fusion_tile.local_load
// CHECK-NEXT: %[[WARPS:.*]], %[[TOTAL:.*]] = fusion_tile.scan %[[ALL]] inits(%{{.*}} : f32) along 0 exclusive : {{.*}} totals f32
// CHECK: %[[START:.*]] = fusion_tile.convert_layout %[[WARPS]]
// CHECK: %[[STARTS:.*]], %{{.*}} = fusion_tile.scan %[[RUNS]] inits(%[[START]] : {{.*}}) along 0 parts 16 exclusive :
// CHECK: fusion_tile.panel_publish %[[TOTAL]]
// CHECK: %[[INIT:.*]] = fusion_tile.splat %[[CARRY]] : f32 -> tensor<1xf32, #[[ONE:.*]]>
// CHECK: %[[BEFORE:.*]], %[[NEXT:.*]] = fusion_tile.panel_scan from %[[INIT]] through {{.*}} by_owners : !llvm.ptr<1>, tensor<1xf32, #[[ONE]]> {
// CHECK: fusion_tile.local_store %[[BEFORE]]
// CHECK: fusion_tile.barrier
// CHECK: %[[TOLD:.*]] = fusion_tile.local_load
// CHECK: %[[PLACE:.*]] = fusion_tile.reduce %[[TOLD]] along 0 :
// What follows the round concerns the next exchange alone.
// CHECK-NOT: fusion_tile.local_store
// CHECK: %[[LATER:.*]] = fusion_tile.reduce %[[NEXT]] along 0 :
// CHECK: %[[PLACES:.*]] = fusion_tile.splat %[[PLACE]]
// CHECK: %[[BEGIN:.*]] = arith.addf %[[PLACES]], %[[STARTS]]
// CHECK: fusion_tile.scan %[[X]] inits(%[[BEGIN]] : {{.*}}) along 0 parts 512 in_order :
// CHECK: scf.yield %[[LATER]]
fusion_tile.program @round(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {num_warps = 4 : i64, index_bits = 32 : i64, together = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c2048 = arith.constant 2048 : index
  %c8192 = arith.constant 8192 : index
  %c32768 = arith.constant 32768 : index
  %zero = arith.constant 0.0 : f32
  %memory = fusion_tile.scratch 80 signals : !llvm.ptr<1>
  %member = gpu.block_id x
  %x = fusion_tile.view %p[] : !llvm.ptr<1> to !fusion_tile.view<32768xf32>
  %y = fusion_tile.view %q[] : !llvm.ptr<1> to !fusion_tile.view<32768xf32>
  %own = arith.muli %member, %c2048 : index
  %last = scf.for %i = %c0 to %c32768 step %c8192 iter_args(%carry = %zero) -> (f32) {
    %turn = arith.divui %i, %c8192 : index
    %at = arith.addi %i, %own : index
    %t = fusion_tile.load %x[affine_map<(a)[s] -> (a + s)>] (%at) checked [false] : !fusion_tile.view<32768xf32> -> tensor<2048xf32>
    %o, %total = fusion_tile.scan %t inits(%zero : f32) along 0 : tensor<2048xf32> -> tensor<2048xf32> totals f32 {
    ^bb0(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      fusion_tile.yield %w : f32
    }
    fusion_tile.panel_publish %total through %memory[%c0, %member, %turn] members 4 copies 2 at 16 of 80 : !llvm.ptr<1>, f32
    %before, %next = fusion_tile.panel_scan from %carry through %memory[%c0, %member, %turn] members 4 copies 2 at 16 of 80 : !llvm.ptr<1>, f32 {
    ^bb0(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      fusion_tile.yield %w : f32
    }
    %r, %unused = fusion_tile.scan %t inits(%before : f32) along 0 : tensor<2048xf32> -> tensor<2048xf32> totals f32 {
    ^bb0(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      fusion_tile.yield %w : f32
    }
    fusion_tile.store %r, %y[affine_map<(a)[s] -> (a + s)>] (%at) checked [false] : tensor<2048xf32>, !fusion_tile.view<32768xf32>
    scf.yield %next : f32
  }
  fusion_tile.panel_leave %memory[%c0] arrivals 4 of 80 : !llvm.ptr<1>
  fusion_tile.return
}
