// RUN: fusion-opt %s --fusion-plan-form-kernels | FileCheck %s

// A reshape between a reduction or a contraction and its pointwise user follows
// the user: both then have the same dimensions and are one kernel.

// The sum of each group of channels, subtracted from the channels; the user
// works on channels.
// CHECK-LABEL: func @collapse_after_reduction
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: %[[X:.*]] = tensor.expand_shape %arg0
// CHECK: %[[K:.*]] = fusion.kernel @{{.*}} ins(%[[X]] : tensor<4x32x10x64xf32>) -> (tensor<4x32x10x64xf32>)
// CHECK: %[[R:.*]] = tensor.collapse_shape %[[K]]
// CHECK: return %[[R]]
func.func @collapse_after_reduction(%x: tensor<4x320x64xf32>) -> tensor<4x320x64xf32> {
  %zero = arith.constant 0.0 : f32
  %xg = tensor.expand_shape %x [[0], [1, 2], [3]] output_shape [4, 32, 10, 64] : tensor<4x320x64xf32> into tensor<4x32x10x64xf32>
  %e = tensor.empty() : tensor<4x32x10x64xf32>
  %ec = tensor.empty() : tensor<4x320x64xf32>
  %er = tensor.empty() : tensor<4x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%er : tensor<4x32xf32>) -> tensor<4x32xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(n, g, c, p) -> (n, g, c, p)>, affine_map<(n, g, c, p) -> (n, g)>],
                         iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%xg : tensor<4x32x10x64xf32>) outs(%f : tensor<4x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<4x32xf32>
  %sub = linalg.generic {indexing_maps = [affine_map<(n, g, c, p) -> (n, g, c, p)>, affine_map<(n, g, c, p) -> (n, g)>, affine_map<(n, g, c, p) -> (n, g, c, p)>],
                         iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%xg, %sum : tensor<4x32x10x64xf32>, tensor<4x32xf32>) outs(%e : tensor<4x32x10x64xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %0 = arith.subf %a, %m : f32
    linalg.yield %0 : f32
  } -> tensor<4x32x10x64xf32>
  %y = tensor.collapse_shape %sub [[0], [1, 2], [3]] : tensor<4x32x10x64xf32> into tensor<4x320x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, c, p) -> (n, c, p)>, affine_map<(n, c, p) -> (n, c, p)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y : tensor<4x320x64xf32>) outs(%ec : tensor<4x320x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %a, %zero : f32
    linalg.yield %0 : f32
  } -> tensor<4x320x64xf32>
  return %r : tensor<4x320x64xf32>
}

// A product over flattened rows, and a bias on rows by batch.
// CHECK-LABEL: func @expand_after_product
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: %[[K:.*]] = fusion.kernel @matmul_add ins({{.*}}) -> (tensor<64x32xf32>)
// CHECK: tensor.expand_shape %[[K]]
func.func @expand_after_product(%x: tensor<64x48xf32>, %w: tensor<48x32xf32>, %b: tensor<32xf32>) -> tensor<4x16x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x32xf32>
  %e3 = tensor.empty() : tensor<4x16x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x48xf32>, tensor<48x32xf32>) outs(%f : tensor<64x32xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %0 = arith.mulf %a, %c : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<64x32xf32>
  %v = tensor.expand_shape %m [[0, 1], [2]] output_shape [4, 16, 32] : tensor<64x32xf32> into tensor<4x16x32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, s, n) -> (b, s, n)>, affine_map<(b, s, n) -> (n)>, affine_map<(b, s, n) -> (b, s, n)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%v, %b : tensor<4x16x32xf32>, tensor<32xf32>) outs(%e3 : tensor<4x16x32xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %0 = arith.addf %a, %c : f32
    linalg.yield %0 : f32
  } -> tensor<4x16x32xf32>
  return %r : tensor<4x16x32xf32>
}
