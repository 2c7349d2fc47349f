// RUN: fusion-opt %s --fusion-to-schedule=target=sm_90a | FileCheck %s

// Two blocks walk a row, the maximum and the sum in one sweep, with copies ahead,
// and again, so that what all of them read meanwhile stays in L2: exponentials
// that are rounded to halves take less time than memory.
// CHECK-LABEL: func.func @long_rows
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 4096, vector = 8, split = 2, cluster = 2, stages = 3>], warps = 8>
func.func @long_rows(%x: tensor<4096x50257xbf16>) -> tensor<4096x50257xbf16> {
  %y = fusion.softmax %x axis(1) : tensor<4096x50257xbf16>
  return %y : tensor<4096x50257xbf16>
}

// Threads of one block would have no registers for it but those that they keep it
// in: two walk a row, the maximum and the sum in one sweep, and again, so that
// what all of them read meanwhile stays in L2.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 4096, vector = 4, split = 2, cluster = 2, stages = 3>], warps = 8>
func.func @rows(%x: tensor<4096x25089xf32>) -> tensor<4096x25089xf32> {
  %y = fusion.softmax %x axis(1) : tensor<4096x25089xf32>
  return %y : tensor<4096x25089xf32>
}

// Blocks whose threads keep 64 narrow elements are alone on a multiprocessor:
// instead, so many walk a row that what they read stays in L2.
// CHECK-LABEL: func.func @very_long_rows
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: #fusion.axis<loop, tile = 4096, vector = 8, split = 31>], warps = 8>
func.func @very_long_rows(%x: tensor<64x500008xbf16>) -> tensor<64x500008xbf16> {
  %y = fusion.softmax %x axis(1) : tensor<64x500008xbf16>
  return %y : tensor<64x500008xbf16>
}

// Two inputs of which all is needed again, and five results for each column.
// Kept in a cluster, those of one input first.
// CHECK-LABEL: func.func @columns
// CHECK: #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 8, vector = 4>, #fusion.axis<full, tile = 2048, cluster = 4>], warps = 16>
func.func @columns(%x: tensor<8192x512xf32>, %t: tensor<8192x512xf32>) -> tensor<512xf32> {
  %p = fusion.log_softmax %x axis(0) : tensor<8192x512xf32>
  %q = fusion.log_softmax %t axis(0) : tensor<8192x512xf32>
  %e = math.exp %q : tensor<8192x512xf32>
  %d = arith.subf %q, %p : tensor<8192x512xf32>
  %w = arith.mulf %e, %d : tensor<8192x512xf32>
  %m = arith.mulf %w, %d : tensor<8192x512xf32>
  %z = arith.constant 0.0 : f32
  %i = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%z : f32) outs(%i : tensor<512xf32>) -> tensor<512xf32>
  %r = linalg.reduce { arith.addf } ins(%m : tensor<8192x512xf32>) outs(%f : tensor<512xf32>) dimensions = [0]
  return %r : tensor<512xf32>
}

// A sum that is linear in the logarithms is had with the statistics: blocks walk
// parts of the columns, and keep nothing.
// CHECK-LABEL: func.func @divergence
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: #fusion.axis<loop, tile = 128, split = 16, stages = 3>], warps = 8>
func.func @divergence(%x: tensor<8192x512xf32>, %t: tensor<8192x512xf32>) -> tensor<512xf32> {
  %p = fusion.log_softmax %x axis(0) : tensor<8192x512xf32>
  %q = fusion.log_softmax %t axis(0) : tensor<8192x512xf32>
  %e = math.exp %q : tensor<8192x512xf32>
  %d = arith.subf %q, %p : tensor<8192x512xf32>
  %m = arith.mulf %e, %d : tensor<8192x512xf32>
  %z = arith.constant 0.0 : f32
  %i = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%z : f32) outs(%i : tensor<512xf32>) -> tensor<512xf32>
  %r = linalg.reduce { arith.addf } ins(%m : tensor<8192x512xf32>) outs(%f : tensor<512xf32>) dimensions = [0]
  return %r : tensor<512xf32>
}

// The group of a group norm is one dimension, although the sum that it takes is a
// result of another rank.
// CHECK-LABEL: func.func @one_group
// CHECK-SAME: kernels_after = 2 : i64
// CHECK: fusion.kernel @{{.*}} ins({{.*}} : tensor<128x407032xf16>, tensor<128x407032xf16>) -> (tensor<128x407032xf16>, tensor<128x1xf32>, tensor<128x1xf32>)
func.func @one_group(%x: tensor<128x664x613xf16>, %r: tensor<128x664x613xf16>) -> (tensor<128x664x613xf16>, tensor<128x664x613xf16>) {
  %s = arith.addf %x, %r : tensor<128x664x613xf16>
  %y = fusion.group_norm %s groups(1) eps(1.0e-5) : (tensor<128x664x613xf16>) -> tensor<128x664x613xf16>
  return %y, %s : tensor<128x664x613xf16>, tensor<128x664x613xf16>
}

// Lanes follow the rows that windows slide along; a thread has some neighbours
// whose windows share what is computed first.
// CHECK-LABEL: func.func @window_along_rows
// CHECK: #fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = {{[0-9]+}}>, #fusion.axis<grid, tile = {{32|64|128}}{{(, strip = [2-8])?}}>, #fusion.axis<grid, tile = 1>, #fusion.axis<loop, tile = 1>], warps = {{[24]}}>
func.func @window_along_rows(%x: tensor<63x32x32x1017xbf16>) -> tensor<63x32x32x1015xbf16> {
  %g = math.absf %x : tensor<63x32x32x1017xbf16>
  %y = fusion.pool avg nchw %g window [1, 3] {count_include_pad, strides = array<i64: 1, 1>, padding = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : (tensor<63x32x32x1017xbf16>) -> tensor<63x32x32x1015xbf16>
  return %y : tensor<63x32x32x1015xbf16>
}

// A few rows are added up by threads that have columns, in vectors where rows
// begin with vectors; of odd rows a thread has one column, whose elements are on
// their way one by one.
// CHECK-LABEL: func.func @few_rows
// CHECK: #fusion.axis<grid, tile = 2048, vector = 8>, #fusion.axis<loop, tile = 1>{{.*}} warps = 8>
func.func @few_rows(%x: tensor<72x32x5336xbf16>, %z: tensor<72x32x5336xbf16>, %i: tensor<72x5336xbf16>) -> tensor<72x5336xbf16> {
  %s = arith.addf %x, %z : tensor<72x32x5336xbf16>
  %r = linalg.reduce { arith.maximumf } ins(%s : tensor<72x32x5336xbf16>) outs(%i : tensor<72x5336xbf16>) dimensions = [1]
  return %r : tensor<72x5336xbf16>
}

// CHECK-LABEL: func.func @few_odd_rows
// CHECK: #fusion.axis<grid, tile = 256, vector = 8>, #fusion.axis<loop, tile = 1>{{.*}} warps = 8>
func.func @few_odd_rows(%x: tensor<72x32x5337xbf16>, %z: tensor<72x32x5337xbf16>, %i: tensor<72x5337xbf16>) -> tensor<72x5337xbf16> {
  %s = arith.addf %x, %z : tensor<72x32x5337xbf16>
  %r = linalg.reduce { arith.maximumf } ins(%s : tensor<72x32x5337xbf16>) outs(%i : tensor<72x5337xbf16>) dimensions = [1]
  return %r : tensor<72x5337xbf16>
}
