// gelu(a @ b + c), tanh form, accumulated in f32, b stored K x N.
func.func @matmul_bias_gelu(%a: tensor<8192x8192xbf16>, %b: tensor<8192x8192xbf16>,
                            %c: tensor<8192xbf16>) -> tensor<8192x8192xbf16> {
  %zero = arith.constant 0.0 : f32
  %acc_empty = tensor.empty() : tensor<8192x8192xf32>
  %init = linalg.fill ins(%zero : f32) outs(%acc_empty : tensor<8192x8192xf32>)
      -> tensor<8192x8192xf32>
  %product = linalg.matmul ins(%a, %b : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>)
      outs(%init : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  %wide_c = arith.extf %c : tensor<8192xbf16> to tensor<8192xf32>
  %bias = linalg.broadcast ins(%wide_c : tensor<8192xf32>)
      outs(%acc_empty : tensor<8192x8192xf32>) dimensions = [0]
  %sum = arith.addf %product, %bias : tensor<8192x8192xf32>
  %half = arith.constant dense<0.5> : tensor<8192x8192xf32>
  %one = arith.constant dense<1.0> : tensor<8192x8192xf32>
  %cubic = arith.constant dense<0.044715> : tensor<8192x8192xf32>
  %root = arith.constant dense<0.7978845608> : tensor<8192x8192xf32>
  %square = arith.mulf %sum, %sum : tensor<8192x8192xf32>
  %cube = arith.mulf %square, %sum : tensor<8192x8192xf32>
  %bend = arith.mulf %cube, %cubic : tensor<8192x8192xf32>
  %inner = arith.addf %sum, %bend : tensor<8192x8192xf32>
  %argument = arith.mulf %inner, %root : tensor<8192x8192xf32>
  %tanh = math.tanh %argument : tensor<8192x8192xf32>
  %gate = arith.addf %tanh, %one : tensor<8192x8192xf32>
  %halved = arith.mulf %sum, %half : tensor<8192x8192xf32>
  %gelu = arith.mulf %halved, %gate : tensor<8192x8192xf32>
  %out = arith.truncf %gelu : tensor<8192x8192xf32> to tensor<8192x8192xbf16>
  return %out : tensor<8192x8192xbf16>
}
