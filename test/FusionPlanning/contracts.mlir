// RUN: fusion-opt %s --fusion-plan-form-kernels | FileCheck %s
// RUN: fusion-opt %s --fusion-plan-form-kernels=fuse=false | FileCheck %s --check-prefix=SINGLE

// What the user demands, forbids or bounds is obeyed, unless nothing is to be
// fused at all.

// SINGLE: func @never
// SINGLE-SAME: kernels_after = 3 : i64
// SINGLE: func @max_kernels
// SINGLE-SAME: kernels_after = 2 : i64
// SINGLE: func @without_limit
// SINGLE-SAME: kernels_after = 2 : i64
// SINGLE: func @must
// SINGLE-SAME: kernels_after = 2 : i64

// CHECK-LABEL: func @never
// CHECK-SAME: kernels_after = 3 : i64
// CHECK: fusion.kernel @add
// CHECK: fusion.kernel @exp
// CHECK-NOT: fusion.never
// CHECK: fusion.kernel @mul
func.func @never(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %e = tensor.empty() : tensor<1024x1024xf32>
  %0 = linalg.add ins(%x, %x : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %1 = linalg.exp {fusion.never} ins(%0 : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %2 = linalg.mul ins(%1, %1 : tensor<1024x1024xf32>, tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %2 : tensor<1024x1024xf32>
}

// Left to prices, one long sum over few rows, which several blocks cannot share
// in f64, and a product that reads it keep apart; fusion.max_kernels takes the cheapest fusion that is legal.
// CHECK-LABEL: func @max_kernels
// CHECK-SAME: kernels_after = 1 : i64
func.func @max_kernels(%x: tensor<8x1048576xf64>) -> tensor<8x1048576xf64> attributes {fusion.max_kernels = 1 : i64} {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<8x1048576xf64>
  %er = tensor.empty() : tensor<8xf64>
  %f = linalg.fill ins(%zero : f64) outs(%er : tensor<8xf64>) -> tensor<8xf64>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<8x1048576xf64>) outs(%f : tensor<8xf64>) dimensions = [1]
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<8x1048576xf64>, tensor<8xf64>) outs(%e : tensor<8x1048576xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %0 = arith.mulf %a, %b : f64
    linalg.yield %0 : f64
  } -> tensor<8x1048576xf64>
  return %y : tensor<8x1048576xf64>
}

// CHECK-LABEL: func @without_limit
// CHECK-SAME: kernels_after = 2 : i64
func.func @without_limit(%x: tensor<8x1048576xf64>) -> tensor<8x1048576xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<8x1048576xf64>
  %er = tensor.empty() : tensor<8xf64>
  %f = linalg.fill ins(%zero : f64) outs(%er : tensor<8xf64>) -> tensor<8xf64>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<8x1048576xf64>) outs(%f : tensor<8xf64>) dimensions = [1]
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<8x1048576xf64>, tensor<8xf64>) outs(%e : tensor<8x1048576xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %0 = arith.mulf %a, %b : f64
    linalg.yield %0 : f64
  } -> tensor<8x1048576xf64>
  return %y : tensor<8x1048576xf64>
}

// The same sum, demanded to stay on chip.
// CHECK-LABEL: func @must
// CHECK-SAME: kernels_after = 1 : i64
// CHECK-NOT: fusion.must
func.func @must(%x: tensor<8x1048576xf64>) -> tensor<8x1048576xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<8x1048576xf64>
  %er = tensor.empty() : tensor<8xf64>
  %f = linalg.fill ins(%zero : f64) outs(%er : tensor<8xf64>) -> tensor<8xf64>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x1048576xf64>) outs(%f : tensor<8xf64>) attrs = {fusion.must} {
  ^bb0(%a: f64, %o: f64):
    %0 = arith.addf %a, %o : f64
    linalg.yield %0 : f64
  } -> tensor<8xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<8x1048576xf64>, tensor<8xf64>) outs(%e : tensor<8x1048576xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %0 = arith.mulf %a, %b : f64
    linalg.yield %0 : f64
  } -> tensor<8x1048576xf64>
  return %y : tensor<8x1048576xf64>
}

// Two users that no kernel can hold together: each computes the value itself.
// CHECK-LABEL: func @must_for_all_users
// CHECK-SAME: kernels_after = 2 : i64
// CHECK: fusion.kernel @exp_sum ins(%arg0 : tensor<40x512xf32>) -> (tensor<40xf32>)
// CHECK: fusion.kernel @exp_sum_1 ins(%arg0 : tensor<40x512xf32>) -> (tensor<512xf32>)
func.func @must_for_all_users(%x: tensor<40x512xf32>) -> (tensor<40xf32>, tensor<512xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40x512xf32>
  %er = tensor.empty() : tensor<40xf32>
  %ec = tensor.empty() : tensor<512xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<40xf32>) -> tensor<40xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<512xf32>) -> tensor<512xf32>
  %0 = linalg.exp {fusion.must} ins(%x : tensor<40x512xf32>) outs(%e : tensor<40x512xf32>) -> tensor<40x512xf32>
  %r = linalg.reduce { arith.addf } ins(%0 : tensor<40x512xf32>) outs(%fr : tensor<40xf32>) dimensions = [1]
  %c = linalg.reduce { arith.addf } ins(%0 : tensor<40x512xf32>) outs(%fc : tensor<512xf32>) dimensions = [0]
  return %r, %c : tensor<40xf32>, tensor<512xf32>
}
