// Softmax of each row, in f32 between bf16 loads and stores.
func.func @softmax(%x: tensor<16384x8192xbf16>) -> tensor<16384x8192xbf16> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<16384x8192xf32>
  %row = tensor.empty() : tensor<16384xf32>
  %wide = arith.extf %x : tensor<16384x8192xbf16> to tensor<16384x8192xf32>
  %max_init = linalg.fill ins(%lowest : f32) outs(%row : tensor<16384xf32>)
      -> tensor<16384xf32>
  %max = linalg.reduce { arith.maximumf } ins(%wide : tensor<16384x8192xf32>)
      outs(%max_init : tensor<16384xf32>) dimensions = [1]
  %max_rows = linalg.broadcast ins(%max : tensor<16384xf32>)
      outs(%empty : tensor<16384x8192xf32>) dimensions = [1]
  %centred = arith.subf %wide, %max_rows : tensor<16384x8192xf32>
  %exp = math.exp %centred : tensor<16384x8192xf32>
  %sum_init = linalg.fill ins(%zero : f32) outs(%row : tensor<16384xf32>)
      -> tensor<16384xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<16384x8192xf32>)
      outs(%sum_init : tensor<16384xf32>) dimensions = [1]
  %sum_rows = linalg.broadcast ins(%sum : tensor<16384xf32>)
      outs(%empty : tensor<16384x8192xf32>) dimensions = [1]
  %share = arith.divf %exp, %sum_rows : tensor<16384x8192xf32>
  %out = arith.truncf %share : tensor<16384x8192xf32> to tensor<16384x8192xbf16>
  return %out : tensor<16384x8192xbf16>
}
