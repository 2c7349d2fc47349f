// layer_norm(a @ w + r) with an affine map.
func.func @out_residual_layernorm(%a: tensor<8192x4096xbf16>, %w: tensor<4096x4096xbf16>,
                                  %r: tensor<8192x4096xbf16>, %gamma: tensor<4096xbf16>,
                                  %beta: tensor<4096xbf16>) -> tensor<8192x4096xbf16> {
  %zero = arith.constant 0.0 : f32
  %acc_empty = tensor.empty() : tensor<8192x4096xf32>
  %init = linalg.fill ins(%zero : f32) outs(%acc_empty : tensor<8192x4096xf32>)
      -> tensor<8192x4096xf32>
  %count = arith.constant dense<4096.0> : tensor<8192xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<8192xf32>
  %row = tensor.empty() : tensor<8192xf32>
  %row_init = linalg.fill ins(%zero : f32) outs(%row : tensor<8192xf32>)
      -> tensor<8192xf32>
  %product = linalg.matmul ins(%a, %w : tensor<8192x4096xbf16>, tensor<4096x4096xbf16>)
      outs(%init : tensor<8192x4096xf32>) -> tensor<8192x4096xf32>
  %rounded = arith.truncf %product : tensor<8192x4096xf32> to tensor<8192x4096xbf16>
  %h = arith.addf %rounded, %r : tensor<8192x4096xbf16>
  %wide = arith.extf %h : tensor<8192x4096xbf16> to tensor<8192x4096xf32>
  %wide_gamma = arith.extf %gamma : tensor<4096xbf16> to tensor<4096xf32>
  %wide_beta = arith.extf %beta : tensor<4096xbf16> to tensor<4096xf32>
  %sum = linalg.reduce { arith.addf } ins(%wide : tensor<8192x4096xf32>)
      outs(%row_init : tensor<8192xf32>) dimensions = [1]
  %mean = arith.divf %sum, %count : tensor<8192xf32>
  %mean_rows = linalg.broadcast ins(%mean : tensor<8192xf32>)
      outs(%acc_empty : tensor<8192x4096xf32>) dimensions = [1]
  %centred = arith.subf %wide, %mean_rows : tensor<8192x4096xf32>
  %square = arith.mulf %centred, %centred : tensor<8192x4096xf32>
  %squares = linalg.reduce { arith.addf } ins(%square : tensor<8192x4096xf32>)
      outs(%row_init : tensor<8192xf32>) dimensions = [1]
  %var = arith.divf %squares, %count : tensor<8192xf32>
  %guarded = arith.addf %var, %eps : tensor<8192xf32>
  %inverse = math.rsqrt %guarded : tensor<8192xf32>
  %inverse_rows = linalg.broadcast ins(%inverse : tensor<8192xf32>)
      outs(%acc_empty : tensor<8192x4096xf32>) dimensions = [1]
  %gamma_rows = linalg.broadcast ins(%wide_gamma : tensor<4096xf32>)
      outs(%acc_empty : tensor<8192x4096xf32>) dimensions = [0]
  %beta_rows = linalg.broadcast ins(%wide_beta : tensor<4096xf32>)
      outs(%acc_empty : tensor<8192x4096xf32>) dimensions = [0]
  %normal = arith.mulf %centred, %inverse_rows : tensor<8192x4096xf32>
  %scaled = arith.mulf %normal, %gamma_rows : tensor<8192x4096xf32>
  %shifted = arith.addf %scaled, %beta_rows : tensor<8192x4096xf32>
  %out = arith.truncf %shifted : tensor<8192x4096xf32> to tensor<8192x4096xbf16>
  return %out : tensor<8192x4096xbf16>
}
