// gelu(a @ b + c) + d, tanh form, K = 14336.
func.func @matmul_bias_gelu_residual(%a: tensor<4096x14336xbf16>, %b: tensor<14336x4096xbf16>,
                                     %c: tensor<4096xbf16>, %d: tensor<4096x4096xbf16>)
    -> tensor<4096x4096xbf16> {
  %zero = arith.constant 0.0 : f32
  %acc_empty = tensor.empty() : tensor<4096x4096xf32>
  %init = linalg.fill ins(%zero : f32) outs(%acc_empty : tensor<4096x4096xf32>)
      -> tensor<4096x4096xf32>
  %product = linalg.matmul ins(%a, %b : tensor<4096x14336xbf16>, tensor<14336x4096xbf16>)
      outs(%init : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %wide_c = arith.extf %c : tensor<4096xbf16> to tensor<4096xf32>
  %bias = linalg.broadcast ins(%wide_c : tensor<4096xf32>)
      outs(%acc_empty : tensor<4096x4096xf32>) dimensions = [0]
  %sum = arith.addf %product, %bias : tensor<4096x4096xf32>
  %half = arith.constant dense<0.5> : tensor<4096x4096xf32>
  %one = arith.constant dense<1.0> : tensor<4096x4096xf32>
  %cubic = arith.constant dense<0.044715> : tensor<4096x4096xf32>
  %root = arith.constant dense<0.7978845608> : tensor<4096x4096xf32>
  %square = arith.mulf %sum, %sum : tensor<4096x4096xf32>
  %cube = arith.mulf %square, %sum : tensor<4096x4096xf32>
  %bend = arith.mulf %cube, %cubic : tensor<4096x4096xf32>
  %inner = arith.addf %sum, %bend : tensor<4096x4096xf32>
  %argument = arith.mulf %inner, %root : tensor<4096x4096xf32>
  %tanh = math.tanh %argument : tensor<4096x4096xf32>
  %gate = arith.addf %tanh, %one : tensor<4096x4096xf32>
  %halved = arith.mulf %sum, %half : tensor<4096x4096xf32>
  %gelu = arith.mulf %halved, %gate : tensor<4096x4096xf32>
  %rounded = arith.truncf %gelu : tensor<4096x4096xf32> to tensor<4096x4096xbf16>
  %out = arith.addf %rounded, %d : tensor<4096x4096xbf16>
  return %out : tensor<4096x4096xbf16>
}
