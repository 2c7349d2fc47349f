// Blocks that walk what is scanned together: tiles are dealt out in rounds, each
// block scans its own from what it learns of those before it, and whole rounds
// are walked apart from the last.

// RUN: fusion-opt %s --split-input-file --verify-diagnostics --fusion-codegen-lower-to-tile | FileCheck %s

// Two rows, three blocks each: two rounds of 384 elements, and 232 more.
// CHECK-LABEL: fusion_tile.program @forwards
// CHECK-SAME: together = 3
// CHECK: %[[MEMORY:.*]] = fusion_tile.scratch 224 signals : !llvm.ptr<1>
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: %[[ROW:.*]] = arith.divui %[[BLOCK]], %{{.*}} : index
// CHECK: %[[RANK:.*]] = arith.remui %[[BLOCK]], %{{.*}} : index
// CHECK: %[[LAST:.*]] = scf.for %[[I:.*]] = %{{.*}} to %c768{{.*}} step %[[STEP:c384.*]] iter_args(%[[CARRY:.*]] = %{{.*}}) -> (f32)
// CHECK:   %[[TURN:.*]] = arith.divui %[[I]], %[[STEP]] : index
// CHECK:   %[[OWN:.*]] = arith.muli %[[RANK]], %c128{{.*}} : index
// CHECK:   %[[AT:.*]] = arith.addi %[[I]], %[[OWN]] : index
// CHECK:   %[[X:.*]] = fusion_tile.load %{{.*}} (%{{.*}}, %[[AT]]) checked [false, false]
// CHECK:   %{{.*}}, %[[TOTAL:.*]] = fusion_tile.scan %[[X]] inits(%{{.*}} : f32) along 0 : tensor<128xf32>
// CHECK:   fusion_tile.panel_publish %[[TOTAL]] through %[[MEMORY]][%[[ROW]], %[[RANK]], %[[TURN]]] members 3 copies 4 at 16 of 112 : !llvm.ptr<1>, f32
// CHECK:   %[[BEFORE:.*]], %[[NEXT:.*]] = fusion_tile.panel_scan from %[[CARRY]] through %[[MEMORY]][%[[ROW]], %[[RANK]], %[[TURN]]] members 3 copies 4 at 16 of 112 : !llvm.ptr<1>, f32 {
// CHECK:     arith.addf
// CHECK:   %[[Y:.*]], %{{.*}} = fusion_tile.scan %[[X]] inits(%[[BEFORE]] : f32) along 0 exclusive :
// CHECK:   fusion_tile.store %[[Y]], %{{.*}} (%{{.*}}, %[[AT]]) checked [false, false]
// CHECK:   scf.yield %[[NEXT]] : f32
// A block is to load its next tile before it waits for others.
// CHECK-NEXT: } {fusion_tile.load_ahead}
// CHECK: scf.for %[[J:.*]] = %c768{{.*}} to %c1000{{.*}} step %{{.*}} iter_args(%{{.*}} = %[[LAST]]) -> (f32)
// CHECK:   arith.divui %[[J]]
// CHECK:   fusion_tile.load {{.*}} checked [false, true]
// The pieces count their rounds together, and share their words.
// CHECK:   fusion_tile.panel_scan {{.*}} members 3 copies 4 at 16 of 112 :
// CHECK: fusion_tile.panel_leave %[[MEMORY]][%[[ROW]]] arrivals 3 of 112
func.func @main(%a: tensor<2x1000xf32>) -> tensor<2x1000xf32> {
  %r = fusion.kernel @forwards ins(%a : tensor<2x1000xf32>) -> (tensor<2x1000xf32>)
      attributes {schedule = #fusion.schedule<scan, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 128, split = 3>], warps = 2>} {
  ^bb0(%x: tensor<2x1000xf32>):
    %zero = arith.constant 0.0 : f32
    %s = fusion.scan exclusive ins(%x : tensor<2x1000xf32>) inits(%zero : f32) axis(1) -> tensor<2x1000xf32> {
    ^bb1(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      fusion.yield %w : f32
    }
    fusion.yield %s : tensor<2x1000xf32>
  }
  return %r : tensor<2x1000xf32>
}

// -----

// Backwards, what is left of the last round comes first, as round 0, and the
// first block has the last tile.
// CHECK-LABEL: fusion_tile.program @backwards
// CHECK: scf.for %[[I:.*]] = %c768{{.*}} to %c1000{{.*}} step
// CHECK:   %[[TURN:.*]] = arith.constant 0 : index
// CHECK:   %[[MIRROR:.*]] = arith.subi %c2{{.*}}, %[[RANK:.*]] : index
// CHECK:   %[[OWN:.*]] = arith.muli %[[MIRROR]], %c128
// CHECK:   arith.addi %{{.*}}, %[[OWN]]
// CHECK:   arith.select
// CHECK:   fusion_tile.panel_publish {{.*}}[%{{.*}}, %[[RANK]], %[[TURN]]]
// CHECK: scf.for %[[J:.*]] = %c0{{.*}} to %c768{{.*}} step
// CHECK:   %[[ROUND:.*]] = arith.divui %[[J]]
// CHECK:   %[[NUMBER:.*]] = arith.addi %[[ROUND]], %c1
// CHECK-NOT: arith.select
// CHECK:   fusion_tile.panel_publish {{.*}}[%{{.*}}, %[[RANK]], %[[NUMBER]]]
func.func @main(%a: tensor<2x1000xf32>) -> tensor<2x1000xf32> {
  %r = fusion.kernel @backwards ins(%a : tensor<2x1000xf32>) -> (tensor<2x1000xf32>)
      attributes {schedule = #fusion.schedule<scan, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 128, split = 3>], warps = 2>} {
  ^bb0(%x: tensor<2x1000xf32>):
    %zero = arith.constant 0.0 : f32
    %s = fusion.scan reverse ins(%x : tensor<2x1000xf32>) inits(%zero : f32) axis(1) -> tensor<2x1000xf32> {
    ^bb1(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      fusion.yield %w : f32
    }
    fusion.yield %s : tensor<2x1000xf32>
  }
  return %r : tensor<2x1000xf32>
}

// -----

func.func @main(%a: tensor<2x1000xf64>) -> tensor<2x1000xf64> {
  // expected-error @below {{FUS-3125: the schedule lets blocks of the grid share a dimension ('full' or 'split'), but a state of their scan has more than 32 bits}}
  %r = fusion.kernel @wide ins(%a : tensor<2x1000xf64>) -> (tensor<2x1000xf64>)
      attributes {schedule = #fusion.schedule<scan, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 128, split = 3>], warps = 2>} {
  ^bb0(%x: tensor<2x1000xf64>):
    %zero = arith.constant 0.0 : f64
    %s = fusion.scan ins(%x : tensor<2x1000xf64>) inits(%zero : f64) axis(1) -> tensor<2x1000xf64> {
    ^bb1(%u: f64, %v: f64):
      %w = arith.addf %u, %v : f64
      fusion.yield %w : f64
    }
    fusion.yield %s : tensor<2x1000xf64>
  }
  return %r : tensor<2x1000xf64>
}

// -----

func.func @main(%a: tensor<2x1000xf32>) -> tensor<2x1000xf32> {
  // expected-error @below {{FUS-3125: the schedule lets blocks of the grid share a dimension ('full' or 'split'), but each walks it element by element}}
  %r = fusion.kernel @elements ins(%a : tensor<2x1000xf32>) -> (tensor<2x1000xf32>)
      attributes {schedule = #fusion.schedule<scan, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 1, split = 3>], warps = 2>} {
  ^bb0(%x: tensor<2x1000xf32>):
    %zero = arith.constant 0.0 : f32
    %s = fusion.scan ins(%x : tensor<2x1000xf32>) inits(%zero : f32) axis(1) -> tensor<2x1000xf32> {
    ^bb1(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      fusion.yield %w : f32
    }
    fusion.yield %s : tensor<2x1000xf32>
  }
  return %r : tensor<2x1000xf32>
}

// -----

func.func @main(%a: tensor<?x1000xf32>) -> tensor<?x1000xf32> {
  // expected-error @below {{FUS-3125: the schedule lets blocks of the grid share a dimension ('full' or 'split'), but how many there are is known at run time only}}
  %r = fusion.kernel @rows ins(%a : tensor<?x1000xf32>) -> (tensor<?x1000xf32>)
      attributes {schedule = #fusion.schedule<scan, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 128, split = 3>], warps = 2>} {
  ^bb0(%x: tensor<?x1000xf32>):
    %zero = arith.constant 0.0 : f32
    %s = fusion.scan ins(%x : tensor<?x1000xf32>) inits(%zero : f32) axis(1) -> tensor<?x1000xf32> {
    ^bb1(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      fusion.yield %w : f32
    }
    fusion.yield %s : tensor<?x1000xf32>
  }
  return %r : tensor<?x1000xf32>
}
