// RUN: fusion-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @relu_twice
// CHECK: %[[R:.*]] = fusion.relu
// CHECK-NOT: fusion.relu
// CHECK: return %[[R]]
func.func @relu_twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = fusion.relu %x : tensor<?xf32>
  %1 = fusion.relu %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}

// CHECK-LABEL: func.func @relu_of_relu6
// CHECK: %[[R:.*]] = fusion.relu6
// CHECK-NEXT: return %[[R]]
func.func @relu_of_relu6(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = fusion.relu6 %x : tensor<?xf32>
  %1 = fusion.relu %0 : tensor<?xf32>
  %2 = fusion.relu6 %1 : tensor<?xf32>
  return %2 : tensor<?xf32>
}

// The other way round, the upper bound is not there yet.
// CHECK-LABEL: func.func @relu6_of_relu
// CHECK: fusion.relu
// CHECK: fusion.relu6
func.func @relu6_of_relu(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = fusion.relu %x : tensor<?xf32>
  %1 = fusion.relu6 %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}

// CHECK-LABEL: func.func @identities
// CHECK-SAME: (%[[X:.*]]: tensor<1x1x?x8xf32>, %{{.*}}: i64)
// CHECK-NEXT: return %[[X]]
func.func @identities(%x: tensor<1x1x?x8xf32>, %seed: i64)
    -> tensor<1x1x?x8xf32> {
  %0 = fusion.dropout %x, %seed probability(0.0) op_id(1) : tensor<1x1x?x8xf32>
  %1 = fusion.leaky_relu %0 {slope = 1.0 : f64} : tensor<1x1x?x8xf32>
  %2 = fusion.pool avg nchw %1 window [1, 1]
      : (tensor<1x1x?x8xf32>) -> tensor<1x1x?x8xf32>
  return %2 : tensor<1x1x?x8xf32>
}

// CHECK-LABEL: func.func @not_identities
// CHECK: fusion.dropout
// CHECK: fusion.pool
func.func @not_identities(%x: tensor<1x1x8x8xf32>, %seed: i64)
    -> tensor<1x1x4x4xf32> {
  %0 = fusion.dropout %x, %seed probability(0.5) op_id(1) : tensor<1x1x8x8xf32>
  %1 = fusion.pool max nchw %0 window [1, 1] {strides = array<i64: 2, 2>}
      : (tensor<1x1x8x8xf32>) -> tensor<1x1x4x4xf32>
  return %1 : tensor<1x1x4x4xf32>
}

// Unused and repeated inputs of a kernel go.
// CHECK-LABEL: func.func @kernel_inputs
// CHECK-SAME: (%[[X:.*]]: tensor<8xf32>, %{{.*}}: tensor<8xf32>)
// CHECK: fusion.kernel @k ins(%[[X]] : tensor<8xf32>)
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<8xf32>):
// CHECK-NEXT: arith.addf %[[A]], %[[A]]
func.func @kernel_inputs(%x: tensor<8xf32>, %y: tensor<8xf32>)
    -> tensor<8xf32> {
  %r = fusion.kernel @k
      ins(%x, %y, %x : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
      -> (tensor<8xf32>) {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>):
    %0 = arith.addf %a, %c : tensor<8xf32>
    fusion.yield %0 : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// A kernel that nothing uses goes.
// CHECK-LABEL: func.func @dead_kernel
// CHECK-NEXT: return
func.func @dead_kernel(%x: tensor<8xf32>) {
  %r = fusion.kernel @k ins(%x : tensor<8xf32>) -> (tensor<8xf32>) {
  ^bb0(%a: tensor<8xf32>):
    fusion.yield %a : tensor<8xf32>
  }
  return
}
