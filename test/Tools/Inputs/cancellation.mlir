func.func @f(%x: tensor<2000xf32>) -> tensor<2000xf32> {
  %large = arith.constant dense<1.0e+08> : tensor<2000xf32>
  %sum = arith.addf %x, %large : tensor<2000xf32>
  %difference = arith.subf %sum, %large : tensor<2000xf32>
  return %difference : tensor<2000xf32>
}
