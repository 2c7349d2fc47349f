// A maximum and the sum of exponentials relative to it become one reduction
// where rows are walked; not where a block keeps them, nor of anything else.

// RUN: fusion-opt %s --fusion-plan-form-kernels=target=sm_90a --split-input-file --remarks-filter='fusion-plan' -o - 2> %t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.log
// REMARK: [Passed] rescaled-sum {{.*}}Remark="reduce_max -> sum: a maximum and the sum of exponentials relative to it became one reduction

#full = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>

// The two sum what they are relative to in one body, the other by two
// operations.
// CHECK-LABEL: func.func @walked
// CHECK: %[[BOTH:.*]]:2 = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: ^bb0(%[[X:.*]]: f16, %[[M:.*]]: f32, %[[S:.*]]: f32):
// CHECK: %[[WIDE:.*]] = arith.extf %[[X]]
// CHECK: %[[HI:.*]] = arith.maximumf %[[M]], %[[WIDE]]
// CHECK: %[[LO:.*]] = arith.minimumf %[[M]], %[[WIDE]]
// CHECK: arith.subf %[[LO]], %[[HI]]
// CHECK: linalg.generic
// CHECK: %[[NONE:.*]] = arith.subf %[[A:.*]], %[[A]]
// CHECK: arith.addf %{{.*}}, %[[NONE]]
func.func @walked(%x: tensor<64x8000000xf16>) -> (tensor<64xf32>, tensor<64xf32>) {
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %full = tensor.empty() : tensor<64x8000000xf32>
  %m0 = linalg.fill ins(%ninf : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %m = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x8000000xf16>) outs(%m0 : tensor<64xf32>) {
  ^bb0(%a: f16, %o: f32):
    %w = arith.extf %a : f16 to f32
    %r = arith.maximumf %o, %w : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %d = linalg.generic {indexing_maps = [#full, #row, #full], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<64x8000000xf16>, tensor<64xf32>) outs(%full : tensor<64x8000000xf32>) {
  ^bb0(%a: f16, %b: f32, %o: f32):
    %w = arith.extf %a : f16 to f32
    %r = arith.subf %w, %b : f32
    linalg.yield %r : f32
  } -> tensor<64x8000000xf32>
  %s = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%d : tensor<64x8000000xf32>) outs(%s0 : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.exp %a : f32
    %r = arith.addf %o, %t : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %m, %s : tensor<64xf32>, tensor<64xf32>
}

// -----

#full = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>

// CHECK-LABEL: func.func @kept
// CHECK-NOT: minimumf
func.func @kept(%x: tensor<4096x1024xf32>) -> tensor<4096xf32> {
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096xf32>
  %m0 = linalg.fill ins(%ninf : f32) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<4096x1024xf32>) outs(%m0 : tensor<4096xf32>) dimensions = [1]
  %s = linalg.generic {indexing_maps = [#full, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %m : tensor<4096x1024xf32>, tensor<4096xf32>) outs(%s0 : tensor<4096xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %t = math.exp %d : f32
    %r = arith.addf %o, %t : f32
    linalg.yield %r : f32
  } -> tensor<4096xf32>
  return %s : tensor<4096xf32>
}

// -----

#full = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>

// Relative to the maximum of other elements; of what is not an exponential;
// from one on.
// CHECK-LABEL: func.func @others
// CHECK-NOT: minimumf
func.func @others(%x: tensor<64x8000000xf32>, %y: tensor<64x8000000xf32>)
    -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %ninf = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %m0 = linalg.fill ins(%ninf : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %s1 = linalg.fill ins(%one : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<64x8000000xf32>) outs(%m0 : tensor<64xf32>) dimensions = [1]
  %s = linalg.generic {indexing_maps = [#full, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%y, %m : tensor<64x8000000xf32>, tensor<64xf32>) outs(%s0 : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %t = math.exp %d : f32
    %r = arith.addf %o, %t : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %q = linalg.generic {indexing_maps = [#full, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %m : tensor<64x8000000xf32>, tensor<64xf32>) outs(%s0 : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %t = math.tanh %d : f32
    %r = arith.addf %o, %t : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  %u = linalg.generic {indexing_maps = [#full, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %m : tensor<64x8000000xf32>, tensor<64xf32>) outs(%s1 : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %t = math.exp %d : f32
    %r = arith.addf %o, %t : f32
    linalg.yield %r : f32
  } -> tensor<64xf32>
  return %s, %q, %u : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}
