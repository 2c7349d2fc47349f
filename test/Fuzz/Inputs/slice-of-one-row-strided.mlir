// fuzz: --seed=0
// outcome: verified
// A slice of one element in a matrix, its strides beyond the edge.
func.func @main(%x: tensor<1x2x2xf32>) -> tensor<1x1xf32> {
  %v = tensor.extract_slice %x[0, 1, 1] [1, 1, 1] [1, 2, 2] : tensor<1x2x2xf32> to tensor<1x1xf32>
  return %v : tensor<1x1xf32>
}
