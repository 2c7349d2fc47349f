// fuzz: --seed=1 --int-range=0:4
// The mean is over the targets that count.
func.func @main(%x: tensor<9x5xf32>, %t: tensor<9xi32>) -> tensor<f32> {
  %0 = fusion.cross_entropy mean %x, %t axis(1) {ignore_index = 1 : i64} :
      (tensor<9x5xf32>, tensor<9xi32>) -> tensor<f32>
  return %0 : tensor<f32>
}
