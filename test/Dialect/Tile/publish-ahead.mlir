// RUN: fusion-opt %s --split-input-file --pass-pipeline="builtin.module(fusion_tile.program(fusion-tile-publish-ahead))" | FileCheck %s

// Three rounds and a rest. Of the first round what leads to its words is done
// before the loop, of each other one round ahead; the rest's words are published
// before those of the last round are collected.

// CHECK-LABEL: fusion_tile.program @rounds
// CHECK: %[[FIRST:.*]] = arith.addf %[[X:.*]], %[[X]]
// CHECK: fusion_tile.panel_publish %[[FIRST]] through {{.*}}, %c0{{.*}}]
// CHECK: %[[LAST:.*]]:3 = scf.for %[[I:.*]] = %c0{{.*}} to %c2{{.*}} step %{{.*}} iter_args(%[[CARRY:.*]] = %[[X]], %[[LOADED:.*]] = %{{.*}}, %[[NOW:.*]] = %[[FIRST]])
// CHECK:   %[[NEXT:.*]] = arith.addi %[[I]], %c1
// CHECK:   %[[AHEAD:.*]] = arith.mulf %{{.*}}, %{{.*}}
// CHECK:   %[[LATER:.*]] = arith.addf %[[LOADED]], %[[LOADED]]
// CHECK:   fusion_tile.panel_publish %[[LATER]] through {{.*}}, %[[NEXT]]]
// What only the exchange begins with is no part of what is done ahead.
// CHECK:   %[[INIT:.*]] = arith.addf %[[CARRY]], %[[CARRY]]
// CHECK:   fusion_tile.panel_scan from %[[INIT]] through {{.*}}, %[[I]]]
// CHECK:   %[[STATE:.*]] = arith.subf %{{.*}}, %[[NOW]]
// CHECK:   scf.yield %[[STATE]], %[[AHEAD]], %[[LATER]]
// CHECK: fusion_tile.panel_publish %[[X]] through {{.*}}, %c3{{.*}}]
// CHECK: fusion_tile.panel_scan from %{{.*}} through {{.*}}, %c2{{.*}}]
// CHECK: %[[END:.*]] = arith.subf %{{.*}}, %[[LAST]]#2
// CHECK: fusion_tile.panel_scan from %[[END]] through {{.*}}, %c3{{.*}}]
fusion_tile.program @rounds(%m: !llvm.ptr<1>, %p: index, %i: index, %x: f32) attributes {num_warps = 1 : i64, together = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %k = %c0 to %c3 step %c1 iter_args(%carry = %x, %loaded = %x) -> (f32, f32) {
    %ahead = arith.mulf %x, %x : f32
    %own = arith.addf %loaded, %loaded : f32
    fusion_tile.panel_publish %own through %m[%p, %i, %k] members 2 copies 4 at 16 of 80 : !llvm.ptr<1>, f32
    %init = arith.addf %carry, %carry : f32
    %b, %t = fusion_tile.panel_scan from %init through %m[%p, %i, %k] members 2 copies 4 at 16 of 80 : !llvm.ptr<1>, f32 {
    ^bb0(%u: f32, %v: f32):
      fusion_tile.yield %u : f32
    }
    %state = arith.subf %t, %own : f32
    scf.yield %state, %ahead : f32, f32
  }
  fusion_tile.panel_publish %x through %m[%p, %i, %c3] members 2 copies 4 at 16 of 80 : !llvm.ptr<1>, f32
  %b, %t = fusion_tile.panel_scan from %r#0 through %m[%p, %i, %c3] members 2 copies 4 at 16 of 80 : !llvm.ptr<1>, f32 {
  ^bb0(%u: f32, %v: f32):
    fusion_tile.yield %u : f32
  }
  fusion_tile.return
}

// -----

// A rest that comes first: the words of the first whole round are published
// before its own are collected.

// CHECK-LABEL: fusion_tile.program @backwards
// CHECK: fusion_tile.panel_publish
// CHECK: fusion_tile.panel_publish
// CHECK-NEXT: fusion_tile.panel_scan
// CHECK: scf.for
// CHECK:   fusion_tile.panel_publish
// CHECK:   fusion_tile.panel_scan
// CHECK: fusion_tile.panel_scan
fusion_tile.program @backwards(%m: !llvm.ptr<1>, %p: index, %i: index, %x: f32) attributes {num_warps = 1 : i64, together = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  fusion_tile.panel_publish %x through %m[%p, %i, %c0] members 2 copies 4 at 16 of 80 : !llvm.ptr<1>, f32
  %b, %t = fusion_tile.panel_scan from %x through %m[%p, %i, %c0] members 2 copies 4 at 16 of 80 : !llvm.ptr<1>, f32 {
  ^bb0(%u: f32, %v: f32):
    fusion_tile.yield %u : f32
  }
  %first = arith.mulf %x, %x : f32
  %r = scf.for %k = %c0 to %c3 step %c1 iter_args(%carry = %t) -> (f32) {
    %turn = arith.addi %k, %c1 : index
    %own = arith.addf %first, %first : f32
    fusion_tile.panel_publish %own through %m[%p, %i, %turn] members 2 copies 4 at 16 of 80 : !llvm.ptr<1>, f32
    %c, %next = fusion_tile.panel_scan from %carry through %m[%p, %i, %turn] members 2 copies 4 at 16 of 80 : !llvm.ptr<1>, f32 {
    ^bb0(%u: f32, %v: f32):
      fusion_tile.yield %u : f32
    }
    scf.yield %next : f32
  }
  fusion_tile.return
}

// -----

// With two copies a word of the round before would be written over.

// CHECK-LABEL: fusion_tile.program @two_copies
// CHECK-NOT: fusion_tile.panel_publish
// CHECK: scf.for
// CHECK: fusion_tile.panel_publish
// CHECK-NOT: fusion_tile.panel_publish

// What is published depends on what was collected: nothing can be done ahead.

// CHECK-LABEL: fusion_tile.program @dependent
// CHECK-NOT: fusion_tile.panel_publish
// CHECK: scf.for
// CHECK: fusion_tile.panel_publish
// CHECK-NOT: fusion_tile.panel_publish
fusion_tile.program @two_copies(%m: !llvm.ptr<1>, %p: index, %i: index, %x: f32) attributes {num_warps = 1 : i64, together = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %k = %c0 to %c3 step %c1 iter_args(%carry = %x) -> (f32) {
    fusion_tile.panel_publish %x through %m[%p, %i, %k] members 2 copies 2 at 16 of 48 : !llvm.ptr<1>, f32
    %b, %t = fusion_tile.panel_scan from %carry through %m[%p, %i, %k] members 2 copies 2 at 16 of 48 : !llvm.ptr<1>, f32 {
    ^bb0(%u: f32, %v: f32):
      fusion_tile.yield %u : f32
    }
    scf.yield %t : f32
  }
  fusion_tile.return
}
fusion_tile.program @dependent(%m: !llvm.ptr<1>, %p: index, %i: index, %x: f32) attributes {num_warps = 1 : i64, together = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %k = %c0 to %c3 step %c1 iter_args(%carry = %x) -> (f32) {
    fusion_tile.panel_publish %carry through %m[%p, %i, %k] members 2 copies 4 at 16 of 80 : !llvm.ptr<1>, f32
    %b, %t = fusion_tile.panel_scan from %carry through %m[%p, %i, %k] members 2 copies 4 at 16 of 80 : !llvm.ptr<1>, f32 {
    ^bb0(%u: f32, %v: f32):
      fusion_tile.yield %u : f32
    }
    scf.yield %t : f32
  }
  fusion_tile.return
}
