// Volumes with channels first.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: fusion_tile.specialize

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @channels_first_volumes(%x: tensor<2x64x12x12x12xf16>, %w: tensor<64x64x3x3x3xf16>) -> tensor<2x64x10x10x10xf16> {
    %y = fusion.conv nchw %x, %w {} : (tensor<2x64x12x12x12xf16>, tensor<64x64x3x3x3xf16>) -> tensor<2x64x10x10x10xf16>
    return %y : tensor<2x64x10x10x10xf16>
  }
}
