// fuzz: --seed=1
// outcome: verified
// Upstream exchanges sizes when it folds the offset of such a slice.
func.func @main(%x: tensor<1x2x3x3xf32>) -> tensor<1x2x2xf32> {
  %zero = arith.constant 0 : index
  %r = tensor.extract_slice %x[0, 0, %zero, 1] [1, 2, 2, 1] [1, 1, 2, 3] : tensor<1x2x3x3xf32> to tensor<1x2x2xf32>
  return %r : tensor<1x2x2xf32>
}
