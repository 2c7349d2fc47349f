// RUN: not fusion-compile %s --target=sm_90a -o %t.fpk 2>&1 | FileCheck %s

// Columns are no piece of memory that a kernel could be given.

// CHECK: error: FUS-4007: {{.*}}stands between kernels
func.func @columns(%x: tensor<64x32xf32>) -> tensor<64x8xf32> {
  %s = tensor.extract_slice %x[0, 8] [64, 8] [1, 1] {fusion.in_place} : tensor<64x32xf32> to tensor<64x8xf32>
  %0 = fusion.kernel @negf ins(%s : tensor<64x8xf32>) -> (tensor<64x8xf32>) {
  ^bb0(%a: tensor<64x8xf32>):
    %e = tensor.empty() : tensor<64x8xf32>
    %1 = linalg.negf ins(%a : tensor<64x8xf32>) outs(%e : tensor<64x8xf32>) -> tensor<64x8xf32>
    fusion.yield %1 : tensor<64x8xf32>
  }
  return %0 : tensor<64x8xf32>
}
