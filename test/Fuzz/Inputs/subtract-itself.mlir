// fuzz: --seed=0
// outcome: verified
// x - x folds to zeros of its type.
func.func @main(%x: tensor<2x2xi32>) -> tensor<2x2xi32> {
  %e = tensor.empty() : tensor<2x2xi32>
  %v = linalg.sub ins(%x, %x : tensor<2x2xi32>, tensor<2x2xi32>) outs(%e : tensor<2x2xi32>) -> tensor<2x2xi32>
  return %v : tensor<2x2xi32>
}
