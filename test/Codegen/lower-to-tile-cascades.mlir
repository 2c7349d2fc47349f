// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --canonicalize --split-input-file | FileCheck %s
// RUN: fusion-opt %s --fusion-codegen-lower-to-tile --split-input-file | FileCheck %s --check-prefix=BUILT

// A sum along a dimension of unknown size: parts of 512 steps, each from zero.
// A maximum beside it goes on through all parts. What lies beyond the last whole
// chunk is added at the end, and only there loads are masked.

// CHECK-LABEL: fusion_tile.program @unknown
// CHECK-DAG: %[[PART:.*]] = arith.constant 16384 : index
// CHECK-DAG: %[[STEP:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[ZERO:.*]] = fusion_tile.splat %{{.*}} : f32 -> tensor<32xf32>
// CHECK: %[[ALL:.*]]:2 = scf.for %[[I:.*]] = %{{.*}} to %[[N:.*]] step %[[PART]] iter_args(%[[SUM:.*]] = %[[ZERO]], %[[MAX:.*]] = %
// CHECK:   %[[NEXT:.*]] = arith.addi %[[I]], %[[PART]]
// CHECK:   %[[END:.*]] = arith.minui %[[NEXT]], %[[N]]
// CHECK:   %[[OWN:.*]]:2 = scf.for %[[K:.*]] = %[[I]] to %[[END]] step %[[STEP]] iter_args(%[[S:.*]] = %[[ZERO]], %[[M:.*]] = %[[MAX]])
// CHECK:     fusion_tile.load {{.*}}%[[K]]) checked [false] :
// CHECK:     arith.addf %[[S]]
// CHECK:     arith.maximumf %[[M]]
// CHECK:   %[[BOTH:.*]] = arith.addf %[[SUM]], %[[OWN]]#0
// CHECK:   scf.yield %[[BOTH]], %[[OWN]]#1
// CHECK: %[[REST:.*]]:2 = scf.for {{.*}} step %[[STEP]] iter_args(%{{.*}} = %[[ALL]]#0, %{{.*}} = %[[ALL]]#1)
// CHECK:   fusion_tile.load {{.*}} checked [true] :
// CHECK: fusion_tile.reduce %[[REST]]#0
//
// The maximum is not even combined where a part ends.
// BUILT-LABEL: fusion_tile.program @unknown
// BUILT: arith.maximumf
// BUILT: scf.yield
// BUILT-NOT: arith.maximumf
// BUILT: scf.yield
func.func @unknown(%x: tensor<?xf32>) -> (tensor<f32>, tensor<f32>) {
  %0:2 = fusion.kernel @unknown ins(%x : tensor<?xf32>) -> (tensor<f32>, tensor<f32>)
      attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<loop, tile = 32>], warps = 1>} {
  ^bb0(%a: tensor<?xf32>):
    %z = arith.constant 0.0 : f32
    %l = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %g = linalg.fill ins(%l : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%a : tensor<?xf32>) outs(%f, %g : tensor<f32>, tensor<f32>) {
    ^bb1(%u: f32, %o: f32, %p: f32):
      %s = arith.addf %o, %u : f32
      %m = arith.maximumf %p, %u : f32
      linalg.yield %s, %m : f32, f32
    } -> (tensor<f32>, tensor<f32>)
    fusion.yield %r#0, %r#1 : tensor<f32>, tensor<f32>
  }
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
}

// -----

// 8 chunks in each of 32768 rows: as many terms in a part, 8 in each of 64 rows,
// as there are parts.

// CHECK-LABEL: fusion_tile.program @rows
// CHECK-DAG: %[[ROWS:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[CHUNK:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[ZERO:.*]] = fusion_tile.splat %{{.*}} : f32 -> tensor<32xf32>
// CHECK: scf.for {{.*}} step %[[ROWS]] iter_args(%[[SUM:.*]] =
// CHECK:   %[[PART:.*]] = scf.for {{.*}} iter_args(%[[OWN:.*]] = %[[ZERO]])
// CHECK:     scf.for {{.*}} step %[[CHUNK]] iter_args(%{{.*}} = %[[OWN]])
// CHECK:   arith.addf %[[SUM]], %[[PART]]
func.func @rows(%x: tensor<32768x256xf32>) -> tensor<f32> {
  %0 = fusion.kernel @rows ins(%x : tensor<32768x256xf32>) -> (tensor<f32>)
      attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<loop, tile = 1>, #fusion.axis<loop, tile = 32>], warps = 1>} {
  ^bb0(%a: tensor<32768x256xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%a : tensor<32768x256xf32>) outs(%f : tensor<f32>) {
    ^bb1(%u: f32, %o: f32):
      %s = arith.addf %o, %u : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    fusion.yield %r : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// 512 chunks are added up in one go, and so are numbers that do not round as
// f32 do.

// CHECK-LABEL: fusion_tile.program @short
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: fusion_tile.return
// CHECK-LABEL: fusion_tile.program @wide
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: fusion_tile.return
func.func @main(%x: tensor<16384xf32>, %y: tensor<1048576xf64>) -> (tensor<f32>, tensor<f64>) {
  %0 = fusion.kernel @short ins(%x : tensor<16384xf32>) -> (tensor<f32>)
      attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<loop, tile = 32>], warps = 1>} {
  ^bb0(%a: tensor<16384xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %r = linalg.reduce { arith.addf } ins(%a : tensor<16384xf32>) outs(%f : tensor<f32>) dimensions = [0]
    fusion.yield %r : tensor<f32>
  }
  %1 = fusion.kernel @wide ins(%y : tensor<1048576xf64>) -> (tensor<f64>)
      attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<loop, tile = 32>], warps = 1>} {
  ^bb0(%a: tensor<1048576xf64>):
    %z = arith.constant 0.0 : f64
    %e = tensor.empty() : tensor<f64>
    %f = linalg.fill ins(%z : f64) outs(%e : tensor<f64>) -> tensor<f64>
    %r = linalg.reduce { arith.addf } ins(%a : tensor<1048576xf64>) outs(%f : tensor<f64>) dimensions = [0]
    fusion.yield %r : tensor<f64>
  }
  return %0, %1 : tensor<f32>, tensor<f64>
}
