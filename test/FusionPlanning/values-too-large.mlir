// Scores of one feature are larger than the limit, and so is any part of them with
// the sums over parts; what was tried on the way has operations that nothing reads.

// RUN: fusion-compile %s --target=sm_90a --largest-value=2000000 --explain -o %t.fpk | FileCheck %s

// CHECK: kernels: 7 unfused -> 2
// CHECK: refused {{.*}} parts-too-large
func.func @main(%q: tensor<40x1x600x1xf16>, %k: tensor<40x1x600x1xf16>, %v: tensor<40x1x600x1xf16>) -> tensor<40x1x600x1xf16> {
  %o = fusion.attention %q, %k, %v causal(top_left) : (tensor<40x1x600x1xf16>, tensor<40x1x600x1xf16>, tensor<40x1x600x1xf16>) -> tensor<40x1x600x1xf16>
  return %o : tensor<40x1x600x1xf16>
}
