// Images with channels first, in steps of two: permuted, for tensor copies.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: fusion_tile.specialize

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @channels_first_bf16(%x: tensor<8x128x28x28xbf16>, %w: tensor<128x128x3x3xbf16>) -> tensor<8x128x14x14xbf16> {
    %y = fusion.conv nchw %x, %w {padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>} : (tensor<8x128x28x28xbf16>, tensor<128x128x3x3xbf16>) -> tensor<8x128x14x14xbf16>
    return %y : tensor<8x128x14x14xbf16>
  }
}
