// (x + y) * z over 100 million elements.
func.func @add_mul(%x: tensor<100000000xf32>, %y: tensor<100000000xf32>,
                   %z: tensor<100000000xf32>) -> tensor<100000000xf32> {
  %sum = arith.addf %x, %y : tensor<100000000xf32>
  %out = arith.mulf %sum, %z : tensor<100000000xf32>
  return %out : tensor<100000000xf32>
}
