// fuzz: --seed=0
// outcome: verified
// A linear layer of (batch, sequence, features), then the sum of each row, and
// the same of (rows, features).
func.func @main(%x: tensor<2x7x64xf32>, %w: tensor<64x96xf32>) -> (tensor<2x7xf32>, tensor<14xf32>) {
  %zero = arith.constant 0.0 : f32
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x7x64xf32> into tensor<14x64xf32>
  %e = tensor.empty() : tensor<14x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<14x96xf32>) -> tensor<14x96xf32>
  %p = linalg.matmul ins(%rows, %w : tensor<14x64xf32>, tensor<64x96xf32>) outs(%f : tensor<14x96xf32>) -> tensor<14x96xf32>
  %y = tensor.expand_shape %p [[0, 1], [2]] output_shape [2, 7, 96] : tensor<14x96xf32> into tensor<2x7x96xf32>
  %e2 = tensor.empty() : tensor<2x7xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x7xf32>) -> tensor<2x7xf32>
  %s = linalg.reduce { arith.addf } ins(%y : tensor<2x7x96xf32>) outs(%f2 : tensor<2x7xf32>) dimensions = [2]
  %e1 = tensor.empty() : tensor<14xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<14xf32>) -> tensor<14xf32>
  %t = linalg.reduce { arith.addf } ins(%p : tensor<14x96xf32>) outs(%f1 : tensor<14xf32>) dimensions = [1]
  return %s, %t : tensor<2x7xf32>, tensor<14xf32>
}
