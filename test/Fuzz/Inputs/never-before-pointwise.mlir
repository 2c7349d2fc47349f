// fuzz: --seed=0
// outcome: verified
// fusion.never on an op of math.
func.func @main(%x: tensor<16x24xf32>, %y: tensor<16x24xf32>) -> tensor<16x24xf32> {
  %a = math.exp %x {fusion.never} : tensor<16x24xf32>
  %b = arith.mulf %a, %y : tensor<16x24xf32>
  return %b : tensor<16x24xf32>
}
