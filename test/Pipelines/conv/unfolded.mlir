// Images of few channels whose windows are unfolded by a kernel before the
// product, and images that only get zeros.

// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s
// RUN: fusion-compile %s -o %t.fpk
// RUN: fusion-run %t.fpk --reference=%s --entry=three --device=emulator --asynchrony=late --random --seed=1 --verify
// RUN: fusion-run %t.fpk --reference=%s --entry=four --device=emulator --asynchrony=early --random --seed=1 --verify
// RUN: fusion-run %t.fpk --reference=%s --entry=twelve --device=emulator --asynchrony=late --random --seed=1 --verify

// CHECK-COUNT-3: tile.specialize {{.*}}consumer

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @three(%x: tensor<8x81x81x3xf16>, %w: tensor<64x7x7x3xf16>) -> tensor<8x41x41x64xf16> {
    %y = fusion.conv nhwc %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 3, 3, 3, 3>} : (tensor<8x81x81x3xf16>, tensor<64x7x7x3xf16>) -> tensor<8x41x41x64xf16>
    return %y : tensor<8x41x41x64xf16>
  }
  func.func @four(%x: tensor<4x52x52x4xf16>, %w: tensor<320x3x3x4xf16>) -> tensor<4x52x52x320xf16> {
    %y = fusion.conv nhwc %x, %w {padding = array<i64: 1, 1, 1, 1>} : (tensor<4x52x52x4xf16>, tensor<320x3x3x4xf16>) -> tensor<4x52x52x320xf16>
    return %y : tensor<4x52x52x320xf16>
  }
  func.func @twelve(%x: tensor<4x50x50x13xf16>, %w: tensor<128x3x3x13xf16>) -> tensor<4x48x48x128xf16> {
    %y = fusion.conv nhwc %x, %w : (tensor<4x50x50x13xf16>, tensor<128x3x3x13xf16>) -> tensor<4x48x48x128xf16>
    return %y : tensor<4x48x48x128xf16>
  }
}
