// RUN: fusion-opt %s --fusion-input | FileCheck %s

// Elements are bytes between arguments and results, and a byte of the result
// is written by one iteration.
// CHECK-LABEL: func.func @add
// CHECK-SAME: (%[[X:.*]]: tensor<3x5xi4>) -> tensor<3x5xi4>
// CHECK: %[[B:.*]] = fusion.int4_bytes %[[X]] : tensor<3x5xi4> -> tensor<8xi8>
// CHECK: tensor.extract %[[B]]
// CHECK: linalg.generic
// CHECK: arith.addi %{{.*}}, %{{.*}} : i4
// CHECK: arith.extsi %{{.*}} : i4 to i8
// CHECK: %[[P:.*]] = linalg.generic
// CHECK: } -> tensor<8xi8>
// CHECK: %[[R:.*]] = fusion.int4_elements %[[P]][] : tensor<8xi8> -> tensor<3x5xi4>
// CHECK: return %[[R]]
func.func @add(%x: tensor<3x5xi4>) -> tensor<3x5xi4> {
  %y = arith.addi %x, %x : tensor<3x5xi4>
  return %y : tensor<3x5xi4>
}

// What only passes through stays as it is.
// CHECK-LABEL: func.func @through
// CHECK-NEXT: return
func.func @through(%x: tensor<4xi4>) -> tensor<4xi4> {
  return %x : tensor<4xi4>
}

// CHECK-LABEL: func.func @layout
// CHECK: tensor.pad
// CHECK: tensor.yield %{{.*}} : i8
// CHECK: tensor.concat dim(0) {{.*}} -> tensor<10xi8>
func.func @layout(%x: tensor<4xi4>) -> tensor<10xi4> {
  %c = arith.constant -3 : i4
  %p = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %c : i4
  } : tensor<4xi4> to tensor<6xi4>
  %r = tensor.concat dim(0) %p, %x
      : (tensor<6xi4>, tensor<4xi4>) -> tensor<10xi4>
  return %r : tensor<10xi4>
}

// Views that a program has itself: bytes of an argument and results made of
// bytes stay views, others are computed.
// CHECK-LABEL: func.func @views
// CHECK-SAME: (%[[X:.*]]: tensor<3x5xi4>, %[[B:.*]]: tensor<8xi8>)
// CHECK: %[[V:.*]] = fusion.int4_bytes %[[X]] : tensor<3x5xi4> -> tensor<8xi8>
// CHECK: %[[E:.*]] = fusion.int4_elements %[[B]][] : tensor<8xi8> -> tensor<3x5xi4>
// CHECK: return %[[V]], %[[E]]
func.func @views(%x: tensor<3x5xi4>, %b: tensor<8xi8>)
    -> (tensor<8xi8>, tensor<3x5xi4>) {
  %0 = fusion.int4_bytes %x : tensor<3x5xi4> -> tensor<8xi8>
  %1 = fusion.int4_elements %b[] : tensor<8xi8> -> tensor<3x5xi4>
  return %0, %1 : tensor<8xi8>, tensor<3x5xi4>
}

// CHECK-LABEL: func.func @computed_views
// CHECK-NOT: fusion.int4
// CHECK: return %{{.*}} : tensor<?xi8>
func.func @computed_views(%b: tensor<?xi8>, %n: index) -> tensor<?xi8> {
  %0 = fusion.int4_elements %b[%n] : tensor<?xi8> -> tensor<?x5xi4>
  %1 = arith.addi %0, %0 : tensor<?x5xi4>
  %2 = fusion.int4_bytes %1 : tensor<?x5xi4> -> tensor<?xi8>
  return %2 : tensor<?xi8>
}
