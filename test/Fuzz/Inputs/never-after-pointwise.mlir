// fuzz: --seed=0
// outcome: verified
// fusion.never on an op of arith that reads another one's result.
func.func @main(%x: tensor<16x24xf32>, %y: tensor<16x24xf32>) -> tensor<16x24xf32> {
  %a = math.exp %x : tensor<16x24xf32>
  %b = arith.mulf %a, %y {fusion.never} : tensor<16x24xf32>
  return %b : tensor<16x24xf32>
}
