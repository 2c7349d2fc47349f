// Images of f32 with channels first: single warps copy what is permuted.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: fusion_tile.copy_start

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @channels_first_f32(%x: tensor<8x64x28x28xf32>, %w: tensor<128x64x3x3xf32>) -> tensor<8x128x28x28xf32> {
    %y = fusion.conv nchw %x, %w {padding = array<i64: 1, 1, 1, 1>} : (tensor<8x64x28x28xf32>, tensor<128x64x3x3xf32>) -> tensor<8x128x28x28xf32>
    return %y : tensor<8x128x28x28xf32>
  }
}
