// Few channels, which come first: permuted, then unfolded.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: fusion_tile.specialize

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @channels_first_few(%x: tensor<32x3x64x64xf16>, %w: tensor<64x3x7x7xf16>) -> tensor<32x64x32x32xf16> {
    %y = fusion.conv nchw %x, %w {padding = array<i64: 3, 3, 3, 3>, strides = array<i64: 2, 2>} : (tensor<32x3x64x64xf16>, tensor<64x3x7x7xf16>) -> tensor<32x64x32x32xf16>
    return %y : tensor<32x64x32x32xf16>
  }
}
