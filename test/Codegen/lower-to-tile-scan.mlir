// RUN: fusion-opt %s --fusion-codegen-lower-to-tile | FileCheck %s

// A linear recurrence and what consumes it run in one walk over time.

// CHECK-LABEL: fusion_tile.program @recurrence
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[H:.*]] = %{{.*}}) -> (tensor<64xf32>, tensor<64xf32>)
// CHECK:   %[[AT:.*]] = fusion_tile.load {{.*}} -> tensor<64xf32>
// CHECK:   %[[BT:.*]] = fusion_tile.load {{.*}} -> tensor<64xf32>
// CHECK:   %[[P:.*]] = arith.mulf %[[AT]], %[[H]]
// CHECK:   %[[NEXT:.*]] = arith.addf %[[P]], %[[BT]]
// CHECK:   %[[OUT:.*]] = arith.negf %[[NEXT]]
// CHECK:   fusion_tile.store %[[OUT]]
// CHECK:   scf.yield %{{.*}}, %[[NEXT]]
func.func @main(%a: tensor<100x64xf32>, %b: tensor<100x64xf32>) -> tensor<100x64xf32> {
  %r = fusion.kernel @recurrence ins(%a, %b : tensor<100x64xf32>, tensor<100x64xf32>) -> (tensor<100x64xf32>)
      attributes {schedule = #fusion.schedule<scan, axes = [#fusion.axis<loop, tile = 1>, #fusion.axis<grid, tile = 64>], warps = 2>} {
  ^bb0(%x: tensor<100x64xf32>, %y: tensor<100x64xf32>):
    %one = arith.constant 1.0 : f32
    %zero = arith.constant 0.0 : f32
    %s:2 = fusion.scan ins(%x, %y : tensor<100x64xf32>, tensor<100x64xf32>) inits(%one, %zero : f32, f32) axis(0)
        -> tensor<100x64xf32>, tensor<100x64xf32> {
    ^bb1(%a1: f32, %b1: f32, %a2: f32, %b2: f32):
      %p = arith.mulf %a1, %a2 : f32
      %q = arith.mulf %a2, %b1 : f32
      %t = arith.addf %q, %b2 : f32
      fusion.yield %p, %t : f32, f32
    }
    %e = tensor.empty() : tensor<100x64xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%s#1 : tensor<100x64xf32>) outs(%e : tensor<100x64xf32>) {
    ^bb1(%u: f32, %o: f32):
      %n = arith.negf %u : f32
      linalg.yield %n : f32
    } -> tensor<100x64xf32>
    fusion.yield %0 : tensor<100x64xf32>
  }
  return %r : tensor<100x64xf32>
}
