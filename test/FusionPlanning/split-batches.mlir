// A batch that is joined for a product alone, of dimensions that a permutation
// puts apart, is not joined: the product reads and writes them where they are.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a | FileCheck %s

// Batch and head of the operands, and of the result, have the rows between them.
// CHECK-LABEL: func.func @apart
// CHECK: fusion.kernel @{{.*}} ins(%arg0, %arg1 : tensor<2x256x8x64xf16>, tensor<2x256x8x64xf16>) -> (tensor<2x256x8x256xf16>)
// CHECK-NOT: fusion.kernel
func.func @apart(%q: tensor<2x256x8x64xf16>, %k: tensor<2x256x8x64xf16>) -> tensor<2x256x8x256xf16> {
  %zero = arith.constant 0.0 : f32
  %qe = tensor.empty() : tensor<2x8x256x64xf16>
  %qt = linalg.transpose ins(%q : tensor<2x256x8x64xf16>) outs(%qe : tensor<2x8x256x64xf16>) permutation = [0, 2, 1, 3]
  %ke = tensor.empty() : tensor<2x8x64x256xf16>
  %kt = linalg.transpose ins(%k : tensor<2x256x8x64xf16>) outs(%ke : tensor<2x8x64x256xf16>) permutation = [0, 2, 3, 1]
  %qj = tensor.collapse_shape %qt [[0, 1], [2], [3]] : tensor<2x8x256x64xf16> into tensor<16x256x64xf16>
  %kj = tensor.collapse_shape %kt [[0, 1], [2], [3]] : tensor<2x8x64x256xf16> into tensor<16x64x256xf16>
  %e = tensor.empty() : tensor<16x256x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x256x256xf32>) -> tensor<16x256x256xf32>
  %s = linalg.batch_matmul ins(%qj, %kj : tensor<16x256x64xf16>, tensor<16x64x256xf16>) outs(%f : tensor<16x256x256xf32>) -> tensor<16x256x256xf32>
  %s4 = tensor.expand_shape %s [[0, 1], [2], [3]] output_shape [2, 8, 256, 256] : tensor<16x256x256xf32> into tensor<2x8x256x256xf32>
  %he = tensor.empty() : tensor<2x8x256x256xf16>
  %h = linalg.generic {indexing_maps = [affine_map<(a, b, i, j) -> (a, b, i, j)>, affine_map<(a, b, i, j) -> (a, b, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s4 : tensor<2x8x256x256xf32>) outs(%he : tensor<2x8x256x256xf16>) {
  ^bb0(%x: f32, %o: f16):
    %t = arith.truncf %x : f32 to f16
    linalg.yield %t : f16
  } -> tensor<2x8x256x256xf16>
  %re = tensor.empty() : tensor<2x256x8x256xf16>
  %r = linalg.transpose ins(%h : tensor<2x8x256x256xf16>) outs(%re : tensor<2x256x8x256xf16>) permutation = [0, 2, 1, 3]
  return %r : tensor<2x256x8x256xf16>
}

// Side by side everywhere: one dimension.
// CHECK-LABEL: func.func @together
// CHECK: fusion.kernel @{{.*}} tensor<16x256x64xf16>
func.func @together(%q: tensor<2x8x256x64xf16>, %k: tensor<2x8x64x256xf16>) -> tensor<2x8x256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %qj = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x8x256x64xf16> into tensor<16x256x64xf16>
  %kj = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<2x8x64x256xf16> into tensor<16x64x256xf16>
  %e = tensor.empty() : tensor<16x256x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x256x256xf32>) -> tensor<16x256x256xf32>
  %s = linalg.batch_matmul ins(%qj, %kj : tensor<16x256x64xf16>, tensor<16x64x256xf16>) outs(%f : tensor<16x256x256xf32>) -> tensor<16x256x256xf32>
  %s4 = tensor.expand_shape %s [[0, 1], [2], [3]] output_shape [2, 8, 256, 256] : tensor<16x256x256xf32> into tensor<2x8x256x256xf32>
  return %s4 : tensor<2x8x256x256xf32>
}

