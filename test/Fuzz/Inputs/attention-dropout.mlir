// fuzz: --seed=4
// outcome: verified
// Weights that are left are larger by what dropout takes.
func.func @main(%q: tensor<2x5x8xf32>, %k: tensor<2x7x8xf32>, %v: tensor<2x7x4xf32>, %s: i64) -> tensor<2x5x4xf32> {
  %0 = fusion.attention %q, %k, %v seed(%s) {dropout = 0.25 : f64, op_id = 3 : i64} : (tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x4xf32>, i64) -> tensor<2x5x4xf32>
  return %0 : tensor<2x5x4xf32>
}
