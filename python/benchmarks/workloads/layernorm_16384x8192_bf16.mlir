// Layer normalisation of the last axis with an affine map, statistics in f32.
func.func @layer_norm(%x: tensor<16384x8192xbf16>, %gamma: tensor<8192xbf16>,
                      %beta: tensor<8192xbf16>) -> tensor<16384x8192xbf16> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant dense<8192.0> : tensor<16384xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<16384xf32>
  %empty = tensor.empty() : tensor<16384x8192xf32>
  %row = tensor.empty() : tensor<16384xf32>
  %init = linalg.fill ins(%zero : f32) outs(%row : tensor<16384xf32>)
      -> tensor<16384xf32>
  %wide = arith.extf %x : tensor<16384x8192xbf16> to tensor<16384x8192xf32>
  %wide_gamma = arith.extf %gamma : tensor<8192xbf16> to tensor<8192xf32>
  %wide_beta = arith.extf %beta : tensor<8192xbf16> to tensor<8192xf32>
  %sum = linalg.reduce { arith.addf } ins(%wide : tensor<16384x8192xf32>)
      outs(%init : tensor<16384xf32>) dimensions = [1]
  %mean = arith.divf %sum, %count : tensor<16384xf32>
  %mean_rows = linalg.broadcast ins(%mean : tensor<16384xf32>)
      outs(%empty : tensor<16384x8192xf32>) dimensions = [1]
  %centred = arith.subf %wide, %mean_rows : tensor<16384x8192xf32>
  %square = arith.mulf %centred, %centred : tensor<16384x8192xf32>
  %squares = linalg.reduce { arith.addf } ins(%square : tensor<16384x8192xf32>)
      outs(%init : tensor<16384xf32>) dimensions = [1]
  %var = arith.divf %squares, %count : tensor<16384xf32>
  %guarded = arith.addf %var, %eps : tensor<16384xf32>
  %inverse = math.rsqrt %guarded : tensor<16384xf32>
  %inverse_rows = linalg.broadcast ins(%inverse : tensor<16384xf32>)
      outs(%empty : tensor<16384x8192xf32>) dimensions = [1]
  %gamma_rows = linalg.broadcast ins(%wide_gamma : tensor<8192xf32>)
      outs(%empty : tensor<16384x8192xf32>) dimensions = [0]
  %beta_rows = linalg.broadcast ins(%wide_beta : tensor<8192xf32>)
      outs(%empty : tensor<16384x8192xf32>) dimensions = [0]
  %normal = arith.mulf %centred, %inverse_rows : tensor<16384x8192xf32>
  %scaled = arith.mulf %normal, %gamma_rows : tensor<16384x8192xf32>
  %shifted = arith.addf %scaled, %beta_rows : tensor<16384x8192xf32>
  %out = arith.truncf %shifted : tensor<16384x8192xf32> to tensor<16384x8192xbf16>
  return %out : tensor<16384x8192xbf16>
}
