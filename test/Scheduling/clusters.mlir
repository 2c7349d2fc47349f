// Which blocks that exchange what they reduce are a cluster: at most as many as
// a cluster always has room for, on chips that have clusters.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-select | FileCheck %s
// RUN: fusion-opt %s --fusion-to-plan=target=sm_80 --fusion-schedule-select | FileCheck %s --check-prefix=NONE

// NONE-NOT: cluster =

// CHECK-LABEL: func.func @three_blocks
// CHECK: #fusion.axis<full, tile = 8192, vector = 4, cluster = 3>
func.func @three_blocks(%x: tensor<20x20000xf32>) -> tensor<20x20000xf32> {
  %y = fusion.softmax %x axis(1) : tensor<20x20000xf32>
  return %y : tensor<20x20000xf32>
}

// More blocks than a cluster has exchange through memory.
// CHECK-LABEL: func.func @many_blocks
// CHECK-NOT: cluster =
// CHECK: return
func.func @many_blocks(%x: tensor<2x4000000xf32>) -> tensor<2x4000000xf32> {
  %y = fusion.softmax %x axis(1) : tensor<2x4000000xf32>
  return %y : tensor<2x4000000xf32>
}
