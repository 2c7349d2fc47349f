// The softmax is a named operation.

// RUN: fusion-compile %s --target=sm_90a --compile-to=schedule -o - | FileCheck %s
// RUN: fusion-compile %s --target=sm_90a --compile-to=ptx -o %t.ptx
// RUN: fusion-compile %S/before.mlir --target=sm_90a --compile-to=ptx -o %t.before.ptx
// RUN: %python %S/same_kernel.py %t.ptx %t.before.ptx

// CHECK-COUNT-1: fusion.kernel @
// CHECK-SAME: #fusion.axis<sequential
// CHECK-NOT: fusion.kernel @

#bij = affine_map<(b, i, j) -> (b, i, j)>
func.func @main(%q: tensor<16x1024x64xf16>, %k: tensor<16x1024x64xf16>, %v: tensor<16x1024x64xf16>) -> tensor<16x1024x64xf16> {
  %zero = arith.constant 0.0 : f32
  %c = arith.constant 1.250000000e-01 : f32
  %se = tensor.empty() : tensor<16x1024x1024xf32>
  %sh = tensor.empty() : tensor<16x1024x1024xf16>
  %oe = tensor.empty() : tensor<16x1024x64xf32>
  %he = tensor.empty() : tensor<16x1024x64xf16>
  %si = linalg.fill ins(%zero : f32) outs(%se : tensor<16x1024x1024xf32>) -> tensor<16x1024x1024xf32>
  %oi = linalg.fill ins(%zero : f32) outs(%oe : tensor<16x1024x64xf32>) -> tensor<16x1024x64xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, i, j, d) -> (b, i, d)>, affine_map<(b, i, j, d) -> (b, j, d)>, affine_map<(b, i, j, d) -> (b, i, j)>] ins(%q, %k : tensor<16x1024x64xf16>, tensor<16x1024x64xf16>) outs(%si : tensor<16x1024x1024xf32>) -> tensor<16x1024x1024xf32>
  %x = linalg.generic {indexing_maps = [#bij, #bij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<16x1024x1024xf32>) outs(%se : tensor<16x1024x1024xf32>) {
  ^bb0(%a0: f32, %acc: f32):
    %r = arith.mulf %a0, %c : f32
    linalg.yield %r : f32
  } -> tensor<16x1024x1024xf32>
  %e = linalg.softmax dimension(2) ins(%x : tensor<16x1024x1024xf32>) outs(%se : tensor<16x1024x1024xf32>) -> tensor<16x1024x1024xf32>
  %p = linalg.generic {indexing_maps = [#bij, #bij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%e : tensor<16x1024x1024xf32>) outs(%sh : tensor<16x1024x1024xf16>) {
  ^bb0(%a0: f32, %acc: f16):
    %r = arith.truncf %a0 : f32 to f16
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
