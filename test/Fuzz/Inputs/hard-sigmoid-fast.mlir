// fuzz: --seed=382 --numerics=fast
// outcome: verified
// The constant 1/6 is rounded to f32 in fast mode too.
func.func @main(%x: tensor<8x8x7x13xf32>) -> tensor<8x8x7x13xf32> {
  %r = fusion.hard_sigmoid %x : tensor<8x8x7x13xf32>
  return %r : tensor<8x8x7x13xf32>
}
