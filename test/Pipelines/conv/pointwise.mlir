// Windows of one element in steps of two.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK: fusion_tile.tensor_map {{.*}} {element_strides = array<i64: 1, 2, 2, 1>, im2col = #fusion_tile.im2col<lower = [0, 0], upper = [1, 1]>}
// CHECK: fusion_tile.specialize

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @pointwise(%x: tensor<3x7x7x128xf16>, %w: tensor<64x1x1x128xf16>) -> tensor<3x4x4x64xf16> {
    %y = fusion.conv nhwc %x, %w {strides = array<i64: 2, 2>} : (tensor<3x7x7x128xf16>, tensor<64x1x1x128xf16>) -> tensor<3x4x4x64xf16>
    return %y : tensor<3x4x4x64xf16>
  }
}
