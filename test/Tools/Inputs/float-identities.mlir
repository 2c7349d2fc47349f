// Pairs of operations that one kernel simplifies: floats allow it.
func.func @identities(%x: tensor<6x40xf32>) -> (tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xf32>) {
  %root = math.sqrt %x : tensor<6x40xf32>
  %log = math.log1p %root : tensor<6x40xf32>
  %c = arith.constant dense<1.5> : tensor<6x40xf32>
  %once = arith.addf %x, %c : tensor<6x40xf32>
  %size = math.absf %once : tensor<6x40xf32>
  %quotient = arith.divf %x, %c : tensor<6x40xf32>
  %half = arith.truncf %quotient : tensor<6x40xf32> to tensor<6x40xf16>
  %tanh = math.tanh %half : tensor<6x40xf16>
  %back = arith.extf %tanh : tensor<6x40xf16> to tensor<6x40xf32>
  %sign = math.copysign %x, %back : tensor<6x40xf32>
  return %log, %size, %sign : tensor<6x40xf32>, tensor<6x40xf32>, tensor<6x40xf32>
}
