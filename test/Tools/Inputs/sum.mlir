func.func @sum(%x: tensor<3x4096xf32>) -> tensor<3xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<3xf32>)
      -> tensor<3xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<3x4096xf32>)
      outs(%init : tensor<3xf32>) dimensions = [1]
  return %sum : tensor<3xf32>
}
