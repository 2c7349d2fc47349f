// fuzz: --seed=0
// outcome: verified
// A slice of one element with a stride, of smaller rank.
func.func @main(%x: tensor<1x1xi32>) -> tensor<1xi32> {
  %v = tensor.extract_slice %x[0, 0] [1, 1] [1, 2] : tensor<1x1xi32> to tensor<1xi32>
  %w = tensor.extract_slice %v[0] [1] [1] : tensor<1xi32> to tensor<1xi32>
  return %w : tensor<1xi32>
}
