// Scores in f32, which no walk keeps, are larger than the limit, and so is any part of them with
// the sums over parts; what was tried on the way has operations that nothing reads.

// RUN: fusion-compile %s --target=sm_90a --largest-value=150000 --explain -o %t.fpk | FileCheck %s

// CHECK: kernels: 7 unfused -> 3
// CHECK: refused {{.*}} parts-too-large
func.func @main(%q: tensor<40x1x600x2xf32>, %k: tensor<40x1x600x2xf32>, %v: tensor<40x1x600x2xf32>) -> tensor<40x1x600x2xf32> {
  %o = fusion.attention %q, %k, %v causal(top_left) : (tensor<40x1x600x2xf32>, tensor<40x1x600x2xf32>, tensor<40x1x600x2xf32>) -> tensor<40x1x600x2xf32>
  return %o : tensor<40x1x600x2xf32>
}
