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
