// One spatial dimension.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: fusion_tile.tensor_map {{.*}} {element_strides = array<i64: 1, 2, 1>, im2col = #fusion_tile.im2col<lower = [-2], upper = [-1]>}
// CHECK: fusion_tile.specialize

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @rows(%x: tensor<2x37x64xf16>, %w: tensor<32x5x64xf16>) -> tensor<2x19x32xf16> {
    %y = fusion.conv nhwc %x, %w {strides = array<i64: 2>, padding = array<i64: 2, 2>} : (tensor<2x37x64xf16>, tensor<32x5x64xf16>) -> tensor<2x19x32xf16>
    return %y : tensor<2x19x32xf16>
  }
}
