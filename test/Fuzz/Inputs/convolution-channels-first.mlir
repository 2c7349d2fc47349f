// fuzz: --seed=0 --target=sm_90a
// outcome: verified
// A convolution of f16 images with channels first.
func.func @main(%x: tensor<2x16x9x10xf16>, %w: tensor<24x16x3x3xf16>) -> tensor<2x24x7x8xf16> {
  %z = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<2x24x7x8xf16>
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<2x24x7x8xf16>) -> tensor<2x24x7x8xf16>
  %c = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<2x16x9x10xf16>, tensor<24x16x3x3xf16>) outs(%f : tensor<2x24x7x8xf16>) -> tensor<2x24x7x8xf16>
  return %c : tensor<2x24x7x8xf16>
}
