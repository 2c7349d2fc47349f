func.func @main(%x: tensor<512x300x64xf32>) -> tensor<512x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<512x64xf32>
  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<512x64xf32>) -> tensor<512x64xf32>
  %sums = linalg.reduce { arith.addf } ins(%x : tensor<512x300x64xf32>) outs(%none : tensor<512x64xf32>) dimensions = [1]
  return %sums : tensor<512x64xf32>
}
