// Attention in one kernel, as planning finds it: grouped queries with a causal
// mask, a bias with a mask, scores through a function, sizes that are known at run
// time; f32 and one query have kernels of their own. Weights that are divided by their
// sum before they are rounded, and a product of a product.

// RUN: fusion-compile %s --target=sm_90a -o %t.fpk --explain | FileCheck %s --check-prefix=PLAN
// RUN: fusion-compile %s --target=sm_80 -o %t.80.fpk
// RUN: fusion-run %t.fpk --reference=%s --entry=gqa --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=bias --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=f32 --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=softcap --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=dyn --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=one --device=emulator --random --seed=5 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=divided --device=emulator --random --seed=7 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=half --device=emulator --random --seed=7 --verify | FileCheck %s
// RUN: fusion-run %t.fpk --reference=%s --entry=chain --device=emulator --random --seed=7 --verify | FileCheck %s
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
func.func @divided(%q: tensor<2x96x64xf16>, %k: tensor<2x64x192xf16>, %v: tensor<2x192x64xf16>) -> tensor<2x96x64xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x96x192xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%se : tensor<2x96x192xf32>) -> tensor<2x96x192xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<2x96x64xf16>, tensor<2x64x192xf16>) outs(%s0 : tensor<2x96x192xf32>) -> tensor<2x96x192xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x96x192xf32>) outs(%se : tensor<2x96x192xf32>) -> tensor<2x96x192xf32>
  %he = tensor.empty() : tensor<2x96x192xf16>
  %h = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p : tensor<2x96x192xf32>) outs(%he : tensor<2x96x192xf16>) {
  ^bb0(%in: f32, %out: f16):
    %t = arith.truncf %in : f32 to f16
    linalg.yield %t : f16
  } -> tensor<2x96x192xf16>
  %oe = tensor.empty() : tensor<2x96x64xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x96x64xf32>) -> tensor<2x96x64xf32>
  %o = linalg.batch_matmul ins(%h, %v : tensor<2x96x192xf16>, tensor<2x192x64xf16>) outs(%o0 : tensor<2x96x64xf32>) -> tensor<2x96x64xf32>
  return %o : tensor<2x96x64xf32>
}
func.func @half(%q: tensor<2x96x64xf16>, %k: tensor<2x64x192xf16>, %v: tensor<2x192x64xf16>) -> tensor<2x96x64xf32> {
  %zero = arith.constant 0.0 : f32
  %se = tensor.empty() : tensor<2x96x192xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%se : tensor<2x96x192xf32>) -> tensor<2x96x192xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<2x96x64xf16>, tensor<2x64x192xf16>) outs(%s0 : tensor<2x96x192xf32>) -> tensor<2x96x192xf32>
  %he = tensor.empty() : tensor<2x96x192xf16>
  %h = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x96x192xf32>) outs(%he : tensor<2x96x192xf16>) {
  ^bb0(%in: f32, %out: f16):
    %t = arith.truncf %in : f32 to f16
    linalg.yield %t : f16
  } -> tensor<2x96x192xf16>
  %p = fusion.softmax %h axis(2) : tensor<2x96x192xf16>
  %oe = tensor.empty() : tensor<2x96x64xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x96x64xf32>) -> tensor<2x96x64xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x96x192xf16>, tensor<2x192x64xf16>) outs(%o0 : tensor<2x96x64xf32>) -> tensor<2x96x64xf32>
  return %o : tensor<2x96x64xf32>
}
func.func @chain(%x: tensor<200x128xf16>, %a: tensor<256x128xf16>, %b: tensor<256x128xf16>) -> tensor<200x128xf16> {
  %zero = arith.constant 0.0 : f32
  %he = tensor.empty() : tensor<200x256xf32>
  %h0 = linalg.fill ins(%zero : f32) outs(%he : tensor<200x256xf32>) -> tensor<200x256xf32>
  %h = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %a : tensor<200x128xf16>, tensor<256x128xf16>) outs(%h0 : tensor<200x256xf32>) -> tensor<200x256xf32>
  %ge = tensor.empty() : tensor<200x256xf16>
  %g = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<200x256xf32>) outs(%ge : tensor<200x256xf16>) {
  ^bb0(%in: f32, %out: f16):
    %r = arith.maximumf %in, %zero : f32
    %t = arith.truncf %r : f32 to f16
    linalg.yield %t : f16
  } -> tensor<200x256xf16>
  %oe = tensor.empty() : tensor<200x128xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%oe : tensor<200x128xf32>) -> tensor<200x128xf32>
  %o = linalg.matmul ins(%g, %b : tensor<200x256xf16>, tensor<256x128xf16>) outs(%o0 : tensor<200x128xf32>) -> tensor<200x128xf32>
  %ye = tensor.empty() : tensor<200x128xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%o : tensor<200x128xf32>) outs(%ye : tensor<200x128xf16>) {
  ^bb0(%in: f32, %out: f16):
    %t = arith.truncf %in : f32 to f16
    linalg.yield %t : f16
  } -> tensor<200x128xf16>
  return %y : tensor<200x128xf16>
}
