// Reductions are named operations.

// RUN: fusion-compile %s --target=sm_90a --compile-to=ptx -o %t.ptx
// RUN: fusion-compile %S/softmax-generic.mlir --target=sm_90a --compile-to=ptx -o %t.other.ptx
// RUN: %python %S/same_kernel.py %t.ptx %t.other.ptx
// RUN: FileCheck %s < %t.ptx

// CHECK-COUNT-1: .entry
// CHECK-NOT: .entry

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @main(%h: tensor<4096x2048xf16>) -> tensor<4096x2048xf16> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %fe = tensor.empty() : tensor<4096x2048xf32>
  %ie = tensor.empty() : tensor<4096x2048xf16>
  %re = tensor.empty() : tensor<4096xf32>
  %m0 = linalg.fill ins(%lowest : f32) outs(%re : tensor<4096xf32>) -> tensor<4096xf32>
  %l0 = linalg.fill ins(%zero : f32) outs(%re : tensor<4096xf32>) -> tensor<4096xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<4096x2048xf16>) outs(%fe : tensor<4096x2048xf32>) {
  ^bb0(%a0: f16, %acc: f32):
    %r = arith.extf %a0 : f16 to f32
    linalg.yield %r : f32
  } -> tensor<4096x2048xf32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<4096x2048xf32>) outs(%m0 : tensor<4096xf32>) dimensions = [1]
  %e = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<4096x2048xf32>, tensor<4096xf32>) outs(%fe : tensor<4096x2048xf32>) {
  ^bb0(%a0: f32, %a1: f32, %acc: f32):
    %d = arith.subf %a0, %a1 : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<4096x2048xf32>
  %l = linalg.reduce { arith.addf } ins(%e : tensor<4096x2048xf32>) outs(%l0 : tensor<4096xf32>) dimensions = [1]
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%e, %l : tensor<4096x2048xf32>, tensor<4096xf32>) outs(%ie : tensor<4096x2048xf16>) {
  ^bb0(%a0: f32, %a1: f32, %acc: f16):
    %t = arith.divf %a0, %a1 : f32
    %r = arith.truncf %t : f32 to f16
    linalg.yield %r : f16
  } -> tensor<4096x2048xf16>
  return %p : tensor<4096x2048xf16>
}
