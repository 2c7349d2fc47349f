// RUN: fusion-opt %s --fusion-plan-raise-views | FileCheck %s

#image = affine_map<(n, h, w, c) -> (n, h, w, c)>
#groups = affine_map<(n, g, c, p) -> (n, p, g, c)>
#sums = affine_map<(n, g, c, p) -> (n, g)>

// Sums over groups of channels: what is computed of an operand for its reshape
// alone is computed of a view of it.
// CHECK-LABEL: func @groups
// CHECK: %[[C:.*]] = tensor.collapse_shape %arg0 {{\[}}[0], [1, 2], [3]] : tensor<2x8x8x320xbf16> into tensor<2x64x320xbf16>
// CHECK: %[[X:.*]] = tensor.expand_shape %[[C]] {{\[}}[0], [1], [2, 3]] output_shape [2, 64, 4, 80]
// CHECK: fusion.kernel @sum ins(%[[X]] : tensor<2x64x4x80xbf16>)
// CHECK-NOT: tensor.collapse_shape
// CHECK-NOT: tensor.expand_shape
// CHECK: %[[F:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<2x64x4x80xbf16>)
// CHECK: linalg.generic {{.*}} ins(%[[F]] : tensor<2x64x4x80xf32>)
func.func @groups(%x: tensor<2x8x8x320xbf16>) -> tensor<2x4xf32> {
  %y = fusion.kernel @sum ins(%x : tensor<2x8x8x320xbf16>) -> (tensor<2x4xf32>) {
  ^bb0(%a: tensor<2x8x8x320xbf16>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x8x8x320xf32>
    %f = linalg.generic {indexing_maps = [#image, #image], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%a : tensor<2x8x8x320xbf16>) outs(%e : tensor<2x8x8x320xf32>) {
    ^bb0(%v: bf16, %o: f32):
      %0 = arith.extf %v : bf16 to f32
      linalg.yield %0 : f32
    } -> tensor<2x8x8x320xf32>
    %c = tensor.collapse_shape %f [[0], [1, 2], [3]] : tensor<2x8x8x320xf32> into tensor<2x64x320xf32>
    %g = tensor.expand_shape %c [[0], [1], [2, 3]] output_shape [2, 64, 4, 80] : tensor<2x64x320xf32> into tensor<2x64x4x80xf32>
    %se = tensor.empty() : tensor<2x4xf32>
    %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<2x4xf32>) -> tensor<2x4xf32>
    %s = linalg.generic {indexing_maps = [#groups, #sums], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%g : tensor<2x64x4x80xf32>) outs(%sf : tensor<2x4xf32>) {
    ^bb0(%v: f32, %o: f32):
      %0 = arith.addf %v, %o : f32
      linalg.yield %0 : f32
    } -> tensor<2x4xf32>
    fusion.yield %s : tensor<2x4xf32>
  }
  return %y : tensor<2x4xf32>
}

// What is stored as well keeps its dimensions, and so does a kernel that
// reduces nothing.
// CHECK-LABEL: func @stays
// CHECK: fusion.kernel @stored ins(%arg0 : tensor<4x6xf32>)
// CHECK: fusion.kernel @pointwise ins(%arg0 : tensor<4x6xf32>)
func.func @stays(%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<8xf32>, tensor<4x2x3xf32>) {
  %y:2 = fusion.kernel @stored ins(%x : tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<8xf32>) {
  ^bb0(%a: tensor<4x6xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x6xf32>
    %f = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
    ^bb0(%v: f32, %o: f32):
      %0 = arith.negf %v : f32
      linalg.yield %0 : f32
    } -> tensor<4x6xf32>
    %c = tensor.collapse_shape %f [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
    %g = tensor.expand_shape %c [[0, 1]] output_shape [8, 3] : tensor<24xf32> into tensor<8x3xf32>
    %se = tensor.empty() : tensor<8xf32>
    %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<8xf32>) -> tensor<8xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%g : tensor<8x3xf32>) outs(%sf : tensor<8xf32>) {
    ^bb0(%v: f32, %o: f32):
      %0 = arith.addf %v, %o : f32
      linalg.yield %0 : f32
    } -> tensor<8xf32>
    fusion.yield %f, %s : tensor<4x6xf32>, tensor<8xf32>
  }
  %z = fusion.kernel @pointwise ins(%x : tensor<4x6xf32>) -> (tensor<4x2x3xf32>) {
  ^bb0(%a: tensor<4x6xf32>):
    %g = tensor.expand_shape %a [[0], [1, 2]] output_shape [4, 2, 3] : tensor<4x6xf32> into tensor<4x2x3xf32>
    %e = tensor.empty() : tensor<4x2x3xf32>
    %f = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%g : tensor<4x2x3xf32>) outs(%e : tensor<4x2x3xf32>) {
    ^bb0(%v: f32, %o: f32):
      %0 = arith.negf %v : f32
      linalg.yield %0 : f32
    } -> tensor<4x2x3xf32>
    fusion.yield %f : tensor<4x2x3xf32>
  }
  return %y#0, %y#1, %z : tensor<4x6xf32>, tensor<8xf32>, tensor<4x2x3xf32>
}

