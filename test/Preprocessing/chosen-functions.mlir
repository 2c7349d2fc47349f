// RUN: fusion-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(fusion-input-verify,fusion-input-raise,fusion-input-decompose)))' | FileCheck %s
// RUN: not fusion-opt %s --pass-pipeline='builtin.module(func.func(fusion-input-verify))' 2>&1 | FileCheck %s --check-prefix=REFUSED

// What the input phase does to one function it does to any function-like op,
// and what stands beside it does not matter.

// CHECK-LABEL: gpu.func @silu
// CHECK-NOT: fusion.silu
// CHECK: gpu.return
// CHECK-LABEL: func.func @other
// CHECK: fusion.silu
// REFUSED: FUS-1007: argument #1 of 'other' has type memref<4xf32>
gpu.module @kernels {
  gpu.func @silu(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = fusion.silu %x : tensor<4xf32>
    gpu.return %0 : tensor<4xf32>
  }
}
func.func @other(%x: tensor<4xf32>, %m: memref<4xf32>) -> tensor<4xf32> {
  %0 = fusion.silu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
