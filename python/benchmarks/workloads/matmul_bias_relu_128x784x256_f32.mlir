// relu(a @ b + c), 128 x 784 by 784 x 256.
func.func @matmul_bias_relu(%a: tensor<128x784xf32>, %b: tensor<784x256xf32>,
                            %c: tensor<256xf32>) -> tensor<128x256xf32> {
  %zero = arith.constant 0.0 : f32
  %acc_empty = tensor.empty() : tensor<128x256xf32>
  %init = linalg.fill ins(%zero : f32) outs(%acc_empty : tensor<128x256xf32>)
      -> tensor<128x256xf32>
  %zeros = arith.constant dense<0.0> : tensor<128x256xf32>
  %product = linalg.matmul ins(%a, %b : tensor<128x784xf32>, tensor<784x256xf32>)
      outs(%init : tensor<128x256xf32>) -> tensor<128x256xf32>
  %bias = linalg.broadcast ins(%c : tensor<256xf32>)
      outs(%acc_empty : tensor<128x256xf32>) dimensions = [0]
  %sum = arith.addf %product, %bias : tensor<128x256xf32>
  %out = arith.maximumf %sum, %zeros : tensor<128x256xf32>
  return %out : tensor<128x256xf32>
}