// One of two products whose results meet has the parts of its batch apart:
// neither is joined, as when gradients of attention are, whose queries and keys
// were kept side by side.
// CHECK-LABEL: func.func @meet
// CHECK-NOT: tensor.collapse_shape
// CHECK: fusion.kernel @{{.*}} ins(%arg0, %arg1, %arg2, %arg3 : tensor<2x8x256x64xf16>, tensor<2x8x256x64xf16>, tensor<2x256x8x64xf16>, tensor<2x8x256x64xf16>) -> (tensor<2x8x256x256xf16>)
// CHECK-NOT: fusion.kernel
// CHECK: return
func.func @meet(%q: tensor<2x8x256x64xf16>, %k: tensor<2x8x256x64xf16>, %g: tensor<2x256x8x64xf16>, %v: tensor<2x8x256x64xf16>) -> tensor<2x8x256x256xf16> {
  %zero = arith.constant 0.0 : f32
  %ke = tensor.empty() : tensor<2x8x64x256xf16>
  %kt = linalg.transpose ins(%k : tensor<2x8x256x64xf16>) outs(%ke : tensor<2x8x64x256xf16>) permutation = [0, 1, 3, 2]
  %vt = linalg.transpose ins(%v : tensor<2x8x256x64xf16>) outs(%ke : tensor<2x8x64x256xf16>) permutation = [0, 1, 3, 2]
  %ge = tensor.empty() : tensor<2x8x256x64xf16>
  %gt = linalg.transpose ins(%g : tensor<2x256x8x64xf16>) outs(%ge : tensor<2x8x256x64xf16>) permutation = [0, 2, 1, 3]
  %qj = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x8x256x64xf16> into tensor<16x256x64xf16>
  %kj = tensor.collapse_shape %kt [[0, 1], [2], [3]] : tensor<2x8x64x256xf16> into tensor<16x64x256xf16>
  %gj = tensor.collapse_shape %gt [[0, 1], [2], [3]] : tensor<2x8x256x64xf16> into tensor<16x256x64xf16>
  %vj = tensor.collapse_shape %vt [[0, 1], [2], [3]] : tensor<2x8x64x256xf16> into tensor<16x64x256xf16>
  %e = tensor.empty() : tensor<16x256x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x256x256xf32>) -> tensor<16x256x256xf32>
  %s = linalg.batch_matmul ins(%qj, %kj : tensor<16x256x64xf16>, tensor<16x64x256xf16>) outs(%f : tensor<16x256x256xf32>) -> tensor<16x256x256xf32>
  %p = linalg.batch_matmul ins(%gj, %vj : tensor<16x256x64xf16>, tensor<16x64x256xf16>) outs(%f : tensor<16x256x256xf32>) -> tensor<16x256x256xf32>
  %s4 = tensor.expand_shape %s [[0, 1], [2], [3]] output_shape [2, 8, 256, 256] : tensor<16x256x256xf32> into tensor<2x8x256x256xf32>
  %p4 = tensor.expand_shape %p [[0, 1], [2], [3]] output_shape [2, 8, 256, 256] : tensor<16x256x256xf32> into tensor<2x8x256x256xf32>
  %he = tensor.empty() : tensor<2x8x256x256xf16>
  %h = linalg.generic {indexing_maps = [affine_map<(a, b, i, j) -> (a, b, i, j)>, affine_map<(a, b, i, j) -> (a, b, i, j)>, affine_map<(a, b, i, j) -> (a, b, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s4, %p4 : tensor<2x8x256x256xf32>, tensor<2x8x256x256xf32>) outs(%he : tensor<2x8x256x256xf16>) {
  ^bb0(%x: f32, %y: f32, %o: f16):
    %m = arith.mulf %x, %y : f32
    %t = arith.truncf %m : f32 to f16
    linalg.yield %t : f16
  } -> tensor<2x8x256x256xf16>
  return %h : tensor<2x8x256x256xf16>
}
