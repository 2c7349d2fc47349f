// RUN: fusion-opt %s --pass-pipeline="builtin.module(func.func(fusion-input-propagate-reshapes))" | FileCheck %s

// CHECK-LABEL: func.func @elementwise
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<4x8xf32>)
// CHECK: tensor.collapse_shape {{.*}} : tensor<4x8xf32> into tensor<32xf32>
func.func @elementwise(%x: tensor<4x8xf32>) -> tensor<32xf32> {
  %c = tensor.collapse_shape %x [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  %e = tensor.empty() : tensor<32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%c : tensor<32xf32>) outs(%e : tensor<32xf32>) {
  ^bb0(%u: f32, %o: f32):
    %n = arith.negf %u : f32
    linalg.yield %n : f32
  } -> tensor<32xf32>
  return %r : tensor<32xf32>
}

// A reduction keeps its one loop.

// CHECK-LABEL: func.func @reduction
// CHECK: tensor.collapse_shape
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction"]
func.func @reduction(%x: tensor<4x8xf32>, %init: tensor<f32>) -> tensor<f32> {
  %c = tensor.collapse_shape %x [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%c : tensor<32xf32>) outs(%init : tensor<f32>) {
  ^bb0(%u: f32, %o: f32):
    %n = arith.addf %u, %o : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// Before a reduction the reshape stays, past an elementwise op too.

// CHECK-LABEL: func.func @before_reduction
// CHECK: %[[C:.*]] = tensor.collapse_shape
// CHECK: linalg.generic {{.*}} ins(%[[C]] : tensor<32xf32>)
func.func @before_reduction(%x: tensor<4x8xf32>, %init: tensor<f32>) -> tensor<f32> {
  %c = tensor.collapse_shape %x [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  %e = tensor.empty() : tensor<32xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%c : tensor<32xf32>) outs(%e : tensor<32xf32>) {
  ^bb0(%u: f32, %o: f32):
    %s = arith.negf %u : f32
    linalg.yield %s : f32
  } -> tensor<32xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%n : tensor<32xf32>) outs(%init : tensor<f32>) {
  ^bb0(%u: f32, %o: f32):
    %s = arith.addf %u, %o : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
