// fuzz: --seed=0 --target=sm_90a
// outcome: verified
// The sum of all elements of a matrix.
func.func @main(%x: tensor<517x260xf32>) -> tensor<f32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<517x260xf32>) outs(%f : tensor<f32>) dimensions = [0, 1]
  return %s : tensor<f32>
}
