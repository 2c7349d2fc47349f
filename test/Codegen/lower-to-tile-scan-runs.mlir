// Blocks that have a run of several tiles of what is scanned in every round,
// divided into parts that threads walk side by side: once for their totals, and
// once from what comes before them.

// RUN: fusion-opt %s --split-input-file --verify-diagnostics --fusion-codegen-lower-to-tile | FileCheck %s

// Five blocks with runs of 96 elements, eight parts of twelve each: three rounds.
// CHECK: #[[PLACE:.*]] = affine_map<(d0, d1, d2)[s0, s1] -> (d1 * 12 + d2 + s0, d0 + s1)>
// CHECK-LABEL: fusion_tile.program @forwards
// CHECK-NOT: resident
// CHECK-SAME: together = 5
// CHECK: %[[RANK:.*]] = arith.remui %block_id_x
// CHECK: scf.for %[[ROUND:.*]] = %{{.*}} to %c3 step %{{.*}} iter_args(%[[CARRY:.*]] = %{{.*}}) -> (tensor<32xf32>)
// CHECK:   %[[FIRST:.*]] = arith.muli %[[ROUND]], %c5
// CHECK:   %[[NUMBER:.*]] = arith.addi %[[FIRST]], %[[RANK]]
// CHECK:   %[[BEGIN:.*]] = arith.muli %[[NUMBER]], %c96
// The parts' totals: no thread waits for another.
// CHECK:   %[[TOTALS:.*]] = scf.for %[[I:.*]] = %{{.*}} to %c12{{.*}} step %c4{{.*}} iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (tensor<32x8xf32>)
// CHECK:     %[[AT:.*]] = arith.addi %[[BEGIN]], %[[I]]
// CHECK:     %[[X:.*]] = fusion_tile.load %{{.*}}[#[[PLACE]]] (%[[AT]], %{{.*}}) checked [true, true]
// CHECK:     %{{.*}}, %[[NEXT:.*]] = fusion_tile.scan %[[X]] inits(%[[SO_FAR]] : tensor<32x8xf32>) along 2 in_order
// CHECK:     scf.yield %[[NEXT]]
// CHECK-NEXT: } {fusion_tile.load_ahead}
// Then what comes before the block, and before each of its parts.
// CHECK:   %{{.*}}, %[[OWN:.*]] = fusion_tile.scan %[[TOTALS]] inits({{.*}}) along 1 : tensor<32x8xf32>
// CHECK:   fusion_tile.panel_publish %[[OWN]] through %{{.*}}[%{{.*}}, %[[RANK]], %[[ROUND]]] members 5 copies 4
// CHECK:   %[[BEFORE:.*]], %[[AFTER:.*]] = fusion_tile.panel_scan from %[[CARRY]]
// CHECK:   %[[STARTS:.*]], %{{.*}} = fusion_tile.scan %[[TOTALS]] inits(%[[BEFORE]] : tensor<32xf32>) along 1 exclusive
// CHECK:   scf.for %{{.*}} = %{{.*}} to %c12{{.*}} step %c4{{.*}} iter_args(%[[FROM:.*]] = %[[STARTS]])
// CHECK:     %[[Y:.*]], %{{.*}} = fusion_tile.scan %{{.*}} inits(%[[FROM]] : tensor<32x8xf32>) along 2 in_order
// CHECK:     fusion_tile.store %[[Y]], %{{.*}}[#[[PLACE]]] {{.*}} checked [true, true]
// CHECK:   scf.yield %[[AFTER]] : tensor<32xf32>
// CHECK: fusion_tile.panel_leave
func.func @main(%a: tensor<1000x24xf32>) -> tensor<1000x24xf32> {
  %r = fusion.kernel @forwards ins(%a : tensor<1000x24xf32>) -> (tensor<1000x24xf32>)
      attributes {schedule = #fusion.schedule<scan, axes = [#fusion.axis<loop, tile = 32, vector = 4, steps = 3, split = 5>, #fusion.axis<grid, tile = 32>], warps = 2>} {
  ^bb0(%x: tensor<1000x24xf32>):
    %zero = arith.constant 0.0 : f32
    %s = fusion.scan ins(%x : tensor<1000x24xf32>) inits(%zero : f32) axis(0) -> tensor<1000x24xf32> {
    ^bb1(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      fusion.yield %w : f32
    }
    fusion.yield %s : tensor<1000x24xf32>
  }
  return %r : tensor<1000x24xf32>
}

// -----

// Backwards the first round has the last runs, each part is walked from its end,
// and what lies past the end of the dimension, which comes first, is left out.
// CHECK-LABEL: fusion_tile.program @backwards
// CHECK: %[[LAST:.*]] = arith.constant 14 : index
// CHECK: scf.for
// CHECK:   %[[MIRROR:.*]] = arith.subi %[[LAST]], %{{.*}} : index
// CHECK:   arith.muli %[[MIRROR]], %c96
// CHECK:   scf.for
// CHECK:     arith.select
// CHECK:     fusion_tile.scan {{.*}} along 2 reverse in_order
// CHECK:   fusion_tile.scan {{.*}} along 1 reverse
// CHECK:   fusion_tile.scan {{.*}} along 1 exclusive reverse
// CHECK:   scf.for
// CHECK:     fusion_tile.scan {{.*}} along 2 reverse in_order
func.func @main(%a: tensor<1000x24xf32>) -> tensor<1000x24xf32> {
  %r = fusion.kernel @backwards ins(%a : tensor<1000x24xf32>) -> (tensor<1000x24xf32>)
      attributes {schedule = #fusion.schedule<scan, axes = [#fusion.axis<loop, tile = 32, vector = 4, steps = 3, split = 5>, #fusion.axis<grid, tile = 32>], warps = 2>} {
  ^bb0(%x: tensor<1000x24xf32>):
    %zero = arith.constant 0.0 : f32
    %s = fusion.scan reverse ins(%x : tensor<1000x24xf32>) inits(%zero : f32) axis(0) -> tensor<1000x24xf32> {
    ^bb1(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      fusion.yield %w : f32
    }
    fusion.yield %s : tensor<1000x24xf32>
  }
  return %r : tensor<1000x24xf32>
}

// -----

// More blocks than there are multiprocessors wait for each other: each of these
// has to have registers for two.
// CHECK-LABEL: fusion_tile.program @two_of_a_multiprocessor
// CHECK-SAME: resident = 2
// CHECK-SAME: together = 200
func.func @main(%a: tensor<20000x24xf32>) -> tensor<20000x24xf32> {
  %r = fusion.kernel @two_of_a_multiprocessor ins(%a : tensor<20000x24xf32>) -> (tensor<20000x24xf32>)
      attributes {schedule = #fusion.schedule<scan, axes = [#fusion.axis<loop, tile = 32, vector = 4, steps = 4, split = 200>, #fusion.axis<grid, tile = 32>], warps = 2>} {
  ^bb0(%x: tensor<20000x24xf32>):
    %zero = arith.constant 0.0 : f32
    %s = fusion.scan ins(%x : tensor<20000x24xf32>) inits(%zero : f32) axis(0) -> tensor<20000x24xf32> {
    ^bb1(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      fusion.yield %w : f32
    }
    fusion.yield %s : tensor<20000x24xf32>
  }
  return %r : tensor<20000x24xf32>
}

// -----

// What is reduced along the dimension that is scanned is reduced along all of it.
// CHECK-LABEL: fusion_tile.program @beside_a_maximum
// CHECK: scf.for %{{.*}} = %{{.*}} to %c1000{{.*}} step
// CHECK:   fusion_tile.reduce
// CHECK: fusion_tile.panel_scan
func.func @main(%a: tensor<1000x24xf32>) -> tensor<1000x24xf32> {
  %r = fusion.kernel @beside_a_maximum ins(%a : tensor<1000x24xf32>) -> (tensor<1000x24xf32>)
      attributes {schedule = #fusion.schedule<scan, axes = [#fusion.axis<loop, tile = 32, vector = 4, steps = 3, split = 5>, #fusion.axis<grid, tile = 32>], warps = 2>} {
  ^bb0(%x: tensor<1000x24xf32>):
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<24xf32>
    %f = linalg.fill ins(%lowest : f32) outs(%e : tensor<24xf32>) -> tensor<24xf32>
    %m = linalg.reduce { arith.maximumf } ins(%x : tensor<1000x24xf32>) outs(%f : tensor<24xf32>) dimensions = [0]
    %o = tensor.empty() : tensor<1000x24xf32>
    %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<1000x24xf32>, tensor<24xf32>) outs(%o : tensor<1000x24xf32>) {
    ^bb1(%p: f32, %q: f32, %out: f32):
      %k = arith.subf %p, %q : f32
      linalg.yield %k : f32
    } -> tensor<1000x24xf32>
    %s = fusion.scan ins(%d : tensor<1000x24xf32>) inits(%zero : f32) axis(0) -> tensor<1000x24xf32> {
    ^bb1(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      fusion.yield %w : f32
    }
    fusion.yield %s : tensor<1000x24xf32>
  }
  return %r : tensor<1000x24xf32>
}

// -----

func.func @main(%a: tensor<1000x24xf32>) -> tensor<1000x24xf32> {
  // expected-error @below {{in 9 steps they walk more than there is}}
  %r = fusion.kernel @too_long ins(%a : tensor<1000x24xf32>) -> (tensor<1000x24xf32>)
      attributes {schedule = #fusion.schedule<scan, axes = [#fusion.axis<loop, tile = 32, vector = 4, steps = 9, split = 5>, #fusion.axis<grid, tile = 32>], warps = 2>} {
  ^bb0(%x: tensor<1000x24xf32>):
    %zero = arith.constant 0.0 : f32
    %s = fusion.scan ins(%x : tensor<1000x24xf32>) inits(%zero : f32) axis(0) -> tensor<1000x24xf32> {
    ^bb1(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      fusion.yield %w : f32
    }
    fusion.yield %s : tensor<1000x24xf32>
  }
  return %r : tensor<1000x24xf32>
}

// -----

// Totals cannot be known before what they are totals of.
func.func @main(%a: tensor<1000x24xf32>) -> tensor<1000x24xf32> {
  // expected-error @below {{FUS-3125: the schedule lets blocks of the grid share a dimension ('full' or 'split'), but what they scan in runs of several tiles follows from another scan}}
  %r = fusion.kernel @twice ins(%a : tensor<1000x24xf32>) -> (tensor<1000x24xf32>)
      attributes {schedule = #fusion.schedule<scan, axes = [#fusion.axis<loop, tile = 32, vector = 4, steps = 3, split = 5>, #fusion.axis<grid, tile = 32>], warps = 2>} {
  ^bb0(%x: tensor<1000x24xf32>):
    %zero = arith.constant 0.0 : f32
    %s = fusion.scan ins(%x : tensor<1000x24xf32>) inits(%zero : f32) axis(0) -> tensor<1000x24xf32> {
    ^bb1(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      fusion.yield %w : f32
    }
    %t = fusion.scan ins(%s : tensor<1000x24xf32>) inits(%zero : f32) axis(0) -> tensor<1000x24xf32> {
    ^bb1(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      fusion.yield %w : f32
    }
    fusion.yield %t : tensor<1000x24xf32>
  }
  return %r : tensor<1000x24xf32>
}

// -----

func.func @main(%a: tensor<1000x24xf64>) -> tensor<1000x24xf64> {
  // expected-error @below {{but a state of their scan has more than 32 bits}}
  %r = fusion.kernel @wide ins(%a : tensor<1000x24xf64>) -> (tensor<1000x24xf64>)
      attributes {schedule = #fusion.schedule<scan, axes = [#fusion.axis<loop, tile = 32, vector = 4, steps = 3, split = 5>, #fusion.axis<grid, tile = 32>], warps = 2>} {
  ^bb0(%x: tensor<1000x24xf64>):
    %zero = arith.constant 0.0 : f64
    %s = fusion.scan ins(%x : tensor<1000x24xf64>) inits(%zero : f64) axis(0) -> tensor<1000x24xf64> {
    ^bb1(%u: f64, %v: f64):
      %w = arith.addf %u, %v : f64
      fusion.yield %w : f64
    }
    fusion.yield %s : tensor<1000x24xf64>
  }
  return %r : tensor<1000x24xf64>
}
