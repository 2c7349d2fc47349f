// Images that are contiguous along their rows stay with warps.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK-NOT: im2col
// CHECK-NOT: fusion_tile.specialize

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @channels_first(%x: tensor<2x16x9x9xf16>, %w: tensor<24x16x3x3xf16>) -> tensor<2x24x9x9xf16> {
    %y = fusion.conv nchw %x, %w {padding = array<i64: 1, 1, 1, 1>} : (tensor<2x16x9x9xf16>, tensor<24x16x3x3xf16>) -> tensor<2x24x9x9xf16>
    return %y : tensor<2x24x9x9xf16>
  }
}
