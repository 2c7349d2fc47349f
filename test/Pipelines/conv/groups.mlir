// Groups of channels: the windows of a group are cut out of all channels, and
// its features are no multiple of a tile.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: fusion_tile.tensor_map {{.*}} im2col = #fusion_tile.im2col<lower = [-1, -1], upper = [-1, -1]>} : <8x14x14x128xf16>
// CHECK: fusion_tile.tensor_map {{.*}} : <2x96x3x3x64xf16>
// CHECK: fusion_tile.specialize

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @groups(%x: tensor<8x14x14x128xf16>, %w: tensor<192x3x3x64xf16>) -> tensor<8x14x14x192xf16> {
    %y = fusion.conv nhwc %x, %w {groups = 2 : i64, padding = array<i64: 1, 1, 1, 1>} : (tensor<8x14x14x128xf16>, tensor<192x3x3x64xf16>) -> tensor<8x14x14x192xf16>
    return %y : tensor<8x14x14x192xf16>
  }
}
