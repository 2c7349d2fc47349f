// fuzz: --seed=0 --target=sm_90a
// outcome: verified
// A convolution of f16 images with channels last.
func.func @main(%x: tensor<2x9x10x16xf16>, %w: tensor<3x3x16x24xf16>) -> tensor<2x7x8x24xf16> {
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<2x7x8x24xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<2x7x8x24xf16>) -> tensor<2x7x8x24xf16>
  %c = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<2x9x10x16xf16>, tensor<3x3x16x24xf16>) outs(%f : tensor<2x7x8x24xf16>) -> tensor<2x7x8x24xf16>
  return %c : tensor<2x7x8x24xf16>
}
