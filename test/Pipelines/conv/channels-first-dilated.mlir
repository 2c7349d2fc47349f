// Dilated windows of images with channels first.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: fusion_tile.specialize

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @channels_first_dilated(%x: tensor<4x128x28x28xf16>, %w: tensor<128x128x3x3xf16>) -> tensor<4x128x24x24xf16> {
    %y = fusion.conv nchw %x, %w {dilations = array<i64: 2, 2>} : (tensor<4x128x28x28xf16>, tensor<128x128x3x3xf16>) -> tensor<4x128x24x24xf16>
    return %y : tensor<4x128x24x24xf16>
  }
}
