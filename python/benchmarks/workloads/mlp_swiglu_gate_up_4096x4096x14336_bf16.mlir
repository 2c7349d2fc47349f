// silu(x @ w1) * (x @ w2), each product rounded to bf16.
func.func @swiglu_gate_up(%x: tensor<4096x4096xbf16>, %w1: tensor<4096x14336xbf16>,
                          %w2: tensor<4096x14336xbf16>) -> tensor<4096x14336xbf16> {
  %zero = arith.constant 0.0 : f32
  %acc_empty = tensor.empty() : tensor<4096x14336xf32>
  %init = linalg.fill ins(%zero : f32) outs(%acc_empty : tensor<4096x14336xf32>)
      -> tensor<4096x14336xf32>
  %one = arith.constant dense<1.0> : tensor<4096x14336xf32>
  %gate_acc = linalg.matmul ins(%x, %w1 : tensor<4096x4096xbf16>, tensor<4096x14336xbf16>)
      outs(%init : tensor<4096x14336xf32>) -> tensor<4096x14336xf32>
  %up_acc = linalg.matmul ins(%x, %w2 : tensor<4096x4096xbf16>, tensor<4096x14336xbf16>)
      outs(%init : tensor<4096x14336xf32>) -> tensor<4096x14336xf32>
  %gate = arith.truncf %gate_acc : tensor<4096x14336xf32> to tensor<4096x14336xbf16>
  %up = arith.truncf %up_acc : tensor<4096x14336xf32> to tensor<4096x14336xbf16>
  %wide = arith.extf %gate : tensor<4096x14336xbf16> to tensor<4096x14336xf32>
  %negative = arith.negf %wide : tensor<4096x14336xf32>
  %exp = math.exp %negative : tensor<4096x14336xf32>
  %denominator = arith.addf %exp, %one : tensor<4096x14336xf32>
  %silu = arith.divf %wide, %denominator : tensor<4096x14336xf32>
  %rounded = arith.truncf %silu : tensor<4096x14336xf32> to tensor<4096x14336xbf16>
  %out = arith.mulf %rounded, %up : tensor<4096x14336xbf16>
  return %out : tensor<4096x14336xbf16>
}
