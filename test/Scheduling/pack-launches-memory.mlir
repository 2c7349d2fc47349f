// RUN: fusion-opt %s --fusion-schedule-select --fusion-schedule-pack-launches | FileCheck %s

// What starts with an earlier kernel waits for who reads it: only where memory
// between kernels has room for that without launches too. What the function
// gives, itself or a view of it, is no memory between kernels. The cache is
// small here: whatever fits it waits for free.

module attributes {fusion.target = #fusion.target<chip = "sm_90a", fitted = {chip = {l2Bytes = 1024}}>} {
// CHECK-LABEL: func.func @first_reads_later
// CHECK: fusion.kernel @exp
// CHECK-NOT: launch =
// CHECK: fusion.kernel @tanh
// CHECK-NOT: launch =
// CHECK: fusion.kernel @sum
func.func @first_reads_later(%x: tensor<4096xf32>, %w: tensor<4096xf32>) -> (tensor<64x64xf32>, tensor<f32>) {
  %i = tensor.empty() : tensor<f32>
  %a = fusion.kernel @exp ins(%x : tensor<4096xf32>) -> (tensor<4096xf32>) {
  ^bb0(%u: tensor<4096xf32>):
    %e = tensor.empty() : tensor<4096xf32>
    %s = linalg.exp ins(%u : tensor<4096xf32>) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
    fusion.yield %s : tensor<4096xf32>
  }
  %b = fusion.kernel @sum ins(%a, %i : tensor<4096xf32>, tensor<f32>) -> (tensor<f32>) {
  ^bb0(%u: tensor<4096xf32>, %v: tensor<f32>):
    %s = linalg.reduce { arith.addf } ins(%u : tensor<4096xf32>) outs(%v : tensor<f32>) dimensions = [0]
    fusion.yield %s : tensor<f32>
  }
  %c = fusion.kernel @tanh ins(%w : tensor<4096xf32>) -> (tensor<4096xf32>) {
  ^bb0(%u: tensor<4096xf32>):
    %e = tensor.empty() : tensor<4096xf32>
    %s = linalg.tanh ins(%u : tensor<4096xf32>) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
    fusion.yield %s : tensor<4096xf32>
  }
  %g = fusion.kernel @abs ins(%c : tensor<4096xf32>) -> (tensor<4096xf32>) {
  ^bb0(%u: tensor<4096xf32>):
    %e = tensor.empty() : tensor<4096xf32>
    %s = linalg.abs ins(%u : tensor<4096xf32>) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
    fusion.yield %s : tensor<4096xf32>
  }
  %given = tensor.expand_shape %g [[0, 1]] output_shape [64, 64] : tensor<4096xf32> into tensor<64x64xf32>
  %d = fusion.kernel @last ins(%c, %b : tensor<4096xf32>, tensor<f32>) -> (tensor<f32>) {
  ^bb0(%u: tensor<4096xf32>, %v: tensor<f32>):
    %s = linalg.reduce { arith.addf } ins(%u : tensor<4096xf32>) outs(%v : tensor<f32>) dimensions = [0]
    fusion.yield %s : tensor<f32>
  }
  return %given, %d : tensor<64x64xf32>, tensor<f32>
}
}
