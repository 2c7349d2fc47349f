// silu(g) * u.
func.func @swiglu(%g: tensor<8192x14336xbf16>, %u: tensor<8192x14336xbf16>)
    -> tensor<8192x14336xbf16> {
  %one = arith.constant dense<1.0> : tensor<8192x14336xf32>
  %wide = arith.extf %g : tensor<8192x14336xbf16> to tensor<8192x14336xf32>
  %negative = arith.negf %wide : tensor<8192x14336xf32>
  %exp = math.exp %negative : tensor<8192x14336xf32>
  %denominator = arith.addf %exp, %one : tensor<8192x14336xf32>
  %silu = arith.divf %wide, %denominator : tensor<8192x14336xf32>
  %rounded = arith.truncf %silu
      : tensor<8192x14336xf32> to tensor<8192x14336xbf16>
  %out = arith.mulf %rounded, %u : tensor<8192x14336xbf16>
  return %out : tensor<8192x14336xbf16>
}
