// Weights are larger than the limit, but the plan does not store them: where padded
// operands let one kernel walk, nothing is made in parts.

// RUN: fusion-compile %s --target=sm_90a --largest-value=10000000 --explain -o %t.fpk | FileCheck %s

// CHECK: kernels: 7 unfused -> 4
// CHECK-NOT: in-parts
// CHECK: matmul_mul_softmax {{.*}}[matmul, mul, reduce_max, sub_exp, slice, matmul, sum, div]
func.func @main(%q: tensor<64x1024x3xf16>, %k: tensor<64x1024x3xf16>, %v: tensor<64x1024x3xf16>) -> tensor<64x1024x3xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<64x1024x3xf16>, tensor<64x1024x3xf16>, tensor<64x1024x3xf16>) -> tensor<64x1024x3xf16>
  return %o : tensor<64x1024x3xf16>
}
