// RUN: fusion-opt %s --resolve-ranked-shaped-type-result-dims --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func @same_shape
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32>)
// CHECK: %[[D:.*]] = tensor.dim %[[X]], %c0
// CHECK: return %[[D]]
func.func @same_shape(%x: tensor<?x8xf32>) -> index {
  %c0 = arith.constant 0 : index
  %0 = fusion.softmax %x axis(1) : tensor<?x8xf32>
  %1 = fusion.rms_norm %0 axis(1) eps(1.0e-6)
      : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %2 = fusion.silu %1 : tensor<?x8xf32>
  %d = tensor.dim %2, %c0 : tensor<?x8xf32>
  return %d : index
}

// Rows of the query, features of the value.
// CHECK-LABEL: func.func @attention
// CHECK-SAME: (%[[Q:.*]]: tensor<4x?x8xf32>, %{{.*}}: tensor<4x?x8xf32>, %[[V:.*]]: tensor<4x?x?xf32>)
// CHECK-DAG: %[[S:.*]] = tensor.dim %[[Q]], %c1
// CHECK-DAG: %[[E:.*]] = tensor.dim %[[V]], %c2
// CHECK: return %[[S]], %[[E]]
func.func @attention(%q: tensor<4x?x8xf32>, %k: tensor<4x?x8xf32>,
                     %v: tensor<4x?x?xf32>) -> (index, index) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = fusion.attention %q, %k, %v
      : (tensor<4x?x8xf32>, tensor<4x?x8xf32>, tensor<4x?x?xf32>)
      -> tensor<4x?x?xf32>
  %s = tensor.dim %0, %c1 : tensor<4x?x?xf32>
  %e = tensor.dim %0, %c2 : tensor<4x?x?xf32>
  return %s, %e : index, index
}

// (H + 2 - 3) / 2 + 1
// CHECK-LABEL: func.func @conv
// CHECK-SAME: (%[[X:.*]]: tensor<1x4x?x8xf32>
// CHECK: %[[H:.*]] = tensor.dim %[[X]], %c2
// CHECK: %[[ROOM:.*]] = arith.addi %[[H]], %c-1
// CHECK: %[[STEPS:.*]] = arith.divui %[[ROOM]], %c2
// CHECK: %[[O:.*]] = arith.addi %[[STEPS]], %c1
// CHECK: return %[[O]]
func.func @conv(%x: tensor<1x4x?x8xf32>, %w: tensor<4x4x3x3xf32>) -> index {
  %c2 = arith.constant 2 : index
  %0 = fusion.conv nchw %x, %w
      {padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
      : (tensor<1x4x?x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x?x4xf32>
  %d = tensor.dim %0, %c2 : tensor<1x4x?x4xf32>
  return %d : index
}

// (H - 1) 2 + 3 - 2 + 1
// CHECK-LABEL: func.func @transposed
// CHECK-SAME: (%[[X:.*]]: tensor<1x4x?x8xf32>
// CHECK: %[[H:.*]] = tensor.dim %[[X]], %c2
// CHECK: %[[LESS:.*]] = arith.subi %[[H]], %c1
// CHECK: %[[WIDE:.*]] = arith.muli %[[LESS]], %c2
// CHECK: %[[O:.*]] = arith.addi %[[WIDE]], %c2
// CHECK: return %[[O]]
func.func @transposed(%x: tensor<1x4x?x8xf32>, %w: tensor<4x4x3x3xf32>)
    -> index {
  %c2 = arith.constant 2 : index
  %0 = fusion.conv nchw transposed %x, %w
      {padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>,
       output_padding = array<i64: 1, 1>}
      : (tensor<1x4x?x8xf32>, tensor<4x4x3x3xf32>) -> tensor<1x4x?x16xf32>
  %d = tensor.dim %0, %c2 : tensor<1x4x?x16xf32>
  return %d : index
}

// CHECK-LABEL: func.func @packed
// CHECK-SAME: (%[[X:.*]]: tensor<?xi8>
// CHECK: %[[B:.*]] = tensor.dim %[[X]], %c0
// CHECK: %[[N:.*]] = arith.muli %[[B]], %c2
// CHECK: return %[[N]]
func.func @packed(%x: tensor<?xi8>, %s: tensor<f32>) -> index {
  %c0 = arith.constant 0 : index
  %0 = fusion.dequantize int4 %x scale(%s)
      : (tensor<?xi8>, tensor<f32>) -> tensor<?xf32>
  %d = tensor.dim %0, %c0 : tensor<?xf32>
  return %d : index
}

// CHECK-LABEL: func.func @gather
// CHECK-SAME: (%{{.*}}: tensor<?x?xf32>, %[[I:.*]]: tensor<?x2xi64>)
// CHECK: %[[D:.*]] = tensor.dim %[[I]], %c0
// CHECK: return %[[D]]
func.func @gather(%x: tensor<?x?xf32>, %i: tensor<?x2xi64>) -> index {
  %c0 = arith.constant 0 : index
  %0 = fusion.gather %x, %i axis(0)
      : (tensor<?x?xf32>, tensor<?x2xi64>) -> tensor<?x2x?xf32>
  %d = tensor.dim %0, %c0 : tensor<?x2x?xf32>
  return %d : index
}
