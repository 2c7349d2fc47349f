// fuzz: --seed=0
// outcome: verified
// linalg.pack.
func.func @main(%x: tensor<4x8xf32>) -> tensor<2x2x2x4xf32> {
  %e = tensor.empty() : tensor<2x2x2x4xf32>
  %r = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [2, 4] into %e : tensor<4x8xf32> -> tensor<2x2x2x4xf32>
  return %r : tensor<2x2x2x4xf32>
}
