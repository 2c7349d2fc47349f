// fuzz: --target=sm_90a
// outcome: compiles
// A convolution of six concatenated tensors.
func.func @main(%a0: tensor<10x32x224x224xf32>, %a1: tensor<10x32x224x224xf32>, %a2: tensor<10x32x224x224xf32>, %a3: tensor<10x32x224x224xf32>, %a4: tensor<10x32x224x224xf32>, %a5: tensor<10x32x224x224xf32>, %w: tensor<32x192x3x3xf32>) -> tensor<10x32x222x222xf32> {
  %z = arith.constant 0.0 : f32
  %c = tensor.concat dim(1) %a0, %a1, %a2, %a3, %a4, %a5 : (tensor<10x32x224x224xf32>, tensor<10x32x224x224xf32>, tensor<10x32x224x224xf32>, tensor<10x32x224x224xf32>, tensor<10x32x224x224xf32>, tensor<10x32x224x224xf32>) -> tensor<10x192x224x224xf32>
  %e = tensor.empty() : tensor<10x32x222x222xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<10x32x222x222xf32>) -> tensor<10x32x222x222xf32>
  %r = linalg.conv_2d_nchw_fchw ins(%c, %w : tensor<10x192x224x224xf32>, tensor<32x192x3x3xf32>) outs(%f : tensor<10x32x222x222xf32>) -> tensor<10x32x222x222xf32>
  return %r : tensor<10x32x222x222xf32>
}
