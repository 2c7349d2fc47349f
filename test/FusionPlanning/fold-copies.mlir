// Contractions read transposed and repeated operands where they come from, and
// no operation reads or makes dimensions of size one for the sake of others.

// RUN: fusion-opt %s --fusion-plan-form-kernels --split-input-file | FileCheck %s

// CHECK-DAG: #[[QUERY:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[KEY:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
// CHECK-LABEL: func.func @transposed
// CHECK: fusion.kernel @matmul ins(%arg0, %arg1 :
// CHECK-NEXT: ^bb0(%[[Q:.*]]: tensor<4x32x64xf16>, %[[K:.*]]: tensor<48x64xf16>):
// CHECK-NOT: linalg.generic
// CHECK: linalg.generic {indexing_maps = [#[[QUERY]], #[[KEY]], #{{.*}}], {{.*}} ins(%[[Q]], %[[K]] :
// CHECK-NOT: linalg.generic
func.func @transposed(%q: tensor<4x32x64xf16>, %k: tensor<48x64xf16>) -> tensor<4x32x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf16>
  %kt = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%k : tensor<48x64xf16>) outs(%e : tensor<64x48xf16>) {
  ^bb0(%a: f16, %o: f16):
    linalg.yield %a : f16
  } -> tensor<64x48xf16>
  %r = tensor.empty() : tensor<4x64x48xf16>
  %kr = linalg.generic {indexing_maps = [affine_map<(b, i, j) -> (i, j)>, affine_map<(b, i, j) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%kt : tensor<64x48xf16>) outs(%r : tensor<4x64x48xf16>) {
  ^bb0(%a: f16, %o: f16):
    linalg.yield %a : f16
  } -> tensor<4x64x48xf16>
  %se = tensor.empty() : tensor<4x32x48xf32>
  %si = linalg.fill ins(%zero : f32) outs(%se : tensor<4x32x48xf32>) -> tensor<4x32x48xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, i, j, d) -> (b, i, d)>, affine_map<(b, i, j, d) -> (b, d, j)>, affine_map<(b, i, j, d) -> (b, i, j)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %kr : tensor<4x32x64xf16>, tensor<4x64x48xf16>) outs(%si : tensor<4x32x48xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<4x32x48xf32>
  return %s : tensor<4x32x48xf32>
}

// -----

// What a reduction keeps of its dimension is neither made nor read.
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @kept
// CHECK: %[[M:.*]] = linalg.generic {indexing_maps = [#[[ID]], #[[ROW]]], iterator_types = ["parallel", "reduction"]} {{.*}} outs(%{{.*}} : tensor<32xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ROW]], #[[ID]]], {{.*}} ins(%{{.*}}, %[[M]] : tensor<32x64xf32>, tensor<32xf32>)
func.func @kept(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %lowest = arith.constant 0xFF800000 : f32
  %me = tensor.empty() : tensor<32x1xf32>
  %mi = linalg.fill ins(%lowest : f32) outs(%me : tensor<32x1xf32>) -> tensor<32x1xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<32x64xf32>) outs(%mi : tensor<32x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<32x1xf32>
  %e = tensor.empty() : tensor<32x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, 0)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<32x64xf32>, tensor<32x1xf32>) outs(%e : tensor<32x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    linalg.yield %d : f32
  } -> tensor<32x64xf32>
  return %r : tensor<32x64xf32>
}

// -----

// A copy that the program asks to be a kernel of its own stays one.
// CHECK-LABEL: func.func @contract
// CHECK-COUNT-2: linalg.generic
func.func @contract(%x: tensor<32x64xf16>, %k: tensor<48x64xf16>) -> tensor<32x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf16>
  %kt = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%k : tensor<48x64xf16>) outs(%e : tensor<64x48xf16>) attrs = {fusion.never} {
  ^bb0(%a: f16, %o: f16):
    linalg.yield %a : f16
  } -> tensor<64x48xf16>
  %se = tensor.empty() : tensor<32x48xf32>
  %si = linalg.fill ins(%zero : f32) outs(%se : tensor<32x48xf32>) -> tensor<32x48xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j, d) -> (i, d)>, affine_map<(i, j, d) -> (d, j)>, affine_map<(i, j, d) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %kt : tensor<32x64xf16>, tensor<64x48xf16>) outs(%si : tensor<32x48xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %u = arith.extf %a : f16 to f32
    %v = arith.extf %b : f16 to f32
    %p = arith.mulf %u, %v : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<32x48xf32>
  return %s : tensor<32x48xf32>
}

// -----

// Keys are transposed, and their heads then joined with the batch: the heads of the
// keys themselves are joined.
// CHECK-LABEL: func.func @joined
// CHECK: %[[KEYS:.*]] = tensor.collapse_shape %arg1 {{\[\[}}0, 1], [2], [3]] : tensor<2x4x64x32xf16> into tensor<8x64x32xf16>
// CHECK: fusion.kernel @matmul ins(%arg0, %[[KEYS]] :
// CHECK-NOT: fusion.kernel
func.func @joined(%q: tensor<8x64x32xf16>, %k: tensor<2x4x64x32xf16>) -> tensor<8x64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %te = tensor.empty() : tensor<2x4x32x64xf16>
  %t = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, d, c)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%k : tensor<2x4x64x32xf16>) outs(%te : tensor<2x4x32x64xf16>) {
  ^bb0(%a: f16, %o: f16):
    linalg.yield %a : f16
  } -> tensor<2x4x32x64xf16>
  %c = tensor.collapse_shape %t [[0, 1], [2], [3]] : tensor<2x4x32x64xf16> into tensor<8x32x64xf16>
  %e = tensor.empty() : tensor<8x64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x64x64xf32>) -> tensor<8x64x64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, i, j, k) -> (b, i, k)>, affine_map<(b, i, j, k) -> (b, k, j)>, affine_map<(b, i, j, k) -> (b, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %c : tensor<8x64x32xf16>, tensor<8x32x64xf16>) outs(%f : tensor<8x64x64xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.extf %b : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<8x64x64xf32>
  return %s : tensor<8x64x64xf32>
}

// -----

// Joined across the transpose, in another order than in memory: a copy.
// CHECK-LABEL: func.func @crossed
// CHECK-NOT: tensor.collapse_shape %arg1
// CHECK: fusion.kernel @transpose_matmul ins(%arg1,
func.func @crossed(%q: tensor<8x64x32xf16>, %k: tensor<2x4x64x32xf16>) -> tensor<8x64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %te = tensor.empty() : tensor<4x2x32x64xf16>
  %t = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (b, a, d, c)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%k : tensor<2x4x64x32xf16>) outs(%te : tensor<4x2x32x64xf16>) {
  ^bb0(%a: f16, %o: f16):
    linalg.yield %a : f16
  } -> tensor<4x2x32x64xf16>
  %c = tensor.collapse_shape %t [[0, 1], [2], [3]] : tensor<4x2x32x64xf16> into tensor<8x32x64xf16>
  %e = tensor.empty() : tensor<8x64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x64x64xf32>) -> tensor<8x64x64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, i, j, k) -> (b, i, k)>, affine_map<(b, i, j, k) -> (b, k, j)>, affine_map<(b, i, j, k) -> (b, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %c : tensor<8x64x32xf16>, tensor<8x32x64xf16>) outs(%f : tensor<8x64x64xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.extf %b : f16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<8x64x64xf32>
  return %s : tensor<8x64x64xf32>
}
