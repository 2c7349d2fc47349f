// Attention in one kernel, as planning finds it: grouped queries with a causal
// mask, a bias with a mask, f32, scores through a function, sizes that are known
// at run time; one query has kernels of its own.

// RUN: fusion-compile %s --target=sm_90a -o %t.fpk --explain | FileCheck %s --check-prefix=PLAN
// RUN: fusion-compile %s --target=sm_80 -o %t.80.fpk
// RUN: fusion-run %t.fpk --reference=%s --entry=gqa --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=bias --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=f32 --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=softcap --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=dyn --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=one --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.80.fpk --reference=%s --entry=gqa --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.80.fpk --reference=%s --entry=f32 --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.80.fpk --reference=%s --entry=softcap --device=emulator --random --seed=5 --verify | FileCheck %s

// PLAN-DAG: kernel matmul_mul_add_compare_softmax {{.*}}products by wgmma
// PLAN-DAG: kernel matmul_mul_add_select_softmax {{.*}}products by wgmma
// PLAN-DAG: kernel matmul_mul_div_tanh_softmax {{.*}}products by wgmma
// PLAN-DAG: kernel matmul_mul_softmax{{.*}}: matmul, mul, reduce_max, sub_exp, matmul, sum, div; {{.*}}products by wgmma
// CHECK: {{^}}verified

func.func @gqa(%q: tensor<2x4x100x64xbf16>, %k: tensor<2x2x130x64xbf16>, %v: tensor<2x2x130x64xbf16>) -> tensor<2x4x100x64xbf16> {
  %o = fusion.attention %q, %k, %v causal(bottom_right) : (tensor<2x4x100x64xbf16>, tensor<2x2x130x64xbf16>, tensor<2x2x130x64xbf16>) -> tensor<2x4x100x64xbf16>
  return %o : tensor<2x4x100x64xbf16>
}
func.func @bias(%q: tensor<2x2x96x64xf16>, %k: tensor<2x2x128x64xf16>, %v: tensor<2x2x128x64xf16>, %b: tensor<1x2x96x128xf16>, %m: tensor<2x1x1x128xi1>) -> tensor<2x2x96x64xf16> {
  %o = fusion.attention %q, %k, %v mask(%m) bias(%b) : (tensor<2x2x96x64xf16>, tensor<2x2x128x64xf16>, tensor<2x2x128x64xf16>, tensor<2x1x1x128xi1>, tensor<1x2x96x128xf16>) -> tensor<2x2x96x64xf16>
  return %o : tensor<2x2x96x64xf16>
}
func.func @f32(%q: tensor<2x96x64xf32>, %k: tensor<2x128x64xf32>, %v: tensor<2x128x64xf32>) -> tensor<2x96x64xf32> {
  %o = fusion.attention %q, %k, %v : (tensor<2x96x64xf32>, tensor<2x128x64xf32>, tensor<2x128x64xf32>) -> tensor<2x96x64xf32>
  return %o : tensor<2x96x64xf32>
}
func.func @dropout(%q: tensor<2x96x64xf16>, %k: tensor<2x128x64xf16>, %v: tensor<2x128x64xf16>, %s: i64) -> tensor<2x96x64xf16> {
  %o = fusion.attention %q, %k, %v seed(%s) {dropout = 0.1} : (tensor<2x96x64xf16>, tensor<2x128x64xf16>, tensor<2x128x64xf16>, i64) -> tensor<2x96x64xf16>
  return %o : tensor<2x96x64xf16>
}
func.func @softcap(%q: tensor<2x96x64xf16>, %k: tensor<2x128x64xf16>, %v: tensor<2x128x64xf16>) -> tensor<2x96x64xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<2x96x64xf16>, tensor<2x128x64xf16>, tensor<2x128x64xf16>) -> tensor<2x96x64xf16> {
  ^bb0(%x: f32, %b: index, %i: index, %j: index):
    %c = arith.constant 20.0 : f32
    %y = arith.divf %x, %c : f32
    %t = math.tanh %y : f32
    %z = arith.mulf %t, %c : f32
    fusion.yield %z : f32
  }
  return %o : tensor<2x96x64xf16>
}
func.func @dyn(%q: tensor<2x?x64xf16>, %k: tensor<2x?x64xf16>, %v: tensor<2x?x64xf16>) -> tensor<2x?x64xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<2x?x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>) -> tensor<2x?x64xf16>
  return %o : tensor<2x?x64xf16>
}
func.func @one(%q: tensor<4x1x64xf16>, %k: tensor<4x200x64xf16>, %v: tensor<4x200x64xf16>) -> tensor<4x1x64xf16> {
  %o = fusion.attention %q, %k, %v : (tensor<4x1x64xf16>, tensor<4x200x64xf16>, tensor<4x200x64xf16>) -> tensor<4x1x64xf16>
  return %o : tensor<4x1x64xf16>
}
