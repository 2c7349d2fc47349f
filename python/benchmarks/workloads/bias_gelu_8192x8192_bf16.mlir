// gelu(x + b) with the erf form, in f32 on the rounded sum.
func.func @bias_gelu(%x: tensor<8192x8192xbf16>, %b: tensor<8192xbf16>)
    -> tensor<8192x8192xbf16> {
  %half = arith.constant dense<0.5> : tensor<8192x8192xf32>
  %one = arith.constant dense<1.0> : tensor<8192x8192xf32>
  %root_half = arith.constant dense<0.70710678> : tensor<8192x8192xf32>
  %empty = tensor.empty() : tensor<8192x8192xbf16>
  %bias = linalg.broadcast ins(%b : tensor<8192xbf16>)
      outs(%empty : tensor<8192x8192xbf16>) dimensions = [0]
  %sum = arith.addf %x, %bias : tensor<8192x8192xbf16>
  %wide = arith.extf %sum : tensor<8192x8192xbf16> to tensor<8192x8192xf32>
  %scaled = arith.mulf %wide, %root_half : tensor<8192x8192xf32>
  %erf = math.erf %scaled : tensor<8192x8192xf32>
  %gate = arith.addf %erf, %one : tensor<8192x8192xf32>
  %halved = arith.mulf %wide, %half : tensor<8192x8192xf32>
  %gelu = arith.mulf %halved, %gate : tensor<8192x8192xf32>
  %out = arith.truncf %gelu : tensor<8192x8192xf32> to tensor<8192x8192xbf16>
  return %out : tensor<8192x8192xbf16>
}
