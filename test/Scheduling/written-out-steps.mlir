// A reduction of few elements is written out: what all of its steps load is on
// its way together, up to 256 bytes of a thread, and in registers.

// RUN: fusion-opt %s --split-input-file --fusion-to-plan=target=sm_90a --fusion-schedule-print-prices=target=sm_90a -o /dev/null | FileCheck %s

// Four columns of three rows.
// CHECK: "kernel":"reduce_max","schedules":[{
// CHECK-SAME: "registers":3{{[0-9]}},"schedule":"#fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1024, vector = 4>, #fusion.axis<loop, tile = 1>], warps = 8>"
func.func @three(%x: tensor<3x4026720xf32>) -> tensor<4026720xf32> {
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4026720xf32>
  %init = linalg.fill ins(%least : f32) outs(%e : tensor<4026720xf32>) -> tensor<4026720xf32>
  %0 = linalg.reduce { arith.maximumf } ins(%x : tensor<3x4026720xf32>) outs(%init : tensor<4026720xf32>) dimensions = [0]
  return %0 : tensor<4026720xf32>
}

// -----

// Of 16 rows all loads are on their way; of 20 no more.
// CHECK: "kernel":"reduce_max","schedules":[{
// CHECK-SAME: "registers":[[MOST:[89][0-9]]],"schedule":"#fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1024, vector = 4>, #fusion.axis<loop, tile = 1>], warps = 8>"
func.func @sixteen(%x: tensor<16x402672xf32>) -> tensor<402672xf32> {
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<402672xf32>
  %init = linalg.fill ins(%least : f32) outs(%e : tensor<402672xf32>) -> tensor<402672xf32>
  %0 = linalg.reduce { arith.maximumf } ins(%x : tensor<16x402672xf32>) outs(%init : tensor<402672xf32>) dimensions = [0]
  return %0 : tensor<402672xf32>
}

// -----

// CHECK: "kernel":"reduce_max","schedules":[{
// CHECK-SAME: "registers":[[MOST]],"schedule":"#fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1024, vector = 4>, #fusion.axis<loop, tile = 1>], warps = 8>"
func.func @twenty(%x: tensor<20x402672xf32>) -> tensor<402672xf32> {
  %least = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<402672xf32>
  %init = linalg.fill ins(%least : f32) outs(%e : tensor<402672xf32>) -> tensor<402672xf32>
  %0 = linalg.reduce { arith.maximumf } ins(%x : tensor<20x402672xf32>) outs(%init : tensor<402672xf32>) dimensions = [0]
  return %0 : tensor<402672xf32>
}
