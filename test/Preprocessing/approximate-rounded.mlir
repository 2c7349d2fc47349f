// RUN: fusion-opt %s --split-input-file \
// RUN:   --pass-pipeline='builtin.module(func.func(fusion-input-approximate))' \
// RUN:   | FileCheck %s

// In one body: a sigmoid of bf16, whose divisor is a sum of what is not
// negative.

// CHECK-LABEL: func @sigmoid
// CHECK: math.exp %{{.*}} fastmath<afn>
// CHECK: arith.divf %{{.*}} fastmath<afn>
#map = affine_map<(d0) -> (d0)>
func.func @sigmoid(%x: tensor<8xbf16>) -> tensor<8xbf16> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<8xbf16>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<8xbf16>) outs(%e : tensor<8xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    %1 = arith.extf %in : bf16 to f32
    %2 = arith.negf %1 : f32
    %3 = math.exp %2 : f32
    %4 = arith.addf %3, %one : f32
    %5 = arith.divf %one, %4 : f32
    %6 = arith.truncf %5 : f32 to bf16
    linalg.yield %6 : bf16
  } -> tensor<8xbf16>
  return %0 : tensor<8xbf16>
}

// -----

// From one operation to the next: the terms of a sum that begins with zero, and
// what is divided by it.

// CHECK-LABEL: func @softmax
// CHECK-COUNT-2: math.exp %{{.*}} fastmath<afn>
// CHECK: arith.divf %{{.*}} fastmath<afn>
#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = math.exp %in : f32
    %2 = arith.addf %out, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  %o = tensor.empty() : tensor<4x8xf16>
  %0 = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<4x8xf32>, tensor<4xf32>) outs(%o : tensor<4x8xf16>) {
  ^bb0(%in: f32, %s: f32, %out: f16):
    %1 = math.exp %in : f32
    %2 = arith.divf %1, %s : f32
    %3 = arith.truncf %2 : f32 to f16
    linalg.yield %3 : f16
  } -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}

// -----

// Exact where the results are f32, where a difference makes errors larger,
// where the sum begins with what may be negative, and by counts.

// CHECK-LABEL: func @exact
// CHECK-NOT: fastmath
#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @exact(%x: tensor<4x8xf32>, %init: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4x8xbf16>, tensor<4xbf16>, tensor<4x8xbf16>) {
  %one = arith.constant 1.0 : f32
  %count = arith.constant 7.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %4 = math.exp %in : f32
    linalg.yield %4 : f32
  } -> tensor<4x8xf32>
  %o = tensor.empty() : tensor<4x8xbf16>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%o : tensor<4x8xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %4 = math.exp %in : f32
    %5 = arith.subf %4, %one : f32
    %6 = arith.truncf %5 : f32 to bf16
    linalg.yield %6 : bf16
  } -> tensor<4x8xbf16>
  %sum = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %4 = math.exp %in : f32
    %5 = arith.addf %out, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<4xf32>
  %r = tensor.empty() : tensor<4xbf16>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%sum : tensor<4xf32>) outs(%r : tensor<4xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %4 = arith.truncf %in : f32 to bf16
    linalg.yield %4 : bf16
  } -> tensor<4xbf16>
  %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%o : tensor<4x8xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %4 = arith.divf %in, %count : f32
    %5 = arith.truncf %4 : f32 to bf16
    linalg.yield %5 : bf16
  } -> tensor<4x8xbf16>
  return %0, %1, %2, %3 : tensor<4x8xf32>, tensor<4x8xbf16>, tensor<4xbf16>, tensor<4x8xbf16>
}

// -----

// Each value is asked about once, by however many paths it is reached.

// CHECK-LABEL: func @doubled
// CHECK: math.exp %{{.*}} fastmath<afn>
#map = affine_map<(d0) -> (d0)>
func.func @doubled(%x: tensor<8xf32>) -> tensor<8xbf16> {
  %e = tensor.empty() : tensor<8xbf16>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %v0 = math.exp %in : f32
    %v1 = arith.addf %v0, %v0 : f32
    %v2 = arith.addf %v1, %v1 : f32
    %v3 = arith.addf %v2, %v2 : f32
    %v4 = arith.addf %v3, %v3 : f32
    %v5 = arith.addf %v4, %v4 : f32
    %v6 = arith.addf %v5, %v5 : f32
    %v7 = arith.addf %v6, %v6 : f32
    %v8 = arith.addf %v7, %v7 : f32
    %v9 = arith.addf %v8, %v8 : f32
    %v10 = arith.addf %v9, %v9 : f32
    %v11 = arith.addf %v10, %v10 : f32
    %v12 = arith.addf %v11, %v11 : f32
    %v13 = arith.addf %v12, %v12 : f32
    %v14 = arith.addf %v13, %v13 : f32
    %r = arith.truncf %v14 : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<8xbf16>
  return %0 : tensor<8xbf16>
}
