// Three channels: rows of six bytes, which the copy engine does not take.
// Single warps make the products.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify
// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s

// CHECK-NOT: im2col
// CHECK-NOT: fusion_tile.specialize

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @few(%x: tensor<2x15x15x3xf16>, %w: tensor<32x7x7x3xf16>) -> tensor<2x8x8x32xf16> {
    %y = fusion.conv nhwc %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 3, 3, 3, 3>} : (tensor<2x15x15x3xf16>, tensor<32x7x7x3xf16>) -> tensor<2x8x8x32xf16>
    return %y : tensor<2x8x8x32xf16>
  }
}
