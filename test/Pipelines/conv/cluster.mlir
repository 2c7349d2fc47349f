// One image that fills few tiles: a cluster shares the channels of every tap.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: fusion_tile.program {{.*}}cluster =
// CHECK: im2col = #fusion_tile.im2col<lower = [-1, -1], upper = [0, -1]>
// CHECK: fusion_tile.cluster_reduce

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @cluster(%x: tensor<1x7x7x512xf16>, %w: tensor<64x3x3x512xf16>) -> tensor<1x7x7x64xf16> {
    %y = fusion.conv nhwc %x, %w {padding = array<i64: 1, 1, 1, 1>} : (tensor<1x7x7x512xf16>, tensor<64x3x3x512xf16>) -> tensor<1x7x7x64xf16>
    return %y : tensor<1x7x7x64xf16>
  }
}
