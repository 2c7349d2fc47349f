// The gradient of a bias: the sum of each column, in f32.
func.func @colsum(%x: tensor<16384x8192xbf16>) -> tensor<8192xf32> {
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<8192xf32>
  %init = linalg.fill ins(%zero : f32) outs(%row : tensor<8192xf32>)
      -> tensor<8192xf32>
  %wide = arith.extf %x : tensor<16384x8192xbf16> to tensor<16384x8192xf32>
  %out = linalg.reduce { arith.addf } ins(%wide : tensor<16384x8192xf32>)
      outs(%init : tensor<8192xf32>) dimensions = [0]
  return %out : tensor<8192xf32>
}
