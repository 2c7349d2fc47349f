// RUN: fusion-opt %s --fusion-input-normalize-slices | FileCheck %s

// An offset that is an operand may fold.
// CHECK-LABEL: @extract
// CHECK: %[[FULL:.*]] = tensor.extract_slice %{{.*}}[0, 0, %{{.*}}, 1] [1, 2, 2, 1] [1, 1, 1, 1] : tensor<1x2x3x3xf32> to tensor<1x2x2x1xf32>
// CHECK: tensor.collapse_shape %[[FULL]] {{\[}}[0], [1], [2, 3]] : tensor<1x2x2x1xf32> into tensor<1x2x2xf32>
func.func @extract(%x: tensor<1x2x3x3xf32>, %i: index) -> tensor<1x2x2xf32> {
  %r = tensor.extract_slice %x[0, 0, %i, 1] [1, 2, 2, 1] [1, 1, 1, 1] : tensor<1x2x3x3xf32> to tensor<1x2x2xf32>
  return %r : tensor<1x2x2xf32>
}

// CHECK-LABEL: @scalar
// CHECK: tensor.collapse_shape %{{.*}} [] : tensor<1x1xf32> into tensor<f32>
func.func @scalar(%x: tensor<4x4xf32>, %i: index) -> tensor<f32> {
  %r = tensor.extract_slice %x[%i, 2] [1, 1] [1, 1] : tensor<4x4xf32> to tensor<f32>
  return %r : tensor<f32>
}

// CHECK-LABEL: @insert
// CHECK: %[[FULL:.*]] = tensor.expand_shape %{{.*}} {{\[}}[0, 1], [2]] output_shape [1, %[[N:.*]], 3] : tensor<?x3xf32> into tensor<1x?x3xf32>
// CHECK: tensor.insert_slice %[[FULL]] into %{{.*}}[%{{.*}}, 0, 0] [1, %[[N]], 3] [1, 1, 1] : tensor<1x?x3xf32> into tensor<8x?x3xf32>
func.func @insert(%x: tensor<?x3xf32>, %y: tensor<8x?x3xf32>, %i: index, %n: index) -> tensor<8x?x3xf32> {
  %r = tensor.insert_slice %x into %y[%i, 0, 0] [1, %n, 3] [1, 1, 1] : tensor<?x3xf32> into tensor<8x?x3xf32>
  return %r : tensor<8x?x3xf32>
}

// What has no operands stays, and so does what drops nothing.
// CHECK-LABEL: @stays
// CHECK-NOT: shape
// CHECK: return
func.func @stays(%x: tensor<4x4xf32>, %i: index) -> (tensor<4xf32>, tensor<2x4xf32>) {
  %a = tensor.extract_slice %x[1, 0] [1, 4] [1, 1] : tensor<4x4xf32> to tensor<4xf32>
  %b = tensor.extract_slice %x[%i, 0] [2, 4] [1, 1] : tensor<4x4xf32> to tensor<2x4xf32>
  return %a, %b : tensor<4xf32>, tensor<2x4xf32>
}

// What keeps the type would be folded to its source.
// CHECK-LABEL: @shifted
// CHECK: %[[KEPT:.*]] = tensor.extract_slice %{{.*}}[0, 0] [4, %{{.*}}] [1, 1] : tensor<5x?xf32> to tensor<4x?xf32>
// CHECK: tensor.pad %[[KEPT]] low[1, 0] high[0, %{{.*}}]
// CHECK: tensor<4x?xf32> to tensor<5x?xf32>
func.func @shifted(%x: tensor<5x?xf32>, %n: index) -> tensor<5x?xf32> {
  %c = arith.constant 0.0 : f32
  %y = tensor.pad %x low[1, 0] high[-1, %n] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<5x?xf32> to tensor<5x?xf32>
  return %y : tensor<5x?xf32>
}

// CHECK-LABEL: @nothing_kept
// CHECK: %[[KEPT:.*]] = tensor.extract_slice %{{.*}}[0] [0] [1] : tensor<2xf32> to tensor<0xf32>
// CHECK: tensor.pad %[[KEPT]] low[2] high[0]
func.func @nothing_kept(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = arith.constant 0.0 : f32
  %y = tensor.pad %x low[-3] high[3] {
  ^bb0(%i: index):
    tensor.yield %c : f32
  } : tensor<2xf32> to tensor<2xf32>
  return %y : tensor<2xf32>
}
