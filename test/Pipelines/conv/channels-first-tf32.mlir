// Images of tf32 with channels first: permuted, and the filter too.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: fusion_tile.specialize

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @channels_first_tf32(%x: tensor<4x128x28x28xf32>, %w: tensor<128x128x3x3xf32>) -> tensor<4x128x28x28xf32> attributes {fusion.tf32} {
    %y = fusion.conv nchw %x, %w {padding = array<i64: 1, 1, 1, 1>} : (tensor<4x128x28x28xf32>, tensor<128x128x3x3xf32>) -> tensor<4x128x28x28xf32>
    return %y : tensor<4x128x28x28xf32>
  }
}
