// RUN: fusion-opt %s --allow-unregistered-dialect | fusion-opt --allow-unregistered-dialect | FileCheck %s
// RUN: fusion-opt %s --allow-unregistered-dialect --mlir-print-op-generic | fusion-opt --allow-unregistered-dialect | FileCheck %s

// CHECK-LABEL: func.func @kernel_two_results
// CHECK-SAME: (%[[X:.*]]: tensor<?x4096xbf16>, %[[G:.*]]: tensor<4096xf32>)
func.func @kernel_two_results(%x: tensor<?x4096xbf16>, %g: tensor<4096xf32>)
    -> (tensor<?x4096xbf16>, tensor<4096xf32>) {
  // CHECK: %[[R:.*]]:2 = fusion.kernel @name
  // CHECK-SAME: ins(%[[X]], %[[G]] : tensor<?x4096xbf16>, tensor<4096xf32>)
  // CHECK-SAME: -> (tensor<?x4096xbf16>, tensor<4096xf32>)
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<?x4096xbf16>, %[[B:.*]]: tensor<4096xf32>):
  // CHECK-NEXT: fusion.yield %[[A]], %[[B]] : tensor<?x4096xbf16>, tensor<4096xf32>
  %r:2 = fusion.kernel @name ins(%x, %g : tensor<?x4096xbf16>, tensor<4096xf32>)
      -> (tensor<?x4096xbf16>, tensor<4096xf32>) {
  ^bb0(%a: tensor<?x4096xbf16>, %b: tensor<4096xf32>):
    fusion.yield %a, %b : tensor<?x4096xbf16>, tensor<4096xf32>
  }
  return %r#0, %r#1 : tensor<?x4096xbf16>, tensor<4096xf32>
}

// CHECK-LABEL: func.func @kernel_attributes
func.func @kernel_attributes(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: fusion.kernel @k ins(%{{.*}} : tensor<8xf32>) -> (tensor<8xf32>)
  // CHECK-SAME: attributes {
  // CHECK-SAME: estimate = #fusion.estimate<time_us = 1.250000e+00, dram_bytes = 64, flops = 8, registers = 16, shared_bytes = 0, saved_bytes = -32, saved_launches = 1>
  // CHECK-SAME: fusion.must
  // CHECK-SAME: schedule = #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<full, tile = 4096, warps = 4, vector = 8>], warps = 4>
  %r = fusion.kernel @k ins(%x : tensor<8xf32>) -> (tensor<8xf32>) attributes {
    fusion.must,
    schedule = #fusion.schedule<reduction, axes = [
      #fusion.axis<grid, tile = 1>,
      #fusion.axis<full, tile = 4096, warps = 4, vector = 8>], warps = 4>,
    estimate = #fusion.estimate<time_us = 1.25, dram_bytes = 64, flops = 8,
      registers = 16, shared_bytes = 0, saved_bytes = -32, saved_launches = 1>
  } {
  ^bb0(%a: tensor<8xf32>):
    fusion.yield %a : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// A kernel without inputs, and scalars among the inputs.
// CHECK-LABEL: func.func @kernel_operands
func.func @kernel_operands(%n: index, %s: f32, %i: i32) -> tensor<?xf32> {
  // CHECK: fusion.kernel @fill -> (tensor<4xf32>) {
  %0 = fusion.kernel @fill -> (tensor<4xf32>) {
    %c = arith.constant dense<1.0> : tensor<4xf32>
    fusion.yield %c : tensor<4xf32>
  }
  // CHECK: fusion.kernel @scalars ins(%{{.*}} : index, f32, i32) -> (tensor<?xf32>)
  %1 = fusion.kernel @scalars ins(%n, %s, %i : index, f32, i32)
      -> (tensor<?xf32>) {
  ^bb0(%m: index, %t: f32, %j: i32):
    %e = tensor.empty(%m) : tensor<?xf32>
    fusion.yield %e : tensor<?xf32>
  }
  return %1 : tensor<?xf32>
}

// CHECK-LABEL: func.func @contracts
// CHECK-SAME: {fusion.dims = ["m", "_"]}
// CHECK-SAME: attributes {fusion.max_kernels = 1 : i64}
func.func @contracts(%x: tensor<?x8xf32> {fusion.dims = ["m", "_"]})
    -> tensor<?x8xf32> attributes {fusion.max_kernels = 1 : i64} {
  // CHECK: math.exp {{.*}} {fusion.must}
  %0 = math.exp %x {fusion.must} : tensor<?x8xf32>
  // CHECK: math.exp {{.*}} {fusion.never}
  %1 = math.exp %0 {fusion.never} : tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// CHECK: module attributes {fusion.target = #fusion.target<chip = "sm_90a">}
module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {}

// CHECK: module attributes {fusion.target = #fusion.target<chip = "sm_90a", fitted = {loops = {walkingShare = 6.000000e-01 : f64}}>}
module attributes {fusion.target = #fusion.target<chip = "sm_90a", fitted = {loops = {walkingShare = 0.6 : f64}}>} {}

// CHECK: "test.axes"() {a = #fusion.axis<loop, tile = 64>
// CHECK-SAME: b = #fusion.axis<grid, tile = 8, vector = 4>
// CHECK-SAME: c = #fusion.schedule<pointwise, axes = [], warps = 1>
// CHECK-SAME: d = #fusion.axis<grid, tile = 2, strip = 7>
// CHECK-SAME: e = #fusion.axis<grid, tile = 2, strip = 7, steps = 3>
"test.axes"() {
  a = #fusion.axis<loop, tile = 64, warps = 1, vector = 1>,
  b = #fusion.axis<grid, tile = 8, vector = 4>,
  c = #fusion.schedule<pointwise, axes = [], warps = 1>,
  d = #fusion.axis<grid, tile = 2, vector = 1, strip = 7>,
  e = #fusion.axis<grid, tile = 2, strip = 7, steps = 3>} : () -> ()
