// Softmax of each row.
func.func @softmax(%x: tensor<1024x512xf32>) -> tensor<1024x512xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<1024x512xf32>
  %row = tensor.empty() : tensor<1024xf32>
  %max_init = linalg.fill ins(%lowest : f32) outs(%row : tensor<1024xf32>)
      -> tensor<1024xf32>
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<1024x512xf32>)
      outs(%max_init : tensor<1024xf32>) dimensions = [1]
  %max_rows = linalg.broadcast ins(%max : tensor<1024xf32>)
      outs(%empty : tensor<1024x512xf32>) dimensions = [1]
  %centred = arith.subf %x, %max_rows : tensor<1024x512xf32>
  %exp = math.exp %centred : tensor<1024x512xf32>
  %sum_init = linalg.fill ins(%zero : f32) outs(%row : tensor<1024xf32>)
      -> tensor<1024xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<1024x512xf32>)
      outs(%sum_init : tensor<1024xf32>) dimensions = [1]
  %sum_rows = linalg.broadcast ins(%sum : tensor<1024xf32>)
      outs(%empty : tensor<1024x512xf32>) dimensions = [1]
  %out = arith.divf %exp, %sum_rows : tensor<1024x512xf32>
  return %out : tensor<1024x512xf32>
}
