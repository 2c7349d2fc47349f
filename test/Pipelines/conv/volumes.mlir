// Three spatial dimensions.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: fusion_tile.tensor_map {{.*}} {{.*}}im2col = #fusion_tile.im2col<lower = [-1, -1, -1], upper = [-1, -1, -1]>
// CHECK: fusion_tile.specialize

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @volumes(%x: tensor<2x5x6x7x32xf16>, %w: tensor<32x3x3x3x32xf16>) -> tensor<2x5x6x7x32xf16> {
    %y = fusion.conv nhwc %x, %w {padding = array<i64: 1, 1, 1, 1, 1, 1>} : (tensor<2x5x6x7x32xf16>, tensor<32x3x3x3x32xf16>) -> tensor<2x5x6x7x32xf16>
    return %y : tensor<2x5x6x7x32xf16>
  }
}
