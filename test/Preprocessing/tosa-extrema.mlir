// Maxima and minima of TOSA begin with an infinity.

// RUN: fusion-opt %s --fusion-input-lower-tosa-extrema | FileCheck %s

// CHECK-LABEL: func.func @maximum
// CHECK: %[[I:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[F:.*]] = linalg.fill ins(%[[I]] : f32)
// CHECK: %[[R:.*]] = linalg.reduce ins(%{{.*}} : tensor<4x8x3xf32>) outs(%[[F]] : tensor<4x3xf32>) dimensions = [1]
// CHECK: arith.maximumf
// CHECK: tensor.expand_shape %[[R]] {{\[\[}}0], [1, 2]] output_shape [4, 1, 3]
func.func @maximum(%x: tensor<4x8x3xf32>) -> tensor<4x1x3xf32> {
  %m = tosa.reduce_max %x {axis = 1 : i32} : (tensor<4x8x3xf32>) -> tensor<4x1x3xf32>
  return %m : tensor<4x1x3xf32>
}

// CHECK-LABEL: func.func @minimum
// CHECK: arith.constant 0x7C00 : f16
// CHECK: linalg.reduce ins(%{{.*}} : tensor<?x8xf16>) outs(%{{.*}} : tensor<?xf16>) dimensions = [1]
// CHECK: arith.minnumf
// CHECK: tensor.expand_shape {{.*}} : tensor<?xf16> into tensor<?x1xf16>
func.func @minimum(%x: tensor<?x8xf16>) -> tensor<?x1xf16> {
  %m = tosa.reduce_min %x {axis = 1 : i32, nan_mode = IGNORE} : (tensor<?x8xf16>) -> tensor<?x1xf16>
  return %m : tensor<?x1xf16>
}

// CHECK-LABEL: func.func @scalar
// CHECK: linalg.reduce ins(%{{.*}} : tensor<8xf32>) outs(%{{.*}} : tensor<f32>) dimensions = [0]
// CHECK: arith.maximumf
// CHECK: tensor.expand_shape {{.*}} [] output_shape [1] : tensor<f32> into tensor<1xf32>
func.func @scalar(%x: tensor<8xf32>) -> tensor<1xf32> {
  %m = tosa.reduce_max %x {axis = 0 : i32} : (tensor<8xf32>) -> tensor<1xf32>
  return %m : tensor<1xf32>
}

// Integers have no infinity, and begin with their least number as they are.
// CHECK-LABEL: func.func @integers
// CHECK: tosa.reduce_max
func.func @integers(%x: tensor<4x8xi32>) -> tensor<4x1xi32> {
  %m = tosa.reduce_max %x {axis = 1 : i32} : (tensor<4x8xi32>) -> tensor<4x1xi32>
  return %m : tensor<4x1xi32>
}
