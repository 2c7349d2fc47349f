// RUN: split-file %s %t
// RUN: fusion-compile %t/own.mlir --target=sm_90a --explain -o %t.fpk | FileCheck %s --check-prefix=OWN
// RUN: fusion-compile %t/common.mlir --target=sm_90a --explain -o %t.fpk | FileCheck %s --check-prefix=COMMON

// Gradients of attention with a bias for each head: the gradient of scores is that
// of the bias. One walk stores it, others make it again or read it; nothing else of
// its size is in memory.
// OWN: kernels: 10 unfused -> {{[23]$}}
// OWN: between kernels: 0 B at once

//--- own.mlir
#in = affine_map<(b, h, m, n, k) -> (b, h, m, k)>
#kn = affine_map<(b, h, m, n, k) -> (b, h, n, k)>
#mn = affine_map<(b, h, m, n, k) -> (b, h, m, n)>
#k2 = affine_map<(b, h, m, n, k) -> (b, h, k, n)>
#km = affine_map<(b, h, m, n, k) -> (b, h, k, m)>
#all = affine_map<(b, h, i, j) -> (b, h, i, j)>
#row = affine_map<(b, h, i, j) -> (b, h, i)>
func.func @main(%q: tensor<4x16x1024x64xf16>, %k: tensor<4x16x1024x64xf16>, %v: tensor<4x16x1024x64xf16>, %do: tensor<4x16x1024x64xf16>, %l: tensor<4x16x1024xf32>, %delta: tensor<4x16x1024xf32>, %bias: tensor<4x16x1024x1024xf16>) -> (tensor<4x16x1024x64xf16>, tensor<4x16x1024x64xf16>, tensor<4x16x1024x64xf16>, tensor<4x16x1024x1024xf16>) {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<4x16x1024x1024xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<4x16x1024x1024xf32>) -> tensor<4x16x1024x1024xf32>
  %we = tensor.empty() : tensor<4x16x1024x1024xf16>
  %xe = tensor.empty() : tensor<4x16x1024x64xf16>
  %xfe = tensor.empty() : tensor<4x16x1024x64xf32>
  %xf = linalg.fill ins(%zero : f32) outs(%xfe : tensor<4x16x1024x64xf32>) -> tensor<4x16x1024x64xf32>
  %s = linalg.contract indexing_maps = [#in, #kn, #mn] ins(%q, %k : tensor<4x16x1024x64xf16>, tensor<4x16x1024x64xf16>) outs(%sf : tensor<4x16x1024x1024xf32>) -> tensor<4x16x1024x1024xf32>
  %dp = linalg.contract indexing_maps = [#in, #kn, #mn] ins(%do, %v : tensor<4x16x1024x64xf16>, tensor<4x16x1024x64xf16>) outs(%sf : tensor<4x16x1024x1024xf32>) -> tensor<4x16x1024x1024xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %l, %bias : tensor<4x16x1024x1024xf32>, tensor<4x16x1024xf32>, tensor<4x16x1024x1024xf16>) outs(%we : tensor<4x16x1024x1024xf16>) {
  ^bb0(%a: f32, %b: f32, %bb: f16, %old: f16):
    %0 = arith.mulf %a, %scale : f32
    %1 = arith.extf %bb : f16 to f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.subf %2, %b : f32
    %w = math.exp %3 : f32
    %t = arith.truncf %w : f32 to f16
    linalg.yield %t : f16
  } -> tensor<4x16x1024x1024xf16>
  %ds = linalg.generic {indexing_maps = [#all, #row, #all, #all, #row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %l, %bias, %dp, %delta : tensor<4x16x1024x1024xf32>, tensor<4x16x1024xf32>, tensor<4x16x1024x1024xf16>, tensor<4x16x1024x1024xf32>, tensor<4x16x1024xf32>) outs(%we : tensor<4x16x1024x1024xf16>) {
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
  } -> tensor<4x16x1024x1024xf16>
  %one = arith.constant 1.0 : f32
  %dq_f = linalg.contract indexing_maps = [#in, #k2, #mn] ins(%ds, %k : tensor<4x16x1024x1024xf16>, tensor<4x16x1024x64xf16>) outs(%xf : tensor<4x16x1024x64xf32>) -> tensor<4x16x1024x64xf32>
  %dq = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%dq_f : tensor<4x16x1024x64xf32>) outs(%xe : tensor<4x16x1024x64xf16>) {
  ^bb0(%a: f32, %old: f16):
    %y = arith.mulf %a, %scale : f32
    %t = arith.truncf %y : f32 to f16
    linalg.yield %t : f16
  } -> tensor<4x16x1024x64xf16>
  %dk_f = linalg.contract indexing_maps = [#km, #k2, #mn] ins(%ds, %q : tensor<4x16x1024x1024xf16>, tensor<4x16x1024x64xf16>) outs(%xf : tensor<4x16x1024x64xf32>) -> tensor<4x16x1024x64xf32>
  %dk = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%dk_f : tensor<4x16x1024x64xf32>) outs(%xe : tensor<4x16x1024x64xf16>) {
  ^bb0(%a: f32, %old: f16):
    %y = arith.mulf %a, %scale : f32
    %t = arith.truncf %y : f32 to f16
    linalg.yield %t : f16
  } -> tensor<4x16x1024x64xf16>
  %dv_f = linalg.contract indexing_maps = [#km, #k2, #mn] ins(%p, %do : tensor<4x16x1024x1024xf16>, tensor<4x16x1024x64xf16>) outs(%xf : tensor<4x16x1024x64xf32>) -> tensor<4x16x1024x64xf32>
  %dv = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%dv_f : tensor<4x16x1024x64xf32>) outs(%xe : tensor<4x16x1024x64xf16>) {
  ^bb0(%a: f32, %old: f16):
    %y = arith.mulf %a, %one : f32
    %t = arith.truncf %y : f32 to f16
    linalg.yield %t : f16
  } -> tensor<4x16x1024x64xf16>
  return %dq, %dk, %dv, %ds : tensor<4x16x1024x64xf16>, tensor<4x16x1024x64xf16>, tensor<4x16x1024x64xf16>, tensor<4x16x1024x1024xf16>
}

// A bias that the batch has in common has a sum of them, which is a kernel of its
// own: a walk has the scores of one element of the batch.
// COMMON: kernels: 11 unfused -> 4
// COMMON: between kernels: 134.22 MB at once
// COMMON: kernel  sum

//--- common.mlir
#in = affine_map<(b, h, m, n, k) -> (b, h, m, k)>
#kn = affine_map<(b, h, m, n, k) -> (b, h, n, k)>
#mn = affine_map<(b, h, m, n, k) -> (b, h, m, n)>
#k2 = affine_map<(b, h, m, n, k) -> (b, h, k, n)>
#km = affine_map<(b, h, m, n, k) -> (b, h, k, m)>
#all = affine_map<(b, h, i, j) -> (b, h, i, j)>
#bias = affine_map<(b, h, i, j) -> (h, i, j)>
#row = affine_map<(b, h, i, j) -> (b, h, i)>
func.func @main(%q: tensor<4x16x1024x64xf16>, %k: tensor<4x16x1024x64xf16>, %v: tensor<4x16x1024x64xf16>, %do: tensor<4x16x1024x64xf16>, %l: tensor<4x16x1024xf32>, %delta: tensor<4x16x1024xf32>, %bias: tensor<16x1024x1024xf16>) -> (tensor<4x16x1024x64xf16>, tensor<4x16x1024x64xf16>, tensor<4x16x1024x64xf16>, tensor<16x1024x1024xf32>) {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.125 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<4x16x1024x1024xf32>
  %sf = linalg.fill ins(%zero : f32) outs(%se : tensor<4x16x1024x1024xf32>) -> tensor<4x16x1024x1024xf32>
  %we = tensor.empty() : tensor<4x16x1024x1024xf16>
  %xe = tensor.empty() : tensor<4x16x1024x64xf16>
  %xfe = tensor.empty() : tensor<4x16x1024x64xf32>
  %xf = linalg.fill ins(%zero : f32) outs(%xfe : tensor<4x16x1024x64xf32>) -> tensor<4x16x1024x64xf32>
  %s = linalg.contract indexing_maps = [#in, #kn, #mn] ins(%q, %k : tensor<4x16x1024x64xf16>, tensor<4x16x1024x64xf16>) outs(%sf : tensor<4x16x1024x1024xf32>) -> tensor<4x16x1024x1024xf32>
  %dp = linalg.contract indexing_maps = [#in, #kn, #mn] ins(%do, %v : tensor<4x16x1024x64xf16>, tensor<4x16x1024x64xf16>) outs(%sf : tensor<4x16x1024x1024xf32>) -> tensor<4x16x1024x1024xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #bias, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %l, %bias : tensor<4x16x1024x1024xf32>, tensor<4x16x1024xf32>, tensor<16x1024x1024xf16>) outs(%we : tensor<4x16x1024x1024xf16>) {
  ^bb0(%a: f32, %b: f32, %bb: f16, %old: f16):
    %0 = arith.mulf %a, %scale : f32
    %1 = arith.extf %bb : f16 to f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.subf %2, %b : f32
    %w = math.exp %3 : f32
    %t = arith.truncf %w : f32 to f16
    linalg.yield %t : f16
  } -> tensor<4x16x1024x1024xf16>
  %ds = linalg.generic {indexing_maps = [#all, #row, #bias, #all, #row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %l, %bias, %dp, %delta : tensor<4x16x1024x1024xf32>, tensor<4x16x1024xf32>, tensor<16x1024x1024xf16>, tensor<4x16x1024x1024xf32>, tensor<4x16x1024xf32>) outs(%we : tensor<4x16x1024x1024xf16>) {
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
  } -> tensor<4x16x1024x1024xf16>
  %one = arith.constant 1.0 : f32
  %dq_f = linalg.contract indexing_maps = [#in, #k2, #mn] ins(%ds, %k : tensor<4x16x1024x1024xf16>, tensor<4x16x1024x64xf16>) outs(%xf : tensor<4x16x1024x64xf32>) -> tensor<4x16x1024x64xf32>
  %dq = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%dq_f : tensor<4x16x1024x64xf32>) outs(%xe : tensor<4x16x1024x64xf16>) {
  ^bb0(%a: f32, %old: f16):
    %y = arith.mulf %a, %scale : f32
    %t = arith.truncf %y : f32 to f16
    linalg.yield %t : f16
  } -> tensor<4x16x1024x64xf16>
  %dk_f = linalg.contract indexing_maps = [#km, #k2, #mn] ins(%ds, %q : tensor<4x16x1024x1024xf16>, tensor<4x16x1024x64xf16>) outs(%xf : tensor<4x16x1024x64xf32>) -> tensor<4x16x1024x64xf32>
  %dk = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%dk_f : tensor<4x16x1024x64xf32>) outs(%xe : tensor<4x16x1024x64xf16>) {
  ^bb0(%a: f32, %old: f16):
    %y = arith.mulf %a, %scale : f32
    %t = arith.truncf %y : f32 to f16
    linalg.yield %t : f16
  } -> tensor<4x16x1024x64xf16>
  %dv_f = linalg.contract indexing_maps = [#km, #k2, #mn] ins(%p, %do : tensor<4x16x1024x1024xf16>, tensor<4x16x1024x64xf16>) outs(%xf : tensor<4x16x1024x64xf32>) -> tensor<4x16x1024x64xf32>
  %dv = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%dv_f : tensor<4x16x1024x64xf32>) outs(%xe : tensor<4x16x1024x64xf16>) {
  ^bb0(%a: f32, %old: f16):
    %y = arith.mulf %a, %one : f32
    %t = arith.truncf %y : f32 to f16
    linalg.yield %t : f16
  } -> tensor<4x16x1024x64xf16>
  %be = tensor.empty() : tensor<16x1024x1024xf32>
  %bz = linalg.fill ins(%zero : f32) outs(%be : tensor<16x1024x1024xf32>) -> tensor<16x1024x1024xf32>
  %db = linalg.generic {indexing_maps = [#all, #bias], iterator_types = ["reduction", "parallel", "parallel", "parallel"]} ins(%ds : tensor<4x16x1024x1024xf16>) outs(%bz : tensor<16x1024x1024xf32>) {
  ^bb0(%a: f16, %old: f32):
    %af = arith.extf %a : f16 to f32
    %y = arith.addf %old, %af : f32
    linalg.yield %y : f32
  } -> tensor<16x1024x1024xf32>
  return %dq, %dk, %dv, %db : tensor<4x16x1024x64xf16>, tensor<4x16x1024x64xf16>, tensor<4x16x1024x64xf16>, tensor<16x1024x1024xf32>
}

