// fuzz: --seed=807 --target=sm_100a --numerics=fast
// outcome: verified
// Two products of the same operands, each of which adds to one of them: an
// operand's dimensions are those of the product, not of what is added to.
func.func @main(%a: tensor<1x2x2xf32>, %b: tensor<1x2x2xf32>) -> (tensor<1x2x2xf32>, tensor<1x2x2xf32>) {
  %c = linalg.batch_matmul ins(%a, %b : tensor<1x2x2xf32>, tensor<1x2x2xf32>) outs(%a : tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
  %d = linalg.batch_matmul ins(%a, %b : tensor<1x2x2xf32>, tensor<1x2x2xf32>) outs(%b : tensor<1x2x2xf32>) -> tensor<1x2x2xf32>
  return %d, %c : tensor<1x2x2xf32>, tensor<1x2x2xf32>
}
