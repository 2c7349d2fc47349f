// A named operation.

// RUN: fusion-compile %s --target=sm_90a --compile-to=ptx -o %t.ptx
// RUN: fusion-compile %S/softmax-generic.mlir --target=sm_90a --compile-to=ptx -o %t.other.ptx
// RUN: %python %S/same_kernel.py %t.ptx %t.other.ptx
// RUN: FileCheck %s < %t.ptx

// CHECK-COUNT-1: .entry
// CHECK-NOT: .entry

func.func @main(%h: tensor<4096x2048xf16>) -> tensor<4096x2048xf16> {
  %p = fusion.softmax %h axis(1) : tensor<4096x2048xf16>
  return %p : tensor<4096x2048xf16>
}
