// fuzz: --seed=0
// outcome: verified
// A rounding from 64 to 16 bits.
func.func @main(%x: tensor<9xf64>) -> tensor<9xbf16> {
  %r = arith.truncf %x : tensor<9xf64> to tensor<9xbf16>
  return %r : tensor<9xbf16>
}
