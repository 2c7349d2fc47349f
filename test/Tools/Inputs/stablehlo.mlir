// A comment on stablehlo.add is none.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "chlo.erf"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.add %0, %x : tensor<4xf32>
  return %1 : tensor<4xf32>
}
