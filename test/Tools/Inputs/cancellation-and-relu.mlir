func.func @f(%x: tensor<2000xf32>) -> (tensor<2000xf32>, tensor<2000xf32>) {
  %log2e = arith.constant dense<1.44269504> : tensor<2000xf32>
  %zero = arith.constant dense<0.0> : tensor<2000xf32>
  %scaled = arith.mulf %x, %log2e : tensor<2000xf32>
  %one = math.exp %x : tensor<2000xf32>
  %other = math.exp2 %scaled : tensor<2000xf32>
  %difference = arith.subf %one, %other : tensor<2000xf32>
  %positive = arith.maximumf %x, %zero : tensor<2000xf32>
  return %difference, %positive : tensor<2000xf32>, tensor<2000xf32>
}
