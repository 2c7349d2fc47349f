// Attention with dropout is one walk: what is left of each weight is a factor, which
// does not stand in the way of the maximum that repairs them.

// RUN: fusion-compile %s --target=sm_90a --explain -o %t.fpk | FileCheck %s --check-prefix=PLAN
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=3 --dim=n=200 --verify | FileCheck %s
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=4 --dim=n=13 --verify | FileCheck %s

// PLAN: kernels: 7 unfused -> 1
// CHECK: {{^}}verified
func.func @main(%q: tensor<2x4x?x64xf16> {fusion.dims = ["_", "_", "n", "_"]},
                %k: tensor<2x4x?x64xf16> {fusion.dims = ["_", "_", "n", "_"]},
                %v: tensor<2x4x?x64xf16> {fusion.dims = ["_", "_", "n", "_"]}, %s: i64)
    -> tensor<2x4x?x64xf16> {
  %0 = fusion.attention %q, %k, %v seed(%s) causal(top_left) {dropout = 0.25 : f64, op_id = 3 : i64} : (tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16>, tensor<2x4x?x64xf16>, i64) -> tensor<2x4x?x64xf16>
  return %0 : tensor<2x4x?x64xf16>
}
