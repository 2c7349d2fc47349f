// Moments find a mean, then distances from it: a thread keeps what it has of a
// tile that a block has whole, though one reduction makes both.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a --fusion-schedule-print-prices=target=sm_90a -o /dev/null | FileCheck %s

// 4096 x 16 x 4 elements in 512 threads are 410 of each, more than there are
// registers: they are walked.
// CHECK: "kernel":"moments_div","schedules":[{
// CHECK-SAME: #fusion.axis<loop, tile = 1024>
// CHECK-SAME: "registers":7{{[0-9]+}},"schedule":"#fusion.schedule<reduction, axes = [#fusion.axis<grid, tile = 16>, #fusion.axis<full, tile = 4096>
func.func @statistics(%x: tensor<3272x1240x4xbf16>, %y: tensor<3272x1240x4xbf16>) -> (tensor<3272x1240x4xbf16>, tensor<1240xf32>, tensor<1240xf32>) {
  %0 = arith.addf %x, %y : tensor<3272x1240x4xbf16>
  %1:3 = fusion.batch_norm_training %0 channel_axis(1) eps(1.000000e-05) : (tensor<3272x1240x4xbf16>) -> (tensor<3272x1240x4xbf16>, tensor<1240xf32>, tensor<1240xf32>)
  return %0, %1#1, %1#2 : tensor<3272x1240x4xbf16>, tensor<1240xf32>, tensor<1240xf32>
}
