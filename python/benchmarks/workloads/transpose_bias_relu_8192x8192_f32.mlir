// relu(transpose(x) + b), output contiguous.
func.func @transpose_bias_relu(%x: tensor<8192x8192xf32>, %b: tensor<8192xf32>)
    -> tensor<8192x8192xf32> {
  %zero = arith.constant dense<0.0> : tensor<8192x8192xf32>
  %empty = tensor.empty() : tensor<8192x8192xf32>
  %turned = linalg.transpose ins(%x : tensor<8192x8192xf32>)
      outs(%empty : tensor<8192x8192xf32>) permutation = [1, 0]
  %bias = linalg.broadcast ins(%b : tensor<8192xf32>)
      outs(%empty : tensor<8192x8192xf32>) dimensions = [0]
  %sum = arith.addf %turned, %bias : tensor<8192x8192xf32>
  %out = arith.maximumf %sum, %zero : tensor<8192x8192xf32>
  return %out : tensor<8192x8192xf32>
}
