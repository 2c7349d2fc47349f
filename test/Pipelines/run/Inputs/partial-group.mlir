func.func @main(%v: tensor<7xf16>, %m: tensor<7x32xf16>) -> tensor<32xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<32xf32>
  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<32xf32>) -> tensor<32xf32>
  %r = linalg.vecmat ins(%v, %m : tensor<7xf16>, tensor<7x32xf16>) outs(%none : tensor<32xf32>) -> tensor<32xf32>
  return %r : tensor<32xf32>
}
