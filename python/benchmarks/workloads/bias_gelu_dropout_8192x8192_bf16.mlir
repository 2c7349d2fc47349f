// dropout(gelu(x + b), 0.1) with the erf form.
func.func @bias_gelu_dropout(%x: tensor<8192x8192xbf16>,
                             %b: tensor<8192xbf16>) -> tensor<8192x8192xbf16> {
  %seed = arith.constant 20261121 : i64
  %empty = tensor.empty() : tensor<8192x8192xbf16>
  %bias = linalg.broadcast ins(%b : tensor<8192xbf16>)
      outs(%empty : tensor<8192x8192xbf16>) dimensions = [0]
  %sum = arith.addf %x, %bias : tensor<8192x8192xbf16>
  %gelu = fusion.gelu %sum : tensor<8192x8192xbf16>
  %out = fusion.dropout %gelu, %seed probability(0.1) op_id(1)
      : tensor<8192x8192xbf16>
  return %out : tensor<8192x8192xbf16>
}
