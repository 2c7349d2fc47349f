// fuzz: --seed=4
// outcome: verified
// Scores where a mask of bits is not set weigh nothing.
func.func @main(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x4xf32>, %m: tensor<5x7xi1>) -> tensor<2x5x4xf32> {
  %0 = fusion.attention %q, %k, %v mask(%m) : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x4xf32>, tensor<5x7xi1>) -> tensor<2x5x4xf32>
  return %0 : tensor<2x5x4xf32>
}
