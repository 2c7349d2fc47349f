// Contractions are made along the parts of a dimension that their operands
// repeat, and what follows them up to the next contraction.

// RUN: fusion-opt %s --fusion-plan-form-kernels --split-input-file | FileCheck %s

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>

// CHECK-DAG: #[[QUERY:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d5)>
// CHECK-DAG: #[[KEY:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5)>
// CHECK-LABEL: func.func @quotient
// CHECK: %[[Q:.*]] = tensor.expand_shape %arg0 {{.*}} into tensor<2x2x4x32x64xf16>
// CHECK: fusion.kernel @{{.*}} ins(%[[Q]], %arg1 :
// CHECK: linalg.generic {indexing_maps = [#[[QUERY]], #[[KEY]], #{{.*}}]
func.func @quotient(%q: tensor<2x8x32x64xf16>, %k: tensor<2x2x48x64xf16>) -> tensor<2x8x32x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8x32x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x32x48xf32>) -> tensor<2x8x32x48xf32>
  %r = linalg.generic {indexing_maps = [#q, affine_map<(b, h, i, j, d) -> (b, h floordiv 4, j, d)>, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x8x32x64xf16>, tensor<2x2x48x64xf16>) outs(%f : tensor<2x8x32x48xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x8x32x48xf32>
  return %r : tensor<2x8x32x48xf32>
}

// -----

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>

// Heads that have the same keys in turn.
// CHECK-DAG: #[[QUERY:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d5)>
// CHECK-DAG: #[[KEY:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2, d4, d5)>
// CHECK-LABEL: func.func @remainder
// CHECK: %[[Q:.*]] = tensor.expand_shape %arg0 {{.*}} into tensor<2x4x2x32x64xf16>
// CHECK: fusion.kernel @{{.*}} ins(%[[Q]], %arg1 :
// CHECK: linalg.generic {indexing_maps = [#[[QUERY]], #[[KEY]], #{{.*}}]
func.func @remainder(%q: tensor<2x8x32x64xf16>, %k: tensor<2x2x48x64xf16>) -> tensor<2x8x32x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8x32x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x32x48xf32>) -> tensor<2x8x32x48xf32>
  %r = linalg.generic {indexing_maps = [#q, affine_map<(b, h, i, j, d) -> (b, h mod 2, j, d)>, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x8x32x64xf16>, tensor<2x2x48x64xf16>) outs(%f : tensor<2x8x32x48xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x8x32x48xf32>
  return %r : tensor<2x8x32x48xf32>
}

// -----

#q = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#s = affine_map<(b, h, i, j, d) -> (b, h, i, j)>

// The last key is one of three heads only: no two dimensions are these.
// CHECK-LABEL: func.func @ragged
// CHECK-NOT: expand_shape
// CHECK: fusion.kernel @{{.*}} ins(%arg0, %arg1 :
func.func @ragged(%q: tensor<2x7x32x64xf16>, %k: tensor<2x2x48x64xf16>) -> tensor<2x7x32x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x7x32x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x7x32x48xf32>) -> tensor<2x7x32x48xf32>
  %r = linalg.generic {indexing_maps = [#q, affine_map<(b, h, i, j, d) -> (b, h floordiv 4, j, d)>, #s], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<2x7x32x64xf16>, tensor<2x2x48x64xf16>) outs(%f : tensor<2x7x32x48xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<2x7x32x48xf32>
  return %r : tensor<2x7x32x48xf32>
}

// -----

// Repeated, joined and transposed; one row for each head. The batch is known at
// run time only.
// CHECK-DAG: #[[QUERY:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
// CHECK-DAG: #[[KEY:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
// CHECK-LABEL: func.func @copied
// CHECK: fusion.kernel @matmul ins(%{{.*}}, %arg1 :
// CHECK: linalg.generic {indexing_maps = [#[[QUERY]], #[[KEY]], #{{.*}}]
func.func @copied(%q: tensor<?x8x64xf16>, %k: tensor<?x2x48x64xf16>) -> tensor<?x8x48xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %k, %c0 : tensor<?x2x48x64xf16>
  %re = tensor.empty(%n) : tensor<?x2x4x48x64xf16>
  %rep = linalg.generic {indexing_maps = [affine_map<(b, h, g, j, d) -> (b, h, j, d)>, affine_map<(b, h, g, j, d) -> (b, h, g, j, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%k : tensor<?x2x48x64xf16>) outs(%re : tensor<?x2x4x48x64xf16>) {
  ^bb0(%a: f16, %o: f16):
    linalg.yield %a : f16
  } -> tensor<?x2x4x48x64xf16>
  %kr = tensor.collapse_shape %rep [[0], [1, 2], [3], [4]] : tensor<?x2x4x48x64xf16> into tensor<?x8x48x64xf16>
  %te = tensor.empty(%n) : tensor<?x8x64x48xf16>
  %kt = linalg.generic {indexing_maps = [affine_map<(b, h, d, j) -> (b, h, j, d)>, affine_map<(b, h, d, j) -> (b, h, d, j)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%kr : tensor<?x8x48x64xf16>) outs(%te : tensor<?x8x64x48xf16>) {
  ^bb0(%a: f16, %o: f16):
    linalg.yield %a : f16
  } -> tensor<?x8x64x48xf16>
  %e = tensor.empty(%n) : tensor<?x8x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x8x48xf32>) -> tensor<?x8x48xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, h, j, d) -> (b, h, d)>, affine_map<(b, h, j, d) -> (b, h, d, j)>, affine_map<(b, h, j, d) -> (b, h, j)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %kt : tensor<?x8x64xf16>, tensor<?x8x64x48xf16>) outs(%f : tensor<?x8x48xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %x = arith.extf %a : f16 to f32
    %y = arith.extf %b : f16 to f32
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<?x8x48xf32>
  return %r : tensor<?x8x48xf32>
}

// -----

// Scales of groups of what is contracted: that stays one dimension.
// CHECK-LABEL: func.func @groups
// CHECK-NOT: expand_shape
// CHECK: fusion.kernel @{{.*}} ins(%arg0, %arg1, %arg2 :
func.func @groups(%x: tensor<32x64xf16>, %w: tensor<64x48xf16>, %scale: tensor<2x48xf16>) -> tensor<32x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x48xf32>) -> tensor<32x48xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (k floordiv 32, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w, %scale : tensor<32x64xf16>, tensor<64x48xf16>, tensor<2x48xf16>) outs(%f : tensor<32x48xf32>) {
  ^bb0(%a: f16, %b: f16, %c: f16, %o: f32):
    %u = arith.mulf %b, %c : f16
    %y = arith.extf %a : f16 to f32
    %z = arith.extf %u : f16 to f32
    %p = arith.mulf %y, %z : f32
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<32x48xf32>
  return %r : tensor<32x48xf32>
}
