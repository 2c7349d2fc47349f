// fuzz: --seed=1 --int-range=0:7
// Powers by squaring: every exponent of three bits.
func.func @main(%x: tensor<9x5xi32>, %y: tensor<9x5xi32>) -> tensor<9x5xi32> {
  %0 = math.ipowi %x, %y : tensor<9x5xi32>
  return %0 : tensor<9x5xi32>
}
