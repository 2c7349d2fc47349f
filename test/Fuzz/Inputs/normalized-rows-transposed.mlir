// fuzz: --seed=1 --target=sm_90a
// outcome: verified
// Normalized rows of a product, split and exchanged.
func.func @main(%y: tensor<64x16xf32>, %w: tensor<16x128xf32>) -> tensor<2x128x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %m = linalg.matmul ins(%y, %w : tensor<64x16xf32>, tensor<16x128xf32>) outs(%f : tensor<64x128xf32>) -> tensor<64x128xf32>
  %x = tensor.expand_shape %m [[0, 1], [2]] output_shape [32, 2, 128] : tensor<64x128xf32> into tensor<32x2x128xf32>
  %y2 = fusion.softmax %x axis(2) : tensor<32x2x128xf32>
  %e4 = tensor.empty() : tensor<2x128x32xf32>
  %t = linalg.transpose ins(%y2 : tensor<32x2x128xf32>) outs(%e4 : tensor<2x128x32xf32>) permutation = [1, 2, 0]
  return %t : tensor<2x128x32xf32>
}
