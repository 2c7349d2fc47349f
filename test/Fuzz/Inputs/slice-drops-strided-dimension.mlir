// fuzz: --seed=1
// outcome: verified
// Upstream does not find which dimension a strided slice drops.
func.func @main(%x: tensor<16x1x1xf16>) -> tensor<3x1xf16> {
  %r = tensor.extract_slice %x[5, 0, 0] [3, 1, 1] [3, 3, 3] : tensor<16x1x1xf16> to tensor<3x1xf16>
  return %r : tensor<3x1xf16>
}
