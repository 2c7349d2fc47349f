// Two products over the same loops, met by one elementwise operation, and two
// that are results: one kernel each, without and with tensor cores.

// RUN: fusion-run %s --target=sm_80 --device=emulator --random --seed=1 --verify --entry=gated | FileCheck %s
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=gated | FileCheck %s
// RUN: fusion-run %s --target=sm_80 --device=emulator --random --seed=1 --verify --entry=both | FileCheck %s
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=1 --verify --entry=both | FileCheck %s
// CHECK: launches: 1,
// CHECK: verified

#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @gated(%x: tensor<96x128xbf16>, %w: tensor<128x64xbf16>, %u: tensor<128x64xbf16>) -> tensor<96x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<96x64xf32>
  %eo = tensor.empty() : tensor<96x64xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x64xf32>) -> tensor<96x64xf32>
  %g = linalg.matmul ins(%x, %w : tensor<96x128xbf16>, tensor<128x64xbf16>) outs(%f : tensor<96x64xf32>) -> tensor<96x64xf32>
  %h = linalg.matmul ins(%x, %u : tensor<96x128xbf16>, tensor<128x64xbf16>) outs(%f : tensor<96x64xf32>) -> tensor<96x64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g, %h : tensor<96x64xf32>, tensor<96x64xf32>) outs(%eo : tensor<96x64xbf16>) {
  ^bb0(%a: f32, %b: f32, %o: bf16):
    %0 = arith.negf %a : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %a, %2 : f32
    %4 = arith.mulf %3, %b : f32
    %5 = arith.truncf %4 : f32 to bf16
    linalg.yield %5 : bf16
  } -> tensor<96x64xbf16>
  return %r : tensor<96x64xbf16>
}

func.func @both(%x: tensor<96x128xbf16>, %w: tensor<128x64xbf16>, %u: tensor<128x64xbf16>) -> (tensor<96x64xf32>, tensor<96x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x64xf32>) -> tensor<96x64xf32>
  %g = linalg.matmul ins(%x, %w : tensor<96x128xbf16>, tensor<128x64xbf16>) outs(%f : tensor<96x64xf32>) -> tensor<96x64xf32>
  %h = linalg.matmul ins(%x, %u : tensor<96x128xbf16>, tensor<128x64xbf16>) outs(%f : tensor<96x64xf32>) -> tensor<96x64xf32>
  return %g, %h : tensor<96x64xf32>, tensor<96x64xf32>
}
