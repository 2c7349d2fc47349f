// Images of few channels whose windows are unfolded by a kernel before the
// product: by rows, two rows in one (three), and whole (four, patches). Images
// of more channels only get zeros (thirteen).

// RUN: fusion-opt %s --fusion-to-tile | FileCheck %s
// RUN: fusion-compile %s -o %t.fpk
// RUN: fusion-run %t.fpk --reference=%s --entry=three --device=emulator --asynchrony=late --random --seed=1 --verify
// RUN: fusion-run %t.fpk --reference=%s --entry=four --device=emulator --asynchrony=early --random --seed=1 --verify
// RUN: fusion-run %t.fpk --reference=%s --entry=thirteen --device=emulator --asynchrony=late --random --seed=1 --verify

// RUN: fusion-run %t.fpk --reference=%s --entry=filter --device=emulator --asynchrony=early --random --seed=1 --verify
// RUN: fusion-run %t.fpk --reference=%s --entry=patches --device=emulator --asynchrony=late --random --seed=1 --verify

// CHECK-COUNT-5: fusion_tile.specialize {{.*}}consumer

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @three(%x: tensor<8x81x81x3xf16>, %w: tensor<64x7x7x3xf16>) -> tensor<8x41x41x64xf16> {
    %y = fusion.conv nhwc %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 3, 3, 3, 3>} : (tensor<8x81x81x3xf16>, tensor<64x7x7x3xf16>) -> tensor<8x41x41x64xf16>
    return %y : tensor<8x41x41x64xf16>
  }
  func.func @four(%x: tensor<4x52x52x4xf16>, %w: tensor<320x3x3x4xf16>) -> tensor<4x52x52x320xf16> {
    %y = fusion.conv nhwc %x, %w {padding = array<i64: 1, 1, 1, 1>} : (tensor<4x52x52x4xf16>, tensor<320x3x3x4xf16>) -> tensor<4x52x52x320xf16>
    return %y : tensor<4x52x52x320xf16>
  }
  func.func @thirteen(%x: tensor<4x50x50x13xf16>, %w: tensor<128x3x3x13xf16>) -> tensor<4x48x48x128xf16> {
    %y = fusion.conv nhwc %x, %w : (tensor<4x50x50x13xf16>, tensor<128x3x3x13xf16>) -> tensor<4x48x48x128xf16>
    return %y : tensor<4x48x48x128xf16>
  }
  func.func @patches(%x: tensor<16x144x144x3xf16>, %w: tensor<128x4x4x3xf16>) -> tensor<16x36x36x128xf16> {
    %y = fusion.conv nhwc %x, %w {strides = array<i64: 4, 4>} : (tensor<16x144x144x3xf16>, tensor<128x4x4x3xf16>) -> tensor<16x36x36x128xf16>
    return %y : tensor<16x36x36x128xf16>
  }
  // Only the filter lies badly: its rows are those of an odd number of features.
  func.func @filter(%x: tensor<4x34x34x32xf16>, %w: tensor<3x3x32x67xf16>) -> tensor<4x32x32x67xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x32x32x67xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x32x32x67xf32>) -> tensor<4x32x32x67xf32>
    %y = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
        ins(%x, %w : tensor<4x34x34x32xf16>, tensor<3x3x32x67xf16>) outs(%f : tensor<4x32x32x67xf32>) -> tensor<4x32x32x67xf32>
    return %y : tensor<4x32x32x67xf32>
  }
}
