// As JAX writes it: heads behind positions, contractions in any order of
// dimensions, and the result transposed.

// RUN: fusion-compile %s --target=sm_90a --compile-to=schedule -o - | FileCheck %s

// CHECK-COUNT-1: fusion.kernel @
// CHECK-SAME: #fusion.axis<sequential
// CHECK-NOT: fusion.kernel @

func.func @main(%q: tensor<2x1024x8x64xf16>, %k: tensor<2x1024x8x64xf16>, %v: tensor<2x1024x8x64xf16>) -> tensor<2x1024x8x64xf16> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %c = arith.constant 1.250000000e-01 : f32
  %s4e = tensor.empty() : tensor<2x8x1024x1024xf32>
  %s4i = linalg.fill ins(%zero : f32) outs(%s4e : tensor<2x8x1024x1024xf32>) -> tensor<2x8x1024x1024xf32>
  %s4 = linalg.generic {indexing_maps = [affine_map<(a, b, i, j, d) -> (a, i, b, d)>, affine_map<(a, b, i, j, d) -> (a, j, b, d)>, affine_map<(a, b, i, j, d) -> (a, b, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x1024x8x64xf16>, tensor<2x1024x8x64xf16>) outs(%s4i : tensor<2x8x1024x1024xf32>) {
  ^bb0(%a: f16, %b: f16, %acc: f32):
    %a1 = arith.extf %a : f16 to f32
    %b1 = arith.extf %b : f16 to f32
    %pr = arith.mulf %a1, %b1 : f32
    %su = arith.addf %acc, %pr : f32
    linalg.yield %su : f32
  } -> tensor<2x8x1024x1024xf32>
  %x4e = tensor.empty() : tensor<2x8x1024x1024xf32>
  %x4 = linalg.generic {indexing_maps = [affine_map<(a, b, i, j) -> (a, b, i, j)>, affine_map<(a, b, i, j) -> (a, b, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s4 : tensor<2x8x1024x1024xf32>) outs(%x4e : tensor<2x8x1024x1024xf32>) {
  ^bb0(%a0: f32, %acc: f32):
    %r = arith.mulf %a0, %c : f32
    linalg.yield %r : f32
  } -> tensor<2x8x1024x1024xf32>
  %m4e = tensor.empty() : tensor<2x8x1024x1xf32>
  %m4i = linalg.fill ins(%lowest : f32) outs(%m4e : tensor<2x8x1024x1xf32>) -> tensor<2x8x1024x1xf32>
  %m4 = linalg.generic {indexing_maps = [affine_map<(a, b, i, j) -> (a, b, i, j)>, affine_map<(a, b, i, j) -> (a, b, i, 0)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x4 : tensor<2x8x1024x1024xf32>) outs(%m4i : tensor<2x8x1024x1xf32>) {
  ^bb0(%y: f32, %acc: f32):
    %r = arith.maximumf %y, %acc : f32
    linalg.yield %r : f32
  } -> tensor<2x8x1024x1xf32>
  %e4e = tensor.empty() : tensor<2x8x1024x1024xf32>
  %e4 = linalg.generic {indexing_maps = [affine_map<(a, b, i, j) -> (a, b, i, j)>, affine_map<(a, b, i, j) -> (a, b, i, 0)>, affine_map<(a, b, i, j) -> (a, b, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x4, %m4 : tensor<2x8x1024x1024xf32>, tensor<2x8x1024x1xf32>) outs(%e4e : tensor<2x8x1024x1024xf32>) {
  ^bb0(%a0: f32, %a1: f32, %acc: f32):
    %d = arith.subf %a0, %a1 : f32
    %r = math.exp %d fastmath<afn> : f32
    linalg.yield %r : f32
  } -> tensor<2x8x1024x1024xf32>
  %l4e = tensor.empty() : tensor<2x8x1024x1xf32>
  %l4i = linalg.fill ins(%zero : f32) outs(%l4e : tensor<2x8x1024x1xf32>) -> tensor<2x8x1024x1xf32>
  %l4 = linalg.generic {indexing_maps = [affine_map<(a, b, i, j) -> (a, b, i, j)>, affine_map<(a, b, i, j) -> (a, b, i, 0)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%e4 : tensor<2x8x1024x1024xf32>) outs(%l4i : tensor<2x8x1024x1xf32>) {
  ^bb0(%y: f32, %acc: f32):
    %r = arith.addf %y, %acc : f32
    linalg.yield %r : f32
  } -> tensor<2x8x1024x1xf32>
  %p4e = tensor.empty() : tensor<2x8x1024x1024xf16>
  %p4 = linalg.generic {indexing_maps = [affine_map<(a, b, i, j) -> (a, b, i, j)>, affine_map<(a, b, i, j) -> (a, b, i, 0)>, affine_map<(a, b, i, j) -> (a, b, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%e4, %l4 : tensor<2x8x1024x1024xf32>, tensor<2x8x1024x1xf32>) outs(%p4e : tensor<2x8x1024x1024xf16>) {
  ^bb0(%a0: f32, %a1: f32, %acc: f16):
    %d = arith.divf %a0, %a1 fastmath<afn> : f32
    %r = arith.truncf %d : f32 to f16
    linalg.yield %r : f16
  } -> tensor<2x8x1024x1024xf16>
  %o4e = tensor.empty() : tensor<2x8x64x1024xf32>
  %o4i = linalg.fill ins(%zero : f32) outs(%o4e : tensor<2x8x64x1024xf32>) -> tensor<2x8x64x1024xf32>
  %o4 = linalg.generic {indexing_maps = [affine_map<(a, b, d, i, j) -> (a, j, b, d)>, affine_map<(a, b, d, i, j) -> (a, b, i, j)>, affine_map<(a, b, d, i, j) -> (a, b, d, i)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%v, %p4 : tensor<2x1024x8x64xf16>, tensor<2x8x1024x1024xf16>) outs(%o4i : tensor<2x8x64x1024xf32>) {
  ^bb0(%a: f16, %b: f16, %acc: f32):
    %a1 = arith.extf %a : f16 to f32
    %b1 = arith.extf %b : f16 to f32
    %pr = arith.mulf %a1, %b1 : f32
    %su = arith.addf %acc, %pr : f32
    linalg.yield %su : f32
  } -> tensor<2x8x64x1024xf32>
  %te = tensor.empty() : tensor<2x1024x8x64xf32>
  %tr = linalg.transpose ins(%o4 : tensor<2x8x64x1024xf32>) outs(%te : tensor<2x1024x8x64xf32>) permutation = [0, 3, 1, 2]
  %he4 = tensor.empty() : tensor<2x1024x8x64xf16>
  %h = linalg.generic {indexing_maps = [affine_map<(a, b, i, j) -> (a, b, i, j)>, affine_map<(a, b, i, j) -> (a, b, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%tr : tensor<2x1024x8x64xf32>) outs(%he4 : tensor<2x1024x8x64xf16>) {
  ^bb0(%a: f32, %acc: f16):
    %r = arith.truncf %a : f32 to f16
    linalg.yield %r : f16
  } -> tensor<2x1024x8x64xf16>
  return %h : tensor<2x1024x8x64xf16>
}
