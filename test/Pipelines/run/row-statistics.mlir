// Rows of a product that several blocks' tiles have, of which only what is
// reduced is kept: blocks of a panel combine it, though no result has the
// dimension that they share.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select=target=sm_90a | FileCheck %s
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=3 --verify
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=3 --verify --asynchrony=early
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --seed=3 --verify=payload

// CHECK: fusion.kernel @matmul_reduce_max_sum {{.*}} -> (tensor<1024xf32>)
// CHECK-SAME: #fusion.axis<full, tile = 128>
#ab = affine_map<(i, j, k) -> (i, k)>
#bt = affine_map<(i, j, k) -> (j, k)>
#c = affine_map<(i, j, k) -> (i, j)>
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// The squares of distances from a maximum: nothing repairs them.
func.func @main(%x: tensor<1024x128xbf16>, %w: tensor<1024x128xbf16>) -> tensor<1024xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %y = linalg.contract indexing_maps = [#ab, #bt, #c] ins(%x, %w : tensor<1024x128xbf16>, tensor<1024x128xbf16>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = tensor.empty() : tensor<1024xf32>
  %m0 = linalg.fill ins(%lowest : f32) outs(%r : tensor<1024xf32>) -> tensor<1024xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%r : tensor<1024xf32>) -> tensor<1024xf32>
  %m = linalg.reduce { arith.maximumf } ins(%y : tensor<1024x1024xf32>) outs(%m0 : tensor<1024xf32>) dimensions = [1]
  %l = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%y, %m : tensor<1024x1024xf32>, tensor<1024xf32>) outs(%z0 : tensor<1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %p = arith.mulf %d, %d : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<1024xf32>
  return %l : tensor<1024xf32>
}
