// Groups of channels.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: tile.tensor_map {{.*}} im2col = #tile.im2col<lower = [-1, -1], upper = [-1, -1]>} : <2x7x7x128xf16> -> <1x1x64x64xf16, b128>
// CHECK: tile.tensor_map {{.*}} : <2x48x3x3x64xf16>
// CHECK: tile.specialize

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @groups(%x: tensor<2x7x7x128xf16>, %w: tensor<96x3x3x64xf16>) -> tensor<2x7x7x96xf16> {
    %y = fusion.conv nhwc %x, %w {groups = 2 : i64, padding = array<i64: 1, 1, 1, 1>} : (tensor<2x7x7x128xf16>, tensor<96x3x3x64xf16>) -> tensor<2x7x7x96xf16>
    return %y : tensor<2x7x7x96xf16>
  }
}
