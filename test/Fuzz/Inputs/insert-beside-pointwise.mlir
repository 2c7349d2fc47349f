// fuzz: --seed=0
// outcome: verified
// A slice put into what a pointwise op reads: two loop spaces, one grid each.
func.func @main(%x: tensor<256x256x2xf16>, %u: tensor<2x2x2xf16>) -> (tensor<256x256x2xf16>, tensor<256x256x2xf16>) {
  %n = arith.negf %x : tensor<256x256x2xf16>
  %v = tensor.insert_slice %u into %x[7, 5, 0] [2, 2, 2] [1, 1, 1] : tensor<2x2x2xf16> into tensor<256x256x2xf16>
  return %v, %n : tensor<256x256x2xf16>, tensor<256x256x2xf16>
}
