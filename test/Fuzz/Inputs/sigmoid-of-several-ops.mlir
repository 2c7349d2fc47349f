// fuzz: --seed=602
// outcome: verified
// The quotient by 1 + exp(-x), an op at a time.
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %one = arith.constant dense<1.0> : tensor<64x64xf32>
  %n = arith.negf %x : tensor<64x64xf32>
  %e = math.exp %n : tensor<64x64xf32>
  %s = arith.addf %one, %e : tensor<64x64xf32>
  %r = arith.divf %x, %s : tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
