// The backward pass of attention, of any number of rows: two walks, each of which
// makes the scores again. That through queries has the gradients of keys and of
// values, each relative to the same scores.

// RUN: fusion-compile %s --target=sm_90a --explain -o %t.fpk | FileCheck %s --check-prefix=PLAN
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=3 --dim=n=100 --verify | FileCheck %s
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=4 --dim=n=7 --verify | FileCheck %s

// PLAN: kernels: 7 unfused -> 2
// CHECK: {{^}}verified

#qd = affine_map<(b, i, j, k) -> (b, i, k)>
#kd = affine_map<(b, i, j, k) -> (b, j, k)>
#qk = affine_map<(b, i, j, k) -> (b, i, j)>
#all = affine_map<(b, i, j) -> (b, i, j)>
#rows = affine_map<(b, i, j) -> (b, i)>
#walkK = affine_map<(b, i, e, w) -> (b, i, w)>
#walkQ = affine_map<(b, i, e, w) -> (b, w, i)>
#kE = affine_map<(b, i, e, w) -> (b, w, e)>
#qE = affine_map<(b, i, e, w) -> (b, i, e)>

func.func @main(%q: tensor<32x?x64xbf16> {fusion.dims = ["_", "n", "_"]}, %k: tensor<32x?x64xbf16> {fusion.dims = ["_", "n", "_"]}, %v: tensor<32x?x64xbf16> {fusion.dims = ["_", "n", "_"]}, %g: tensor<32x?x64xbf16> {fusion.dims = ["_", "n", "_"]}, %l: tensor<32x?xf32> {fusion.dims = ["_", "n"]}, %d: tensor<32x?xf32> {fusion.dims = ["_", "n"]}) -> (tensor<32x?x64xf32>, tensor<32x?x64xf32>, tensor<32x?x64xf32>) {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %q, %c1 : tensor<32x?x64xbf16>
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %e = tensor.empty(%n, %n) : tensor<32x?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x?x?xf32>) -> tensor<32x?x?xf32>
  %r = tensor.empty(%n) : tensor<32x?x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<32x?x64xf32>) -> tensor<32x?x64xf32>
  %h = tensor.empty(%n, %n) : tensor<32x?x?xbf16>
  %s = linalg.contract indexing_maps = [#qd, #kd, #qk] ins(%q, %k : tensor<32x?x64xbf16>, tensor<32x?x64xbf16>) outs(%f : tensor<32x?x?xf32>) -> tensor<32x?x?xf32>
  %dp = linalg.contract indexing_maps = [#qd, #kd, #qk] ins(%g, %v : tensor<32x?x64xbf16>, tensor<32x?x64xbf16>) outs(%f : tensor<32x?x?xf32>) -> tensor<32x?x?xf32>
  %p = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %l : tensor<32x?x?xf32>, tensor<32x?xf32>) outs(%h : tensor<32x?x?xbf16>) {
  ^bb0(%a: f32, %lse: f32, %o: bf16):
    %0 = arith.mulf %a, %scale : f32
    %1 = arith.subf %0, %lse : f32
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %isPast = arith.cmpi sgt, %j, %i : index
    %masked = arith.select %isPast, %lowest, %1 : f32
    %2 = math.exp %masked : f32
    %3 = arith.truncf %2 : f32 to bf16
    linalg.yield %3 : bf16
  } -> tensor<32x?x?xbf16>
  %ds = linalg.generic {indexing_maps = [#all, #rows, #all, #rows, #all], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %l, %dp, %d : tensor<32x?x?xf32>, tensor<32x?xf32>, tensor<32x?x?xf32>, tensor<32x?xf32>) outs(%h : tensor<32x?x?xbf16>) {
  ^bb0(%a: f32, %lse: f32, %c: f32, %delta: f32, %o: bf16):
    %0 = arith.mulf %a, %scale : f32
    %1 = arith.subf %0, %lse : f32
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %isPast = arith.cmpi sgt, %j, %i : index
    %masked = arith.select %isPast, %lowest, %1 : f32
    %2 = math.exp %masked : f32
    %3 = arith.subf %c, %delta : f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.mulf %4, %scale : f32
    %6 = arith.truncf %5 : f32 to bf16
    linalg.yield %6 : bf16
  } -> tensor<32x?x?xbf16>
  %dq = linalg.contract indexing_maps = [#walkK, #kE, #qE] ins(%ds, %k : tensor<32x?x?xbf16>, tensor<32x?x64xbf16>) outs(%z : tensor<32x?x64xf32>) -> tensor<32x?x64xf32>
  %dk = linalg.contract indexing_maps = [#walkQ, #kE, #qE] ins(%ds, %q : tensor<32x?x?xbf16>, tensor<32x?x64xbf16>) outs(%z : tensor<32x?x64xf32>) -> tensor<32x?x64xf32>
  %dv = linalg.contract indexing_maps = [#walkQ, #kE, #qE] ins(%p, %g : tensor<32x?x?xbf16>, tensor<32x?x64xbf16>) outs(%z : tensor<32x?x64xf32>) -> tensor<32x?x64xf32>
  return %dq, %dk, %dv : tensor<32x?x64xf32>, tensor<32x?x64xf32>, tensor<32x?x64xf32>
}
