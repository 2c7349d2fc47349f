// RUN: fusion-opt %s --fusion-input | FileCheck %s

// A window of one element is none: a convolution with it is a product of
// matrices, and neighbours in an image are neighbours in memory.

// CHECK-DAG: #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d4, d2, d3)>
// CHECK-DAG: #[[FILTER:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d1, d4)>
// CHECK-LABEL: func.func @pixels
// CHECK: %[[F:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2, 3]] : tensor<16x8x1x1xf32> into tensor<16x8xf32>
// CHECK: linalg.generic {indexing_maps = [#[[IMAGE]], #[[FILTER]], {{.*}}], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%{{.*}}, %[[F]]
func.func @pixels(%x: tensor<2x8x7x5xf32>, %w: tensor<16x8x1x1xf32>) -> tensor<2x16x7x5xf32> {
  %y = fusion.conv nchw %x, %w : (tensor<2x8x7x5xf32>, tensor<16x8x1x1xf32>) -> tensor<2x16x7x5xf32>
  return %y : tensor<2x16x7x5xf32>
}

// Along one dimension, the other has a window.
// CHECK-LABEL: func.func @rows
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
// CHECK-LABEL: func.func @steps
func.func @rows(%x: tensor<2x8x7x5xf32>, %w: tensor<16x8x1x3xf32>) -> tensor<2x16x7x3xf32> {
  %y = fusion.conv nchw %x, %w : (tensor<2x8x7x5xf32>, tensor<16x8x1x3xf32>) -> tensor<2x16x7x3xf32>
  return %y : tensor<2x16x7x3xf32>
}

// Windows that lie two pixels apart leave out others.
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
func.func @steps(%x: tensor<2x8x7x5xf32>, %w: tensor<16x8x1x1xf32>) -> tensor<2x16x4x3xf32> {
  %y = fusion.conv nchw %x, %w {strides = array<i64: 2, 2>} : (tensor<2x8x7x5xf32>, tensor<16x8x1x1xf32>) -> tensor<2x16x4x3xf32>
  return %y : tensor<2x16x4x3xf32>
}

// What is left of a sum of one product is added as sums are: in f32, and
// rounded once.
// CHECK-LABEL: func.func @channels
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]}
// CHECK-NEXT: ^bb0(%[[X:.*]]: f16, %[[W:.*]]: f16, %[[INITIAL:.*]]: f16):
// CHECK-NEXT: %[[X32:.*]] = arith.extf %[[X]] : f16 to f32
// CHECK-NEXT: %[[W32:.*]] = arith.extf %[[W]] : f16 to f32
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.mulf %[[X32]], %[[W32]] : f32
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %{{.*}} : f32
// CHECK-NEXT: %[[ROUNDED:.*]] = arith.truncf %[[SUM]] : f32 to f16
// CHECK-NEXT: linalg.yield %[[ROUNDED]]
func.func @channels(%x: tensor<2x5x3xf16>, %w: tensor<1x3xf16>, %initial: tensor<2x5x3xf16>) -> tensor<2x5x3xf16> {
  %y = linalg.depthwise_conv_1d_nwc_wc {dilations = dense<1> : vector<1xi64>, strides = dense<1> : vector<1xi64>} ins(%x, %w : tensor<2x5x3xf16>, tensor<1x3xf16>) outs(%initial : tensor<2x5x3xf16>) -> tensor<2x5x3xf16>
  return %y : tensor<2x5x3xf16>
}

// A sum of one product is arithmetic on elements: what reads scores of one
// feature computes them for itself.
// CHECK-LABEL: func.func @feature
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]}
// CHECK-NEXT: ^bb0(%[[Q:.*]]: f16, %[[K:.*]]: f16, %[[INITIAL:.*]]: f32):
// CHECK: %[[PRODUCT:.*]] = arith.mulf
// CHECK-NEXT: arith.addf %[[INITIAL]], %[[PRODUCT]] : f32
// Beside a longer loop that is reduced as well it stays one.
// CHECK: iterator_types = ["parallel", "reduction", "reduction"]
// CHECK-NOT: linalg.generic
func.func @feature(%q: tensor<3x7x1xf16>, %k: tensor<3x5x1xf16>, %x: tensor<4x1x6xf32>, %s: tensor<3x7x5xf32>, %r: tensor<4xf32>) -> (tensor<3x7x5xf32>, tensor<4xf32>) {
  %y = linalg.generic {indexing_maps = [affine_map<(n, i, j, d) -> (n, i, d)>, affine_map<(n, i, j, d) -> (n, j, d)>, affine_map<(n, i, j, d) -> (n, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<3x7x1xf16>, tensor<3x5x1xf16>) outs(%s : tensor<3x7x5xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.extf %b : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<3x7x5xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i)>], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x : tensor<4x1x6xf32>) outs(%r : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %y, %z : tensor<3x7x5xf32>, tensor<4xf32>
}

// With initial values that change nothing they are products alone. What reads
// one tensor stays a reduction.
// CHECK-LABEL: func.func @outer
// CHECK: iterator_types = ["parallel", "parallel"]
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.mulf %[[X]], %[[Y]] : f32
// CHECK-NEXT: linalg.yield %[[PRODUCT]] : f32
// CHECK: iterator_types = ["parallel", "reduction"]
func.func @outer(%x: tensor<4x1xf32>, %y: tensor<1x3xf32>) -> (tensor<4x3xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x3xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
  %p = linalg.matmul ins(%x, %y : tensor<4x1xf32>, tensor<1x3xf32>) outs(%i : tensor<4x3xf32>) -> tensor<4x3xf32>
  %se = tensor.empty() : tensor<4xf32>
  %si = linalg.fill ins(%zero : f32) outs(%se : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<4x1xf32>) outs(%si : tensor<4xf32>) dimensions = [1]
  return %p, %s : tensor<4x3xf32>, tensor<4xf32>
}
