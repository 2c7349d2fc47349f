// (x @ bf16(w)) * s with int8 weights and 16 rows.
func.func @dequant_matmul(%x: tensor<16x8192xbf16>, %w: tensor<8192x8192xi8>,
                          %s: tensor<8192xbf16>) -> tensor<16x8192xbf16> {
  %zero = arith.constant 0.0 : f32
  %acc_empty = tensor.empty() : tensor<16x8192xf32>
  %init = linalg.fill ins(%zero : f32) outs(%acc_empty : tensor<16x8192xf32>)
      -> tensor<16x8192xf32>
  %wide = arith.sitofp %w : tensor<8192x8192xi8> to tensor<8192x8192xbf16>
  %product = linalg.matmul ins(%x, %wide : tensor<16x8192xbf16>, tensor<8192x8192xbf16>)
      outs(%init : tensor<16x8192xf32>) -> tensor<16x8192xf32>
  %rounded = arith.truncf %product : tensor<16x8192xf32> to tensor<16x8192xbf16>
  %empty = tensor.empty() : tensor<16x8192xbf16>
  %scales = linalg.broadcast ins(%s : tensor<8192xbf16>)
      outs(%empty : tensor<16x8192xbf16>) dimensions = [0]
  %out = arith.mulf %rounded, %scales : tensor<16x8192xbf16>
  return %out : tensor<16x8192xbf16>
}
