// Which walks have threads copy what they load ahead: those of blocks that are
// alone on their multiprocessors, where nothing else covers the time that loads
// take.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select | FileCheck %s

// CHECK-LABEL: func.func @alone
// CHECK: #fusion.axis<loop, tile = {{[0-9]+}}, vector = 8, split = {{[0-9]+}}, stages = 3>
func.func @alone(%x: tensor<100000000xbf16>) -> (tensor<f32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %y = arith.extf %x : tensor<100000000xbf16> to tensor<100000000xf32>
  %z = arith.mulf %y, %y : tensor<100000000xf32>
  %s = linalg.reduce { arith.addf } ins(%y : tensor<100000000xf32>) outs(%init : tensor<f32>) dimensions = [0]
  %q = linalg.reduce { arith.addf } ins(%z : tensor<100000000xf32>) outs(%init : tensor<f32>) dimensions = [0]
  return %s, %q : tensor<f32>, tensor<f32>
}

// What a block has on chip it does not walk.

// CHECK-LABEL: func.func @kept
// CHECK-NOT: stages =
// CHECK: return
func.func @kept(%x: tensor<5000x4096xf32>) -> tensor<5000x4096xf32> {
  %y = fusion.softmax %x axis(1) : tensor<5000x4096xf32>
  return %y : tensor<5000x4096xf32>
}

// A dimension of one element between others is no other place to read: what the
// last sweep reads again comes from L2 here, too.

// CHECK-LABEL: func.func @of_one
// CHECK: axes = [#fusion.axis<loop, tile = 64, split = 3, cluster = 3, stages = 3>, #fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = 64, vector = 8>], warps = 8
func.func @of_one(%x: tensor<1206x1x143360xbf16>) -> tensor<1206x1x143360xbf16> {
  %y = fusion.softmax %x axis(0) : tensor<1206x1x143360xbf16>
  return %y : tensor<1206x1x143360xbf16>
}

// Rows of three two-byte elements have no copies, which move four bytes at
// least.

// CHECK-LABEL: func.func @narrow_rows
// CHECK: #fusion.axis<loop, tile = {{[0-9]+}}, split = {{[0-9]+}}>, #fusion.axis<grid, tile = 4
// CHECK-NOT: stages =
// CHECK: return
func.func @narrow_rows(%x: tensor<1120256x3xf16>, %y: tensor<1120256x3xf16>, %w: tensor<3xf16>) -> tensor<1120256x3xf16> {
  %0 = arith.addf %x, %y : tensor<1120256x3xf16>
  %1:3 = fusion.batch_norm_training %0 scale(%w) channel_axis(1) eps(1.000000e-05) : (tensor<1120256x3xf16>, tensor<3xf16>) -> (tensor<1120256x3xf16>, tensor<3xf32>, tensor<3xf32>)
  return %1#0 : tensor<1120256x3xf16>
}
