// fuzz: --seed=0
// outcome: verified
// A broadcast to an empty tensor of what a norm reads too.
func.func @main(%x: tensor<1x1x4xf32>, %s: tensor<4xf32>) -> (tensor<1x1x4xf32>, tensor<1x0x1x4xf32>) {
  %e = tensor.empty() : tensor<1x0x1x4xf32>
  %b = linalg.broadcast ins(%x : tensor<1x1x4xf32>) outs(%e : tensor<1x0x1x4xf32>) dimensions = [1]
  %n = fusion.layer_norm %x scale(%s) axis(2) eps(1.0e-5) : (tensor<1x1x4xf32>, tensor<4xf32>) -> tensor<1x1x4xf32>
  return %n, %b : tensor<1x1x4xf32>, tensor<1x0x1x4xf32>
}
