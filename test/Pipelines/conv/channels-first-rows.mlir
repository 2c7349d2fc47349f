// Rows with channels first.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: fusion_tile.specialize

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @channels_first_rows(%x: tensor<8x256x128xf16>, %w: tensor<256x256x5xf16>) -> tensor<8x256x124xf16> {
    %y = fusion.conv nchw %x, %w {} : (tensor<8x256x128xf16>, tensor<256x256x5xf16>) -> tensor<8x256x124xf16>
    return %y : tensor<8x256x124xf16>
  }
}
