// fuzz: --seed=32 --target=sm_100a --asynchrony=early
// outcome: verified
// Whether a reshape joins the innermost dimensions of what is moved was read
// from a list after its end.
func.func @main(%x0: tensor<512x4x4xf16>) -> tensor<2048xf16> {
  %c1 = arith.constant 1 : index
  %v2 = tensor.extract_slice %x0[0, %c1, 0] [512, 1, 4] [1, 2, 1] : tensor<512x4x4xf16> to tensor<512x1x4xf16>
  %v3 = tensor.collapse_shape %v2 [[0, 1, 2]] : tensor<512x1x4xf16> into tensor<2048xf16>
  return %v3: tensor<2048xf16>
}
