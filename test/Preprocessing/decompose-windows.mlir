// RUN: fusion-opt %s --fusion-input-decompose --canonicalize --cse | FileCheck %s

// CHECK-DAG: #[[STRIDED:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * 2 + d5, d3 * 2 + d6 * 3)>
// CHECK-DAG: #[[FILTER:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
// CHECK-DAG: #[[DEPTHWISE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 + d5, d2, d4)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 + d3, d2)>

// CHECK-LABEL: func.func @conv
// CHECK: %[[P:.*]] = tensor.pad %{{.*}} low[0, 0, 1, 2] high[0, 0, 1, 2]
// CHECK: linalg.generic {indexing_maps = [#[[STRIDED]], #[[FILTER]], {{.*}}], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%[[P]], {{.*}} outs(%{{.*}} : tensor<?x8x4x3xf32>)
// CHECK: linalg.generic
// CHECK: arith.addf
// CHECK: arith.truncf
func.func @conv(%x: tensor<?x4x8x8xf16>, %w: tensor<8x4x3x3xf16>,
                %b: tensor<8xf32>) -> tensor<?x8x4x3xf16> {
  %0 = fusion.conv nchw %x, %w bias(%b)
      {padding = array<i64: 1, 1, 2, 2>, strides = array<i64: 2, 2>,
       dilations = array<i64: 1, 3>}
      : (tensor<?x4x8x8xf16>, tensor<8x4x3x3xf16>, tensor<8xf32>)
      -> tensor<?x8x4x3xf16>
  return %0 : tensor<?x8x4x3xf16>
}

// f32 without a bias: the sum is the result.
// CHECK-LABEL: func.func @no_epilogue
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
func.func @no_epilogue(%x: tensor<1x4x8xf32>, %w: tensor<8x4x3xf32>)
    -> tensor<1x8x6xf32> {
  %0 = fusion.conv nchw %x, %w
      : (tensor<1x4x8xf32>, tensor<8x4x3xf32>) -> tensor<1x8x6xf32>
  return %0 : tensor<1x8x6xf32>
}

// Depthwise: one channel per group, split off by a reshape.
// CHECK-LABEL: func.func @depthwise
// CHECK: tensor.expand_shape %{{.*}} : tensor<1x8x4xf32> into tensor<1x8x4x1xf32>
// CHECK: linalg.generic {indexing_maps = [#[[DEPTHWISE]],
// CHECK: tensor.collapse_shape
func.func @depthwise(%x: tensor<1x8x4xf32>, %w: tensor<4x3x1xf32>)
    -> tensor<1x6x4xf32> {
  %0 = fusion.conv nhwc %x, %w {groups = 4 : i64}
      : (tensor<1x8x4xf32>, tensor<4x3x1xf32>) -> tensor<1x6x4xf32>
  return %0 : tensor<1x6x4xf32>
}

// CHECK-LABEL: func.func @integers
// CHECK: linalg.generic
// CHECK: arith.extsi %{{.*}} : i8 to i32
// CHECK: arith.extsi %{{.*}} : i8 to i32
// CHECK: arith.muli
func.func @integers(%x: tensor<1x4x8xi8>, %w: tensor<8x4x3xi8>)
    -> tensor<1x8x6xi32> {
  %0 = fusion.conv nchw %x, %w
      : (tensor<1x4x8xi8>, tensor<8x4x3xi8>) -> tensor<1x8x6xi32>
  return %0 : tensor<1x8x6xi32>
}

// Zeros between elements (7 = 3 * 2 + 1), reach 2 less padding 1 around, one
// more at the end; the filter is mirrored by index.
// CHECK-LABEL: func.func @transposed
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0, 0] [1, 2, 4] [1, 1, 2] : tensor<1x2x4xf32> into tensor<1x2x7xf32>
// CHECK: tensor.pad %{{.*}} low[0, 0, 1] high[0, 0, 2]
// CHECK: linalg.generic
// CHECK: %[[K:.*]] = linalg.index 2
// CHECK: %[[MIRROR:.*]] = arith.subi %c2, %[[K]]
// CHECK: tensor.extract %{{.*}}[%{{.*}}, %{{.*}}, %[[MIRROR]]]
// CHECK: linalg.generic
func.func @transposed(%x: tensor<1x2x4xf32>, %w: tensor<2x5x3xf32>)
    -> tensor<1x5x8xf32> {
  %0 = fusion.conv nchw transposed %x, %w
      {strides = array<i64: 2>, padding = array<i64: 1, 1>,
       output_padding = array<i64: 1>}
      : (tensor<1x2x4xf32>, tensor<2x5x3xf32>) -> tensor<1x5x8xf32>
  return %0 : tensor<1x5x8xf32>
}

// Padding beyond the window's reach crops.
// CHECK-LABEL: func.func @transposed_crop
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 1] [1, 2, 2] [1, 1, 1]
func.func @transposed_crop(%x: tensor<1x2x4xf32>, %w: tensor<2x5x1xf32>)
    -> tensor<1x5x2xf32> {
  %0 = fusion.conv nchw transposed %x, %w {padding = array<i64: 1, 1>}
      : (tensor<1x2x4xf32>, tensor<2x5x1xf32>) -> tensor<1x5x2xf32>
  return %0 : tensor<1x5x2xf32>
}

// Padding is -inf, the maximum exact in the element type.
// CHECK-LABEL: func.func @max_pool
// CHECK: %[[INF:.*]] = arith.constant 0xFC00 : f16
// CHECK: tensor.pad
// CHECK: tensor.yield %[[INF]]
// CHECK: linalg.fill ins(%[[INF]]
// CHECK: linalg.generic {indexing_maps = [#[[LAST]],
// CHECK-NOT: arith.extf
// CHECK: arith.maximumf
func.func @max_pool(%x: tensor<1x8x4xf16>) -> tensor<1x8x4xf16> {
  %0 = fusion.pool max nhwc %x window [3] {padding = array<i64: 1, 1>}
      : (tensor<1x8x4xf16>) -> tensor<1x8x4xf16>
  return %0 : tensor<1x8x4xf16>
}

// Windows at the border count what lies inside.
// CHECK-LABEL: func.func @avg_pool
// CHECK: arith.addf
// CHECK: linalg.index 1
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: %[[N:.*]] = arith.sitofp
// CHECK: arith.divf %{{.*}}, %[[N]]
func.func @avg_pool(%x: tensor<1x8x4xf16>) -> tensor<1x8x4xf16> {
  %0 = fusion.pool avg nhwc %x window [3] {padding = array<i64: 1, 1>}
      : (tensor<1x8x4xf16>) -> tensor<1x8x4xf16>
  return %0 : tensor<1x8x4xf16>
}

// CHECK-LABEL: func.func @avg_pool_whole
// CHECK: %[[N:.*]] = arith.constant 3.000000e+00 : f32
// CHECK-NOT: linalg.index
// CHECK: arith.divf %{{.*}}, %[[N]]
func.func @avg_pool_whole(%x: tensor<1x8x4xf16>) -> tensor<1x8x4xf16> {
  %0 = fusion.pool avg nhwc %x window [3]
      {padding = array<i64: 1, 1>, count_include_pad}
      : (tensor<1x8x4xf16>) -> tensor<1x8x4xf16>
  return %0 : tensor<1x8x4xf16>
}