// What another op reads as it is stays: a view of it would be another operand, whose
// dimensions are not those of the first result.
// CHECK-LABEL: func.func @read_twice
// CHECK-NOT: tensor.expand_shape
// CHECK: fusion.kernel @both ins(%{{.*}} : tensor<24x4xf32>) -> (tensor<24x4xf32>, tensor<3x8xf32>)
// CHECK: arith.truncf
// CHECK: tensor.expand_shape
// CHECK: linalg.reduce
func.func @read_twice(%x: tensor<24x4xf32>) -> (tensor<24x4xf32>, tensor<3x8xf32>) {
  %0:2 = fusion.kernel @both ins(%x : tensor<24x4xf32>) -> (tensor<24x4xf32>, tensor<3x8xf32>) {
  ^bb0(%a: tensor<24x4xf32>):
    %e = tensor.empty() : tensor<24x4xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<24x4xf32>) outs(%e : tensor<24x4xf32>) {
    ^bb0(%v: f32, %o: f32):
      %p = arith.mulf %v, %v : f32
      linalg.yield %p : f32
    } -> tensor<24x4xf32>
    %h = tensor.empty() : tensor<24x4xbf16>
    %t = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<24x4xf32>) outs(%h : tensor<24x4xbf16>) {
    ^bb0(%v: f32, %o: bf16):
      %p = arith.truncf %v : f32 to bf16
      linalg.yield %p : bf16
    } -> tensor<24x4xbf16>
    %w = tensor.expand_shape %t [[0, 1], [2]] output_shape [3, 8, 4] : tensor<24x4xbf16> into tensor<3x8x4xbf16>
    %i = tensor.empty() : tensor<3x8xf32>
    %m = linalg.reduce ins(%w : tensor<3x8x4xbf16>) outs(%i : tensor<3x8xf32>) dimensions = [2] (%v: bf16, %o: f32) {
      %u = arith.extf %v : bf16 to f32
      %s = arith.maximumf %u, %o : f32
      linalg.yield %s : f32
    }
    fusion.yield %r, %m : tensor<24x4xf32>, tensor<3x8xf32>
  }
  return %0#0, %0#1 : tensor<24x4xf32>, tensor<3x8xf32>
}

// Sums of squares of distances from a row are no product.
// CHECK-LABEL: func @centered
// CHECK: %[[X:.*]] = tensor.expand_shape %arg0
// CHECK: fusion.kernel @squares ins(%[[X]], %arg1 : tensor<4x2x3xf32>, tensor<4xf32>)
// CHECK-NOT: tensor.expand_shape
func.func @centered(%x: tensor<4x6xf32>, %m: tensor<4xf32>) -> tensor<4xf32> {
  %y = fusion.kernel @squares ins(%x, %m : tensor<4x6xf32>, tensor<4xf32>) -> (tensor<4xf32>) {
  ^bb0(%a: tensor<4x6xf32>, %b: tensor<4xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x6xf32>
    %f = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) {
    ^bb0(%v: f32, %o: f32):
      %0 = arith.negf %v : f32
      linalg.yield %0 : f32
    } -> tensor<4x6xf32>
    %g = tensor.expand_shape %f [[0], [1, 2]] output_shape [4, 2, 3] : tensor<4x6xf32> into tensor<4x2x3xf32>
    %se = tensor.empty() : tensor<4xf32>
    %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<4xf32>) -> tensor<4xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i)>, affine_map<(i, j, k) -> (i)>], iterator_types = ["parallel", "reduction", "reduction"]}
        ins(%g, %b : tensor<4x2x3xf32>, tensor<4xf32>) outs(%sf : tensor<4xf32>) {
    ^bb0(%v: f32, %c: f32, %o: f32):
      %0 = arith.subf %v, %c : f32
      %1 = arith.mulf %0, %0 : f32
      %2 = arith.addf %o, %1 : f32
      linalg.yield %2 : f32
    } -> tensor<4xf32>
    fusion.yield %s : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
