// Dimensions that blocks walk once for all reductions along them.

// RUN: fusion-opt %s --fusion-codegen-lower-to-tile | FileCheck %s

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// A maximum, the sum relative to it, and one of numbers of its own beside them,
// in one loop: of what is repaired there is one number a row.
// CHECK-LABEL: fusion_tile.program @softmax_sum
// CHECK: %[[LOOP:.*]]:3 = scf.for {{.*}} iter_args(%[[M:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}}, %[[T:.*]] = %{{.*}}) -> (f32, f32, f32)
// CHECK: %[[X:.*]] = fusion_tile.load
// CHECK: %[[TOP:.*]] = fusion_tile.reduce
// CHECK: %[[NOW:.*]] = arith.maximumf %[[M]], %[[TOP]]
// CHECK: %[[NONE:.*]] = arith.cmpf oeq, %[[NOW]], %{{.*}} : f32
// CHECK: %[[USED:.*]] = arith.select %[[NONE]], %{{.*}}, %[[NOW]]
// CHECK: %[[DISTANCE:.*]] = arith.subf %[[M]], %[[USED]]
// CHECK: %[[FACTOR:.*]] = math.exp %[[DISTANCE]]
// CHECK: %[[REPAIRED:.*]] = arith.mulf %[[S]], %[[FACTOR]]
// CHECK: %[[ROW:.*]] = fusion_tile.splat %[[USED]]
// CHECK: arith.subf %{{.*}}, %[[ROW]]
// CHECK: math.exp
// CHECK: arith.addf %[[REPAIRED]]
// CHECK-NOT: scf.for
// A row of infinities has no sum.
// CHECK: %[[INFINITE:.*]] = arith.subf %[[LOOP]]#0, %[[LOOP]]#0
// CHECK: arith.addf %[[LOOP]]#1, %[[INFINITE]]
func.func @softmax_sum(%x: tensor<8x4096xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %r:2 = fusion.kernel @softmax_sum ins(%x : tensor<8x4096xf32>) -> (tensor<8xf32>, tensor<8xf32>) attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<sequential, tile = 1024>], warps = 4>} {
  ^bb0(%u: tensor<8x4096xf32>):
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %v = tensor.empty() : tensor<8xf32>
    %f = linalg.fill ins(%low : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %g = linalg.fill ins(%zero : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %m = linalg.reduce { arith.maximumf } ins(%u : tensor<8x4096xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
    %e = tensor.empty() : tensor<8x4096xf32>
    %d = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]} ins(%u, %m : tensor<8x4096xf32>, tensor<8xf32>) outs(%e : tensor<8x4096xf32>) {
    ^bb1(%a: f32, %b: f32, %o: f32):
      %c = arith.subf %a, %b : f32
      %y = math.exp %c : f32
      linalg.yield %y : f32
    } -> tensor<8x4096xf32>
    %s = linalg.reduce { arith.addf } ins(%d : tensor<8x4096xf32>) outs(%g : tensor<8xf32>) dimensions = [1]
    %t = linalg.reduce { arith.addf } ins(%u : tensor<8x4096xf32>) outs(%g : tensor<8xf32>) dimensions = [1]
    fusion.yield %s, %t : tensor<8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}

// Weights below a minimum, with a number in the exponent: the factor has both the
// base and the number.
// CHECK-LABEL: fusion_tile.program @weights
// CHECK: scf.for
// CHECK: arith.minimumf
// CHECK: %[[DISTANCE:.*]] = arith.subf
// CHECK: %[[SCALED:.*]] = arith.mulf %[[DISTANCE]], %{{.*}} : f32
// CHECK: math.exp2 %[[SCALED]] : f32
// CHECK-NOT: scf.for
func.func @weights(%x: tensor<8x4096xf32>, %w: tensor<8x4096xf32>) -> tensor<8xf32> {
  %r = fusion.kernel @weights ins(%x, %w : tensor<8x4096xf32>, tensor<8x4096xf32>) -> (tensor<8xf32>) attributes {schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<sequential, tile = 1024>], warps = 4>} {
  ^bb0(%u: tensor<8x4096xf32>, %k: tensor<8x4096xf32>):
    %zero = arith.constant 0.0 : f32
    %high = arith.constant 0x7F800000 : f32
    %v = tensor.empty() : tensor<8xf32>
    %f = linalg.fill ins(%high : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %g = linalg.fill ins(%zero : f32) outs(%v : tensor<8xf32>) -> tensor<8xf32>
    %m = linalg.reduce { arith.minimumf } ins(%u : tensor<8x4096xf32>) outs(%f : tensor<8xf32>) dimensions = [1]
    %s = linalg.generic {indexing_maps = [#ij, #ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%u, %k, %m : tensor<8x4096xf32>, tensor<8x4096xf32>, tensor<8xf32>) outs(%g : tensor<8xf32>) {
    ^bb1(%a: f32, %b: f32, %c: f32, %o: f32):
      %three = arith.constant 3.0 : f32
      %d = arith.subf %c, %a : f32
      %t = arith.mulf %d, %three : f32
      %y = math.exp2 %t : f32
      %p = arith.mulf %y, %b : f32
      %q = arith.addf %o, %p : f32
      linalg.yield %q : f32
    } -> tensor<8xf32>
    fusion.yield %s : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
