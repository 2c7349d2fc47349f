// sigmoid(x) * tanh(x + 1).
func.func @sigmoid_tanh(%x: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
  %one = arith.constant dense<1.0> : tensor<8192x8192xf32>
  %negative = arith.negf %x : tensor<8192x8192xf32>
  %exp = math.exp %negative : tensor<8192x8192xf32>
  %denominator = arith.addf %exp, %one : tensor<8192x8192xf32>
  %sigmoid = arith.divf %one, %denominator : tensor<8192x8192xf32>
  %shifted = arith.addf %x, %one : tensor<8192x8192xf32>
  %tanh = math.tanh %shifted : tensor<8192x8192xf32>
  %out = arith.mulf %sigmoid, %tanh : tensor<8192x8192xf32>
  return %out : tensor<8192x8192xf32>
}
