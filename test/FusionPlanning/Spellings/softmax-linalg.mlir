// A named operation of linalg.

// RUN: fusion-compile %s --target=sm_90a --compile-to=ptx -o %t.ptx
// RUN: fusion-compile %S/softmax-generic.mlir --target=sm_90a --compile-to=ptx -o %t.other.ptx
// RUN: %python %S/same_kernel.py %t.ptx %t.other.ptx
// RUN: FileCheck %s < %t.ptx

// CHECK-COUNT-1: .entry
// CHECK-NOT: .entry

func.func @main(%h: tensor<4096x2048xf16>) -> tensor<4096x2048xf16> {
  %e = tensor.empty() : tensor<4096x2048xf16>
  %p = linalg.softmax dimension(1) ins(%h : tensor<4096x2048xf16>) outs(%e : tensor<4096x2048xf16>) -> tensor<4096x2048xf16>
  return %p : tensor<4096x2048xf16>
}
