// The scores are a result as well: each step of the walk stores its own.

// RUN: fusion-compile %s --target=sm_90a --explain -o %t.fpk | FileCheck %s
// RUN: fusion-run %s --target=sm_90a --device=emulator --random --verify

// CHECK: kernels: {{[0-9]+}} unfused -> 1
// CHECK: shared-walk,

#id = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
func.func @main(%q: tensor<2x256x64xf16>, %k: tensor<2x256x64xf16>, %v: tensor<2x256x64xf16>) -> (tensor<2x256x64xf16>, tensor<2x256x256xf32>) {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %c = arith.constant 0.125 : f32
  %se = tensor.empty() : tensor<2x256x256xf32>
  %he = tensor.empty() : tensor<2x256x256xf16>
  %re = tensor.empty() : tensor<2x256xf32>
  %oe = tensor.empty() : tensor<2x256x64xf32>
  %ie = tensor.empty() : tensor<2x256x64xf16>
  %s0 = linalg.fill ins(%zero : f32) outs(%se : tensor<2x256x256xf32>) -> tensor<2x256x256xf32>
  %m0 = linalg.fill ins(%lowest : f32) outs(%re : tensor<2x256xf32>) -> tensor<2x256xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%re : tensor<2x256xf32>) -> tensor<2x256xf32>
  %o0 = linalg.fill ins(%zero : f32) outs(%oe : tensor<2x256x64xf32>) -> tensor<2x256x64xf32>
  %s = linalg.batch_matmul indexing_maps = [affine_map<(b, i, j, d) -> (b, i, d)>, affine_map<(b, i, j, d) -> (b, j, d)>, affine_map<(b, i, j, d) -> (b, i, j)>] ins(%q, %k : tensor<2x256x64xf16>, tensor<2x256x64xf16>) outs(%s0 : tensor<2x256x256xf32>) -> tensor<2x256x256xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<2x256x256xf32>) outs(%se : tensor<2x256x256xf32>) {
  ^bb0(%a0: f32, %acc: f32):
    %r = arith.mulf %a0, %c : f32
    linalg.yield %r : f32
  } -> tensor<2x256x256xf32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<2x256x256xf32>) outs(%m0 : tensor<2x256xf32>) dimensions = [2]
  %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %m : tensor<2x256x256xf32>, tensor<2x256xf32>) outs(%se : tensor<2x256x256xf32>) {
  ^bb0(%a0: f32, %a1: f32, %acc: f32):
    %d = arith.subf %a0, %a1 : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<2x256x256xf32>
  %l = linalg.reduce { arith.addf } ins(%e : tensor<2x256x256xf32>) outs(%l0 : tensor<2x256xf32>) dimensions = [2]
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %l : tensor<2x256x256xf32>, tensor<2x256xf32>) outs(%he : tensor<2x256x256xf16>) {
  ^bb0(%a0: f32, %a1: f32, %acc: f16):
    %t = arith.divf %a0, %a1 : f32
    %r = arith.truncf %t : f32 to f16
    linalg.yield %r : f16
  } -> tensor<2x256x256xf16>
  %o = linalg.batch_matmul ins(%p, %v : tensor<2x256x256xf16>, tensor<2x256x64xf16>) outs(%o0 : tensor<2x256x64xf32>) -> tensor<2x256x64xf32>
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%o : tensor<2x256x64xf32>) outs(%ie : tensor<2x256x64xf16>) {
  ^bb0(%a0: f32, %acc: f16):
    %r = arith.truncf %a0 : f32 to f16
    linalg.yield %r : f16
  } -> tensor<2x256x64xf16>
  return %h, %x : tensor<2x256x64xf16>, tensor<2x256x256xf32>
}
