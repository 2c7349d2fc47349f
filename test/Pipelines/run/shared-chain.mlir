// Products that feed each other, of few rows: blocks share the walk and add up what
// each has, which nothing repairs.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select=target=sm_90a | FileCheck %s --check-prefix=PLAN
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=3 --verify | FileCheck %s

// PLAN: split = {{[0-9]+}}, apart = 1
// CHECK: {{^}}verified

#qd = affine_map<(i, j, k) -> (i, k)>
#kd = affine_map<(i, j, k) -> (j, k)>
#qk = affine_map<(i, j, k) -> (i, j)>
#qw = affine_map<(i, e, w) -> (i, w)>
#we = affine_map<(i, e, w) -> (w, e)>
#qe = affine_map<(i, e, w) -> (i, e)>
#all = affine_map<(i, j) -> (i, j)>

func.func @main(%q: tensor<96x64xbf16>, %k: tensor<2048x64xbf16>, %v: tensor<2048x64xbf16>) -> tensor<96x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x2048xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x2048xf32>) -> tensor<96x2048xf32>
  %s = linalg.contract indexing_maps = [#qd, #kd, #qk] ins(%q, %k : tensor<96x64xbf16>, tensor<2048x64xbf16>) outs(%f : tensor<96x2048xf32>) -> tensor<96x2048xf32>
  %h = tensor.empty() : tensor<96x2048xbf16>
  %p = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<96x2048xf32>) outs(%h : tensor<96x2048xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = arith.maximumf %a, %zero : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<96x2048xbf16>
  %r = tensor.empty() : tensor<96x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<96x64xf32>) -> tensor<96x64xf32>
  %y = linalg.contract indexing_maps = [#qw, #we, #qe] ins(%p, %v : tensor<96x2048xbf16>, tensor<2048x64xbf16>) outs(%z : tensor<96x64xf32>) -> tensor<96x64xf32>
  return %y : tensor<96x64xf32>
}
