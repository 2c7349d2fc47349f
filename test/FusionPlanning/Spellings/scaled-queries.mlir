// The queries are scaled, before the walk.

// RUN: fusion-compile %s --target=sm_90a --compile-to=schedule -o - | FileCheck %s

// CHECK: fusion.kernel @mul_matmul
// CHECK-SAME: #fusion.axis<sequential
// CHECK-NOT: fusion.kernel @

#bij = affine_map<(b, i, j) -> (b, i, j)>
#bi = affine_map<(b, i, j) -> (b, i)>
func.func @main(%q: tensor<16x1024x64xf16>, %k: tensor<16x1024x64xf16>, %v: tensor<16x1024x64xf16>) -> tensor<16x1024x64xf16> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %c = arith.constant 1.250000000e-01 : f32
  %se = tensor.empty() : tensor<16x1024x1024xf32>
  %sh = tensor.empty() : tensor<16x1024x1024xf16>
  %re = tensor.empty() : tensor<16x1024xf32>
  %oe = tensor.empty() : tensor<16x1024x64xf32>
  %he = tensor.empty() : tensor<16x1024x64xf16>
  %si = linalg.fill ins(%zero : f32) outs(%se : tensor<16x1024x1024xf32>) -> tensor<16x1024x1024xf32>
  %mi = linalg.fill ins(%lowest : f32) outs(%re : tensor<16x1024xf32>) -> tensor<16x1024xf32>
  %li = linalg.fill ins(%zero : f32) outs(%re : tensor<16x1024xf32>) -> tensor<16x1024xf32>
  %oi = linalg.fill ins(%zero : f32) outs(%oe : tensor<16x1024x64xf32>) -> tensor<16x1024x64xf32>
  %qs = linalg.generic {indexing_maps = [#bij, #bij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%q : tensor<16x1024x64xf16>) outs(%he : tensor<16x1024x64xf16>) {
  ^bb0(%a0: f16, %acc: f16):
    %w = arith.extf %a0 : f16 to f32
    %z = arith.mulf %w, %c : f32
    %r = arith.truncf %z : f32 to f16
    linalg.yield %r : f16
  } -> tensor<16x1024x64xf16>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, i, j, d) -> (b, i, d)>, affine_map<(b, i, j, d) -> (b, j, d)>, affine_map<(b, i, j, d) -> (b, i, j)>] ins(%qs, %k : tensor<16x1024x64xf16>, tensor<16x1024x64xf16>) outs(%si : tensor<16x1024x1024xf32>) -> tensor<16x1024x1024xf32>
  %m = linalg.generic {indexing_maps = [#bij, #bi], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : tensor<16x1024x1024xf32>) outs(%mi : tensor<16x1024xf32>) {
  ^bb0(%y: f32, %acc: f32):
    %r = arith.maximumf %y, %acc : f32
    linalg.yield %r : f32
  } -> tensor<16x1024xf32>
  %e = linalg.generic {indexing_maps = [#bij, #bi, #bij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %m : tensor<16x1024x1024xf32>, tensor<16x1024xf32>) outs(%se : tensor<16x1024x1024xf32>) {
  ^bb0(%a0: f32, %a1: f32, %acc: f32):
    %d = arith.subf %a0, %a1 : f32
    %r = math.exp %d fastmath<afn> : f32
    linalg.yield %r : f32
  } -> tensor<16x1024x1024xf32>
  %l = linalg.generic {indexing_maps = [#bij, #bi], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%e : tensor<16x1024x1024xf32>) outs(%li : tensor<16x1024xf32>) {
  ^bb0(%y: f32, %acc: f32):
    %r = arith.addf %y, %acc : f32
    linalg.yield %r : f32
  } -> tensor<16x1024xf32>
  %p = linalg.generic {indexing_maps = [#bij, #bi, #bij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%e, %l : tensor<16x1024x1024xf32>, tensor<16x1024xf32>) outs(%sh : tensor<16x1024x1024xf16>) {
  ^bb0(%a0: f32, %a1: f32, %acc: f16):
    %d = arith.divf %a0, %a1 fastmath<afn> : f32
    %r = arith.truncf %d : f32 to f16
    linalg.yield %r : f16
  } -> tensor<16x1024x1024xf16>
  %o = linalg.batch_matmul ins(%p, %v : tensor<16x1024x1024xf16>, tensor<16x1024x64xf16>) outs(%oi : tensor<16x1024x64xf32>) -> tensor<16x1024x64xf32>
  %h = linalg.generic {indexing_maps = [#bij, #bij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%o : tensor<16x1024x64xf32>) outs(%he : tensor<16x1024x64xf16>) {
  ^bb0(%a0: f32, %acc: f16):
    %r = arith.truncf %a0 : f32 to f16
    linalg.yield %r : f16
  } -> tensor<16x1024x64xf16>
  return %h : tensor<16x1024x64xf16>
}
