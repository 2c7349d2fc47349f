// The gradient of a bias is that of the scores it is added to: the walk that makes
// the gradient of queries has it in each step, and stores it, once. Steps that a
// mask leaves nothing store zeros.

// RUN: split-file %s %t
// RUN: fusion-compile %t/full.mlir --target=sm_90a --explain -o %t.fpk | FileCheck %s --check-prefix=PLAN
// RUN: fusion-compile %t/causal.mlir --target=sm_90a --explain -o %t.fpk | FileCheck %s --check-prefix=PLAN
// RUN: fusion-run %t/full.mlir --target=sm_90a --device=emulator --random --seed=3 --verify | FileCheck %s
// RUN: fusion-run %t/full.mlir --target=sm_90a --device=emulator --random --seed=3 --verify --asynchrony=early | FileCheck %s
// RUN: fusion-run %t/causal.mlir --target=sm_90a --device=emulator --random --seed=4 --verify | FileCheck %s

// PLAN: unfused -> 1
// CHECK: {{^}}verified

//--- full.mlir
#in = affine_map<(b, h, m, n, k) -> (b, h, m, k)>
#kn = affine_map<(b, h, m, n, k) -> (b, h, n, k)>
#mn = affine_map<(b, h, m, n, k) -> (b, h, m, n)>
#k2 = affine_map<(b, h, m, n, k) -> (b, h, k, n)>
#km = affine_map<(b, h, m, n, k) -> (b, h, k, m)>
#all = affine_map<(b, h, i, j) -> (b, h, i, j)>
#row = affine_map<(b, h, i, j) -> (b, h, i)>
func.func @main(%q: tensor<1x4x200x64xf16>, %k: tensor<1x4x200x64xf16>, %v: tensor<1x4x200x64xf16>, %do: tensor<1x4x200x64xf16>, %l: tensor<1x4x200xf32>, %delta: tensor<1x4x200xf32>, %bias: tensor<1x4x200x200xf16>) -> (tensor<1x4x200x64xf16>, tensor<1x4x200x200xf16>) {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<1x4x200x200xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<1x4x200x200xf32>) -> tensor<1x4x200x200xf32>
  %we = tensor.empty() : tensor<1x4x200x200xf16>
  %xe = tensor.empty() : tensor<1x4x200x64xf16>
  %xfe = tensor.empty() : tensor<1x4x200x64xf32>
  %xf = linalg.fill ins(%zero : f32) outs(%xfe : tensor<1x4x200x64xf32>) -> tensor<1x4x200x64xf32>
  %s = linalg.contract indexing_maps = [#in, #kn, #mn] ins(%q, %k : tensor<1x4x200x64xf16>, tensor<1x4x200x64xf16>) outs(%sf : tensor<1x4x200x200xf32>) -> tensor<1x4x200x200xf32>
  %dp = linalg.contract indexing_maps = [#in, #kn, #mn] ins(%do, %v : tensor<1x4x200x64xf16>, tensor<1x4x200x64xf16>) outs(%sf : tensor<1x4x200x200xf32>) -> tensor<1x4x200x200xf32>
  %ds = linalg.generic {indexing_maps = [#all, #row, #all, #all, #row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %l, %bias, %dp, %delta : tensor<1x4x200x200xf32>, tensor<1x4x200xf32>, tensor<1x4x200x200xf16>, tensor<1x4x200x200xf32>, tensor<1x4x200xf32>) outs(%we : tensor<1x4x200x200xf16>) {
  ^bb0(%a: f32, %b: f32, %bb: f16, %c: f32, %d: f32, %old: f16):
    %0 = arith.mulf %a, %scale : f32
    %1 = arith.extf %bb : f16 to f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.subf %2, %b : f32
    %w = math.exp %3 : f32
    %e = arith.subf %c, %d : f32
    %f = arith.mulf %w, %e : f32
    %t = arith.truncf %f : f32 to f16
    linalg.yield %t : f16
  } -> tensor<1x4x200x200xf16>
  %one = arith.constant 1.0 : f32
  %dq_f = linalg.contract indexing_maps = [#in, #k2, #mn] ins(%ds, %k : tensor<1x4x200x200xf16>, tensor<1x4x200x64xf16>) outs(%xf : tensor<1x4x200x64xf32>) -> tensor<1x4x200x64xf32>
  %dq = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%dq_f : tensor<1x4x200x64xf32>) outs(%xe : tensor<1x4x200x64xf16>) {
  ^bb0(%a: f32, %old: f16):
    %y = arith.mulf %a, %scale : f32
    %t = arith.truncf %y : f32 to f16
    linalg.yield %t : f16
  } -> tensor<1x4x200x64xf16>
  return %dq, %ds : tensor<1x4x200x64xf16>, tensor<1x4x200x200xf16>
}


//--- causal.mlir
#in = affine_map<(b, h, m, n, k) -> (b, h, m, k)>
#kn = affine_map<(b, h, m, n, k) -> (b, h, n, k)>
#mn = affine_map<(b, h, m, n, k) -> (b, h, m, n)>
#k2 = affine_map<(b, h, m, n, k) -> (b, h, k, n)>
#km = affine_map<(b, h, m, n, k) -> (b, h, k, m)>
#all = affine_map<(b, h, i, j) -> (b, h, i, j)>
#row = affine_map<(b, h, i, j) -> (b, h, i)>
func.func @main(%q: tensor<1x2x136x64xbf16>, %k: tensor<1x2x136x64xbf16>, %v: tensor<1x2x136x64xbf16>, %do: tensor<1x2x136x64xbf16>, %l: tensor<1x2x136xf32>, %delta: tensor<1x2x136xf32>, %bias: tensor<1x2x136x136xbf16>) -> (tensor<1x2x136x64xbf16>, tensor<1x2x136x136xbf16>) {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<1x2x136x136xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<1x2x136x136xf32>) -> tensor<1x2x136x136xf32>
  %we = tensor.empty() : tensor<1x2x136x136xbf16>
  %xe = tensor.empty() : tensor<1x2x136x64xbf16>
  %xfe = tensor.empty() : tensor<1x2x136x64xf32>
  %xf = linalg.fill ins(%zero : f32) outs(%xfe : tensor<1x2x136x64xf32>) -> tensor<1x2x136x64xf32>
  %s = linalg.contract indexing_maps = [#in, #kn, #mn] ins(%q, %k : tensor<1x2x136x64xbf16>, tensor<1x2x136x64xbf16>) outs(%sf : tensor<1x2x136x136xf32>) -> tensor<1x2x136x136xf32>
  %dp = linalg.contract indexing_maps = [#in, #kn, #mn] ins(%do, %v : tensor<1x2x136x64xbf16>, tensor<1x2x136x64xbf16>) outs(%sf : tensor<1x2x136x136xf32>) -> tensor<1x2x136x136xf32>
  %ds = linalg.generic {indexing_maps = [#all, #row, #all, #all, #row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %l, %bias, %dp, %delta : tensor<1x2x136x136xf32>, tensor<1x2x136xf32>, tensor<1x2x136x136xbf16>, tensor<1x2x136x136xf32>, tensor<1x2x136xf32>) outs(%we : tensor<1x2x136x136xbf16>) {
  ^bb0(%a: f32, %b: f32, %bb: bf16, %c: f32, %d: f32, %old: bf16):
    %0 = arith.mulf %a, %scale : f32
    %1 = arith.extf %bb : bf16 to f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.subf %2, %b : f32
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %after = arith.cmpi sgt, %j, %i : index
    %x = arith.select %after, %lowest, %3 : f32
    %w = math.exp %x : f32
    %e = arith.subf %c, %d : f32
    %f = arith.mulf %w, %e : f32
    %t = arith.truncf %f : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<1x2x136x136xbf16>
  %one = arith.constant 1.0 : f32
  %dq_f = linalg.contract indexing_maps = [#in, #k2, #mn] ins(%ds, %k : tensor<1x2x136x136xbf16>, tensor<1x2x136x64xbf16>) outs(%xf : tensor<1x2x136x64xf32>) -> tensor<1x2x136x64xf32>
  %dq = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%dq_f : tensor<1x2x136x64xf32>) outs(%xe : tensor<1x2x136x64xbf16>) {
  ^bb0(%a: f32, %old: bf16):
    %y = arith.mulf %a, %scale : f32
    %t = arith.truncf %y : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<1x2x136x64xbf16>
  return %dq, %ds : tensor<1x2x136x64xbf16>, tensor<1x2x136x136xbf16>
}

