// TOSA.

// RUN: fusion-compile %s --target=sm_90a --compile-to=schedule -o - | FileCheck %s
// RUN: fusion-compile %s --target=sm_90a --compile-to=ptx -o %t.ptx
// RUN: fusion-compile %S/before.mlir --target=sm_90a --compile-to=ptx -o %t.before.ptx
// RUN: %python %S/same_kernel.py %t.ptx %t.before.ptx

// CHECK-COUNT-1: fusion.kernel @
// CHECK-SAME: #fusion.axis<sequential
// CHECK-NOT: fusion.kernel @

func.func @main(%q: tensor<16x1024x64xf16>, %k: tensor<16x1024x64xf16>, %v: tensor<16x1024x64xf16>) -> tensor<16x1024x64xf16> {
  %kt = tosa.transpose %k {perms = array<i32: 0, 2, 1>} : (tensor<16x1024x64xf16>) -> tensor<16x64x1024xf16>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf16>}> : () -> tensor<1xf16>
  %s = tosa.matmul %q, %kt, %z, %z {acc_type = f32} : (tensor<16x1024x64xf16>, tensor<16x64x1024xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<16x1024x1024xf32>
  %c = "tosa.const"() <{values = dense<0.125> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %sh = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %x = tosa.mul %s, %c, %sh : (tensor<16x1024x1024xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<16x1024x1024xf32>
  %m = tosa.reduce_max %x {axis = 2 : i32} : (tensor<16x1024x1024xf32>) -> tensor<16x1024x1xf32>
  %d = tosa.sub %x, %m : (tensor<16x1024x1024xf32>, tensor<16x1024x1xf32>) -> tensor<16x1024x1024xf32>
  %e = tosa.exp %d : (tensor<16x1024x1024xf32>) -> tensor<16x1024x1024xf32>
  %l = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<16x1024x1024xf32>) -> tensor<16x1024x1xf32>
  %r = tosa.reciprocal %l : (tensor<16x1024x1xf32>) -> tensor<16x1024x1xf32>
  %p = tosa.mul %e, %r, %sh : (tensor<16x1024x1024xf32>, tensor<16x1024x1xf32>, tensor<1xi8>) -> tensor<16x1024x1024xf32>
  %ph = tosa.cast %p : (tensor<16x1024x1024xf32>) -> tensor<16x1024x1024xf16>
  %o = tosa.matmul %ph, %v, %z, %z {acc_type = f32} : (tensor<16x1024x1024xf16>, tensor<16x1024x64xf16>, tensor<1xf16>, tensor<1xf16>) -> tensor<16x1024x64xf32>
  %h = tosa.cast %o : (tensor<16x1024x64xf32>) -> tensor<16x1024x64xf16>
  return %h : tensor<16x1024x64xf16>
}
