// The first program of the README.
func.func @gate(%x: tensor<64x96xf32>, %y: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %silu = fusion.silu %x : tensor<64x96xf32>
  %gated = arith.mulf %silu, %y : tensor<64x96xf32>
  return %gated : tensor<64x96xf32>
}
