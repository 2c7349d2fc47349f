// Groups of channels, with channels first: groups come before the channels of one.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: fusion_tile.specialize

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @channels_first_groups(%x: tensor<4x256x28x28xf16>, %w: tensor<256x64x3x3xf16>) -> tensor<4x256x28x28xf16> {
    %y = fusion.conv nchw %x, %w {padding = array<i64: 1, 1, 1, 1>, groups = 4 : i64} : (tensor<4x256x28x28xf16>, tensor<256x64x3x3xf16>) -> tensor<4x256x28x28xf16>
    return %y : tensor<4x256x28x28xf16>
  }
}
