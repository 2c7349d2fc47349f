// fuzz: --seed=1
// Four kernels and three temporaries, of which the first lives to the end.
func.func @main(%x: tensor<8x33xf32>) -> tensor<8x33xf32> {
  %a = math.exp %x {fusion.never} : tensor<8x33xf32>
  %b = math.sin %a {fusion.never} : tensor<8x33xf32>
  %c = arith.mulf %b, %b {fusion.never} : tensor<8x33xf32>
  %d = arith.addf %c, %a {fusion.never} : tensor<8x33xf32>
  return %d : tensor<8x33xf32>
}
