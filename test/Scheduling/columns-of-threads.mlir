// Short columns that are needed again: a tile has at least as many of them as the
// block has threads, so that each thread keeps its own.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select | FileCheck %s

// CHECK-LABEL: func.func @short
// CHECK: axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<full, tile = 32>, #fusion.axis<grid, tile = 256, vector = 8>], warps = 4
func.func @short(%x: tensor<4x18x1056768xbf16>) -> tensor<4x18x1056768xbf16> {
  %y = fusion.log_softmax %x axis(1) : tensor<4x18x1056768xbf16>
  return %y : tensor<4x18x1056768xbf16>
}

// Too long for the registers of a thread.
// CHECK-LABEL: func.func @long
// CHECK-NOT: warps = 4>
// CHECK: return
func.func @long(%x: tensor<4x180x1056768xbf16>) -> tensor<4x180x1056768xbf16> {
  %y = fusion.log_softmax %x axis(1) : tensor<4x180x1056768xbf16>
  return %y : tensor<4x180x1056768xbf16>
}

// Of few columns, those of several rows.
// CHECK-LABEL: func.func @few
// CHECK: axes = [#fusion.axis<grid, tile = 4>, #fusion.axis<full, tile = 32>, #fusion.axis<grid, tile = 16, vector = 8>], warps = 2
func.func @few(%x: tensor<189275x28x16xbf16>) -> tensor<189275x28x16xbf16> {
  %y = fusion.log_softmax %x axis(1) : tensor<189275x28x16xbf16>
  return %y : tensor<189275x28x16xbf16>
}

// CHECK-LABEL: func.func @fewer
// CHECK: axes = [#fusion.axis<grid, tile = 8>, #fusion.axis<full, tile = 32>, #fusion.axis<grid, tile = 8, vector = 8>], warps = 2
func.func @fewer(%x: tensor<378550x28x8xbf16>) -> tensor<378550x28x8xbf16> {
  %y = fusion.log_softmax %x axis(1) : tensor<378550x28x8xbf16>
  return %y : tensor<378550x28x8xbf16>
}

// Long columns of which memory has little, scores of one feature: threads walk
// all of their own.
// CHECK-LABEL: func.func @walked
// CHECK: axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = 512, vector = 8>, #fusion.axis<loop, tile = 8>], warps = 4
func.func @walked(%q: tensor<10000x476x1xf16>, %k: tensor<10000x192x1xf16>, %v: tensor<10000x192x1xf16>) -> tensor<10000x476x1xf16> {
  %y = fusion.attention %q, %k, %v : (tensor<10000x476x1xf16>, tensor<10000x192x1xf16>, tensor<10000x192x1xf16>) -> tensor<10000x476x1xf16>
  return %y : tensor<10000x476x1xf16>
}
