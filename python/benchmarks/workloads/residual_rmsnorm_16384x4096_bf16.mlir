// h = x + r and rmsnorm(h) * g, both returned.
func.func @residual_rmsnorm(%x: tensor<16384x4096xbf16>, %r: tensor<16384x4096xbf16>,
                            %g: tensor<4096xbf16>)
    -> (tensor<16384x4096xbf16>, tensor<16384x4096xbf16>) {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant dense<4096.0> : tensor<16384xf32>
  %eps = arith.constant dense<1.0e-6> : tensor<16384xf32>
  %empty = tensor.empty() : tensor<16384x4096xf32>
  %row = tensor.empty() : tensor<16384xf32>
  %h = arith.addf %x, %r : tensor<16384x4096xbf16>
  %wide = arith.extf %h : tensor<16384x4096xbf16> to tensor<16384x4096xf32>
  %square = arith.mulf %wide, %wide : tensor<16384x4096xf32>
  %init = linalg.fill ins(%zero : f32) outs(%row : tensor<16384xf32>)
      -> tensor<16384xf32>
  %squares = linalg.reduce { arith.addf } ins(%square : tensor<16384x4096xf32>)
      outs(%init : tensor<16384xf32>) dimensions = [1]
  %mean = arith.divf %squares, %count : tensor<16384xf32>
  %guarded = arith.addf %mean, %eps : tensor<16384xf32>
  %inverse = math.rsqrt %guarded : tensor<16384xf32>
  %inverse_rows = linalg.broadcast ins(%inverse : tensor<16384xf32>)
      outs(%empty : tensor<16384x4096xf32>) dimensions = [1]
  %normal = arith.mulf %wide, %inverse_rows : tensor<16384x4096xf32>
  %wide_g = arith.extf %g : tensor<4096xbf16> to tensor<4096xf32>
  %g_rows = linalg.broadcast ins(%wide_g : tensor<4096xf32>)
      outs(%empty : tensor<16384x4096xf32>) dimensions = [0]
  %scaled = arith.mulf %normal, %g_rows : tensor<16384x4096xf32>
  %out = arith.truncf %scaled : tensor<16384x4096xf32> to tensor<16384x4096xbf16>
  return %h, %out : tensor<16384x4096xbf16>, tensor<16384x4096xbf16>
}
