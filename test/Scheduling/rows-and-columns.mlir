// A sum along one dimension of two tensors of as many bytes, of which one lies
// in memory along that dimension and one along the other. Tiles have elements
// along both, whichever of the tensors is read first.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select | FileCheck %s

// CHECK-LABEL: func.func @columns_first
// CHECK: axes = [#fusion.axis<grid, tile = 64, vector = 8>, #fusion.axis<loop, tile = 1, split = 32>, #fusion.axis<loop, tile = 64, stages = 3>], warps = 8
func.func @columns_first(%dy: tensor<128x784x512xbf16>, %x: tensor<128x512x784xbf16>) -> tensor<512xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(n, p, c) -> (n, p, c)>, affine_map<(n, p, c) -> (n, c, p)>, affine_map<(n, p, c) -> (c)>], iterator_types = ["reduction", "reduction", "parallel"]} ins(%dy, %x : tensor<128x784x512xbf16>, tensor<128x512x784xbf16>) outs(%f : tensor<512xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %p = arith.mulf %aw, %bw : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<512xf32>
  return %s : tensor<512xf32>
}

// CHECK-LABEL: func.func @rows_first
// CHECK: axes = [#fusion.axis<grid, tile = 64, vector = 8>, #fusion.axis<loop, tile = 1, split = 32>, #fusion.axis<loop, tile = 64, stages = 3>], warps = 8
func.func @rows_first(%x: tensor<128x512x784xbf16>, %dy: tensor<128x784x512xbf16>) -> tensor<512xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(n, p, c) -> (n, c, p)>, affine_map<(n, p, c) -> (n, p, c)>, affine_map<(n, p, c) -> (c)>], iterator_types = ["reduction", "reduction", "parallel"]} ins(%x, %dy : tensor<128x512x784xbf16>, tensor<128x784x512xbf16>) outs(%f : tensor<512xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %p = arith.mulf %aw, %bw : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<512xf32>
  return %s : tensor<512xf32>
}

// Where both lie along what is summed, rows are read: no tile has columns.
// CHECK-LABEL: func.func @rows_alone
// CHECK: axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = {{[0-9]+}}{{.*}}>, #fusion.axis<loop, tile = 1024
func.func @rows_alone(%x: tensor<128x512x784xbf16>, %dy: tensor<128x512x784xbf16>) -> tensor<512xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<512xf32>) -> tensor<512xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(n, p, c) -> (n, c, p)>, affine_map<(n, p, c) -> (n, c, p)>, affine_map<(n, p, c) -> (c)>], iterator_types = ["reduction", "reduction", "parallel"]} ins(%x, %dy : tensor<128x512x784xbf16>, tensor<128x512x784xbf16>) outs(%f : tensor<512xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %p = arith.mulf %aw, %bw : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<512xf32>
  return %s : tensor<512xf32>
}
