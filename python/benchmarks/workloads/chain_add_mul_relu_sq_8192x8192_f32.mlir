// relu((x + 1) * 2) ** 2.
func.func @chain(%x: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
  %zero = arith.constant dense<0.0> : tensor<8192x8192xf32>
  %one = arith.constant dense<1.0> : tensor<8192x8192xf32>
  %two = arith.constant dense<2.0> : tensor<8192x8192xf32>
  %shifted = arith.addf %x, %one : tensor<8192x8192xf32>
  %scaled = arith.mulf %shifted, %two : tensor<8192x8192xf32>
  %relu = arith.maximumf %scaled, %zero : tensor<8192x8192xf32>
  %out = arith.mulf %relu, %relu : tensor<8192x8192xf32>
  return %out : tensor<8192x8192xf32>
}
