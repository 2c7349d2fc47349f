// A causal mask that is made of tensors of positions.

// RUN: fusion-compile %s --target=sm_90a --compile-to=schedule -o - | FileCheck %s
// RUN: fusion-compile %s --target=sm_90a --compile-to=ptx -o %t.ptx
// RUN: fusion-compile %S/causal-tensor.mlir --target=sm_90a --compile-to=ptx -o %t.other.ptx
// RUN: %python %S/same_kernel.py %t.ptx %t.other.ptx

// CHECK-COUNT-1: fusion.kernel @
// CHECK-SAME: #fusion.axis<sequential, tile = 128, limited>
// CHECK-NOT: fusion.kernel @

#bij = affine_map<(b, i, j) -> (b, i, j)>
func.func @main(%q4: tensor<2x8x1024x64xf16>, %k4: tensor<2x8x1024x64xf16>, %v4: tensor<2x8x1024x64xf16>) -> tensor<2x8x1024x64xf16> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %c = arith.constant 1.250000000e-01 : f32
  %se = tensor.empty() : tensor<16x1024x1024xf32>
  %oe = tensor.empty() : tensor<16x1024x64xf32>
  %he = tensor.empty() : tensor<16x1024x64xf16>
  %si = linalg.fill ins(%zero : f32) outs(%se : tensor<16x1024x1024xf32>) -> tensor<16x1024x1024xf32>
  %oi = linalg.fill ins(%zero : f32) outs(%oe : tensor<16x1024x64xf32>) -> tensor<16x1024x64xf32>
  %q = tensor.collapse_shape %q4 [[0, 1], [2], [3]] : tensor<2x8x1024x64xf16> into tensor<16x1024x64xf16>
  %k = tensor.collapse_shape %k4 [[0, 1], [2], [3]] : tensor<2x8x1024x64xf16> into tensor<16x1024x64xf16>
  %v = tensor.collapse_shape %v4 [[0, 1], [2], [3]] : tensor<2x8x1024x64xf16> into tensor<16x1024x64xf16>
  %ke = tensor.empty() : tensor<16x64x1024xf16>
  %kt = linalg.transpose ins(%k : tensor<16x1024x64xf16>) outs(%ke : tensor<16x64x1024xf16>) permutation = [0, 2, 1]
  %s = linalg.batch_matmul ins(%q, %kt : tensor<16x1024x64xf16>, tensor<16x64x1024xf16>) outs(%si : tensor<16x1024x1024xf32>) -> tensor<16x1024x1024xf32>
  %s4 = tensor.expand_shape %s [[0, 1], [2], [3]] output_shape [2, 8, 1024, 1024] : tensor<16x1024x1024xf32> into tensor<2x8x1024x1024xf32>
  %ve = tensor.empty() : tensor<1024xi32>
  %io = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%ve : tensor<1024xi32>) {
  ^bb0(%acc: i32):
    %i = linalg.index 0 : index
    %i1 = arith.index_cast %i : index to i32
    linalg.yield %i1 : i32
  } -> tensor<1024xi32>
  %me0 = tensor.empty() : tensor<1024x1024xi32>
  %rows = linalg.broadcast ins(%io : tensor<1024xi32>) outs(%me0 : tensor<1024x1024xi32>) dimensions = [1]
  %cols = linalg.broadcast ins(%io : tensor<1024xi32>) outs(%me0 : tensor<1024x1024xi32>) dimensions = [0]
  %me = tensor.empty() : tensor<1024x1024xi1>
  %mk = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%rows, %cols : tensor<1024x1024xi32>, tensor<1024x1024xi32>) outs(%me : tensor<1024x1024xi1>) {
  ^bb0(%i1: i32, %j1: i32, %acc: i1):
    %g = arith.cmpi sge, %i1, %j1 : i32
    linalg.yield %g : i1
  } -> tensor<1024x1024xi1>
  %x4e = tensor.empty() : tensor<2x8x1024x1024xf32>
  %x4 = linalg.generic {indexing_maps = [affine_map<(a, b, i, j) -> (a, b, i, j)>, affine_map<(a, b, i, j) -> (i, j)>, affine_map<(a, b, i, j) -> (a, b, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s4, %mk : tensor<2x8x1024x1024xf32>, tensor<1024x1024xi1>) outs(%x4e : tensor<2x8x1024x1024xf32>) {
  ^bb0(%a0: f32, %a1: i1, %acc: f32):
    %z = arith.mulf %a0, %c : f32
    %r = arith.select %a1, %z, %lowest : f32
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
  %p = tensor.collapse_shape %p4 [[0, 1], [2], [3]] : tensor<2x8x1024x1024xf16> into tensor<16x1024x1024xf16>
  %o = linalg.batch_matmul ins(%p, %v : tensor<16x1024x1024xf16>, tensor<16x1024x64xf16>) outs(%oi : tensor<16x1024x64xf32>) -> tensor<16x1024x64xf32>
  %h = linalg.generic {indexing_maps = [#bij, #bij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%o : tensor<16x1024x64xf32>) outs(%he : tensor<16x1024x64xf16>) {
  ^bb0(%a0: f32, %acc: f16):
    %r = arith.truncf %a0 : f32 to f16
    linalg.yield %r : f16
  } -> tensor<16x1024x64xf16>
  %r4 = tensor.expand_shape %h [[0, 1], [2], [3]] output_shape [2, 8, 1024, 64] : tensor<16x1024x64xf16> into tensor<2x8x1024x64xf16>
  return %r4 : tensor<2x8x1024x64xf16>
}
