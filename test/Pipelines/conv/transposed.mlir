// The gradient of a convolution with respect to its images.

// RUN: fusion-run %s --device=emulator --random --seed=1 --verify

module attributes {fusion.target = #fusion.target<chip = "sm_90a">} {
  func.func @transposed(%x: tensor<1x5x5x16xf16>, %w: tensor<16x3x3x24xf16>) -> tensor<1x10x10x24xf16> {
    %y = fusion.conv nhwc transposed %x, %w {strides = array<i64: 2, 2>, padding = array<i64: 1, 1, 1, 1>, output_padding = array<i64: 1, 1>} : (tensor<1x5x5x16xf16>, tensor<16x3x3x24xf16>) -> tensor<1x10x10x24xf16>
    return %y : tensor<1x10x10x24xf16>
  }
}
