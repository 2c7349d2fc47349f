// A sum and the sum of squares of distances from its mean become one reduction
// where rows are walked; not where a block keeps them, nor of anything else.

// RUN: fusion-opt %s --fusion-plan-form-kernels=target=sm_90a --split-input-file --remarks-filter='fusion-plan' -o - 2> %t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.log
// REMARK: [Passed] centered-sum {{.*}}Remark="sum -> sum: a sum and the sum of squares of distances from its mean became one reduction

#full = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>
#vector = affine_map<(r) -> (r)>

// Distances are computed by an operation of their own; the mean is a product.
// CHECK-LABEL: func.func @walked
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: ^bb0(%[[X:.*]]: f16, %[[N:.*]]: f32, %[[S:.*]]: f32, %[[Q:.*]]: f32):
// CHECK: %[[WIDE:.*]] = arith.extf %[[X]]
// CHECK: arith.addf %[[N]]
// CHECK: arith.addf %[[S]], %[[WIDE]]
// CHECK: %[[MEAN:.*]] = arith.divf %[[S]], %[[N]]
// CHECK: %[[D:.*]] = arith.subf %[[WIDE]], %[[MEAN]]
// CHECK: arith.mulf %[[D]], %[[D]]
// CHECK-NOT: "reduction"
// CHECK: return
func.func @walked(%x: tensor<64x8000000xf16>) -> (tensor<64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %inverse = arith.constant 1.25e-7 : f32
  %e = tensor.empty() : tensor<64xf32>
  %full = tensor.empty() : tensor<64x8000000xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x8000000xf16>) outs(%s0 : tensor<64xf32>) {
  ^bb0(%a: f16, %o: f32):
    %w = arith.extf %a : f16 to f32
    %r = arith.addf %o, %w : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]} ins(%s : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.mulf %a, %inverse : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %d = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<64x8000000xf16>, tensor<64xf32>) outs(%full : tensor<64x8000000xf32>) {
  ^bb0(%a: f16, %b: f32, %o: f32):
    %w = arith.extf %a : f16 to f32
    %r = arith.subf %w, %b : f32
    linalg.yield %r : f32
  } -> tensor<64x8000000xf32>
  %q = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%d : tensor<64x8000000xf32>) outs(%s0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.mulf %a, %a : f32
    %r = arith.addf %o, %t : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %m, %q : tensor<64xf32>, tensor<64xf32>
}

// -----

#full = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>

// A second sweep over registers costs less than divisions.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-2: "reduction"
func.func @kept(%x: tensor<4096x1024xf32>) -> tensor<4096xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 1024.0 : f32
  %e = tensor.empty() : tensor<4096xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
  %s = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4096x1024xf32>) outs(%s0 : tensor<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<4096xf32>
  %q = linalg.generic {indexing_maps = [#full, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %s : tensor<4096x1024xf32>, tensor<4096xf32>) outs(%s0 : tensor<4096xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.divf %b, %n : f32
    %d = arith.subf %a, %m : f32
    %t = arith.mulf %d, %d : f32
    %r = arith.addf %o, %t : f32
    linalg.yield %r : f32
  } -> tensor<4096xf32>
  return %q : tensor<4096xf32>
}

// -----

#full = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>

// What is divided by another number than that of the terms is no mean.
// CHECK-LABEL: func.func @no_mean
// CHECK-COUNT-2: "reduction"
func.func @no_mean(%x: tensor<64x8000000xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 7999999.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x8000000xf32>) outs(%s0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %q = linalg.generic {indexing_maps = [#full, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %s : tensor<64x8000000xf32>, tensor<64xf32>) outs(%s0 : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.divf %b, %n : f32
    %d = arith.subf %a, %m : f32
    %t = arith.mulf %d, %d : f32
    %r = arith.addf %o, %t : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %q : tensor<64xf32>
}

// -----

#full = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>

// Distances of other elements than the mean's.
// CHECK-LABEL: func.func @other_elements
// CHECK-COUNT-2: "reduction"
func.func @other_elements(%x: tensor<64x8000000xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 8000000.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x8000000xf32>) outs(%s0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %q = linalg.generic {indexing_maps = [#full, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %s : tensor<64x8000000xf32>, tensor<64xf32>) outs(%s0 : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.divf %b, %n : f32
    %y = arith.negf %a : f32
    %d = arith.subf %y, %m : f32
    %t = arith.mulf %d, %d : f32
    %r = arith.addf %o, %t : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %q : tensor<64xf32>
}
