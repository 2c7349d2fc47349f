// TOSA, which has reciprocals.

// RUN: fusion-compile %s --target=sm_90a --compile-to=ptx -o %t.ptx
// RUN: fusion-compile %S/softmax-reciprocal.mlir --target=sm_90a --compile-to=ptx -o %t.other.ptx
// RUN: %python %S/same_kernel.py %t.ptx %t.other.ptx
// RUN: FileCheck %s < %t.ptx

// CHECK-COUNT-1: .entry
// CHECK-NOT: .entry

func.func @main(%h: tensor<4096x2048xf16>) -> tensor<4096x2048xf16> {
  %x = tosa.cast %h : (tensor<4096x2048xf16>) -> tensor<4096x2048xf32>
  %m = tosa.reduce_max %x {axis = 1 : i32} : (tensor<4096x2048xf32>) -> tensor<4096x1xf32>
  %d = tosa.sub %x, %m : (tensor<4096x2048xf32>, tensor<4096x1xf32>) -> tensor<4096x2048xf32>
  %e = tosa.exp %d : (tensor<4096x2048xf32>) -> tensor<4096x2048xf32>
  %l = tosa.reduce_sum %e {axis = 1 : i32} : (tensor<4096x2048xf32>) -> tensor<4096x1xf32>
  %i = tosa.reciprocal %l : (tensor<4096x1xf32>) -> tensor<4096x1xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %w = tosa.mul %e, %i, %s : (tensor<4096x2048xf32>, tensor<4096x1xf32>, tensor<1xi8>) -> tensor<4096x2048xf32>
  %p = tosa.cast %w : (tensor<4096x2048xf32>) -> tensor<4096x2048xf16>
  return %p : tensor<4096x2048xf16>
}
