// Layer normalisation of the last axis with an affine map, statistics in f32.
func.func @layer_norm(%x: tensor<4096x1024xf32>, %gamma: tensor<1024xf32>,
                      %beta: tensor<1024xf32>) -> tensor<4096x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant dense<1024.0> : tensor<4096xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<4096xf32>
  %empty = tensor.empty() : tensor<4096x1024xf32>
  %row = tensor.empty() : tensor<4096xf32>
  %init = linalg.fill ins(%zero : f32) outs(%row : tensor<4096xf32>)
      -> tensor<4096xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<4096x1024xf32>)
      outs(%init : tensor<4096xf32>) dimensions = [1]
  %mean = arith.divf %sum, %count : tensor<4096xf32>
  %mean_rows = linalg.broadcast ins(%mean : tensor<4096xf32>)
      outs(%empty : tensor<4096x1024xf32>) dimensions = [1]
  %centred = arith.subf %x, %mean_rows : tensor<4096x1024xf32>
  %square = arith.mulf %centred, %centred : tensor<4096x1024xf32>
  %squares = linalg.reduce { arith.addf } ins(%square : tensor<4096x1024xf32>)
      outs(%init : tensor<4096xf32>) dimensions = [1]
  %var = arith.divf %squares, %count : tensor<4096xf32>
  %guarded = arith.addf %var, %eps : tensor<4096xf32>
  %inverse = math.rsqrt %guarded : tensor<4096xf32>
  %inverse_rows = linalg.broadcast ins(%inverse : tensor<4096xf32>)
      outs(%empty : tensor<4096x1024xf32>) dimensions = [1]
  %gamma_rows = linalg.broadcast ins(%gamma : tensor<1024xf32>)
      outs(%empty : tensor<4096x1024xf32>) dimensions = [0]
  %beta_rows = linalg.broadcast ins(%beta : tensor<1024xf32>)
      outs(%empty : tensor<4096x1024xf32>) dimensions = [0]
  %normal = arith.mulf %centred, %inverse_rows : tensor<4096x1024xf32>
  %scaled = arith.mulf %normal, %gamma_rows : tensor<4096x1024xf32>
  %out = arith.addf %scaled, %beta_rows : tensor<4096x1024xf32>
  return %out : tensor<4096x1024xf32>
}
