// RUN: fusion-opt %s --fusion-input | FileCheck %s

// The pipeline ends in its own check of the normal form, so that each function
// here also asserts that nothing else is left.

// TOSA becomes linalg.
// CHECK-LABEL: func.func @tosa
// CHECK-NOT: tosa.
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: linalg.generic
// CHECK: math.tanh
func.func @tosa(%x: tensor<1x4x8xf32>, %w: tensor<1x8x2xf32>)
    -> tensor<1x4x2xf32> {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}>
      : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %w, %zp, %zp
      : (tensor<1x4x8xf32>, tensor<1x8x2xf32>, tensor<1xf32>, tensor<1xf32>)
      -> tensor<1x4x2xf32>
  %1 = tosa.tanh %0 : (tensor<1x4x2xf32>) -> tensor<1x4x2xf32>
  return %1 : tensor<1x4x2xf32>
}

// CHECK-LABEL: func.func @tosa_pool
// CHECK: tensor.pad
// CHECK: arith.maximumf
func.func @tosa_pool(%x: tensor<1x8x8x4xf32>) -> tensor<1x4x4x4xf32> {
  %0 = tosa.max_pool2d %x
      {kernel = array<i64: 3, 3>, pad = array<i64: 1, 0, 1, 0>,
       stride = array<i64: 2, 2>}
      : (tensor<1x8x8x4xf32>) -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}

// Calls are inlined, private functions go.
// CHECK-NOT: @helper
// CHECK-LABEL: func.func @calls
// CHECK-NOT: call
// CHECK: arith.maximumf
func.func private @helper(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = fusion.relu %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func @calls(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @helper(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Arithmetic on constants folds; unit dimensions stay.
// CHECK-LABEL: func.func @constants
// CHECK: %[[C:.*]] = arith.constant 3.000000e+00 : f32
// CHECK: linalg.generic
// CHECK-SAME: outs(%{{.*}} : tensor<1x8xf32>)
// CHECK: arith.addf %{{.*}}, %[[C]]
func.func @constants(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %a = arith.constant dense<1.0> : tensor<1x8xf32>
  %b = arith.constant dense<2.0> : tensor<1x8xf32>
  %c = arith.addf %a, %b : tensor<1x8xf32>
  %0 = arith.addf %x, %c : tensor<1x8xf32>
  return %0 : tensor<1x8xf32>
}

// A scan stays for the code generator.
// CHECK-LABEL: func.func @scan
// CHECK: fusion.scan
func.func @scan(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = fusion.scan ins(%x : tensor<4x?xf32>) inits(%zero : f32) axis(1)
      -> tensor<4x?xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    fusion.yield %s : f32
  }
  return %0 : tensor<4x?xf32>
}

// Argument attributes survive.
// CHECK-LABEL: func.func @dims
// CHECK-SAME: {fusion.dims = ["m", "_"]}
func.func @dims(%x: tensor<?x8xf32> {fusion.dims = ["m", "_"]})
    -> tensor<?x8xf32> {
  %0 = fusion.softmax %x axis(1) : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
