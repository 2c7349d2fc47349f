// fuzz: --target=sm_90a
// outcome: compiles
// A product of eight concatenated matrices: each has a buffer.
func.func @main(%a0: tensor<4096x64xf32>, %a1: tensor<4096x64xf32>, %a2: tensor<4096x64xf32>, %a3: tensor<4096x64xf32>, %a4: tensor<4096x64xf32>, %a5: tensor<4096x64xf32>, %a6: tensor<4096x64xf32>, %a7: tensor<4096x64xf32>, %w: tensor<512x128xf32>) -> tensor<4096x128xf32> {
  %z = arith.constant 0.0 : f32
  %c = tensor.concat dim(1) %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7 : (tensor<4096x64xf32>, tensor<4096x64xf32>, tensor<4096x64xf32>, tensor<4096x64xf32>, tensor<4096x64xf32>, tensor<4096x64xf32>, tensor<4096x64xf32>, tensor<4096x64xf32>) -> tensor<4096x512xf32>
  %e = tensor.empty() : tensor<4096x128xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  %r = linalg.matmul ins(%c, %w : tensor<4096x512xf32>, tensor<512x128xf32>) outs(%f : tensor<4096x128xf32>) -> tensor<4096x128xf32>
  return %r : tensor<4096x128xf32>
}
