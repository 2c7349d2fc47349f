// fuzz: --seed=0
// outcome: verified
// A row written into a matrix that a pointwise op reads.
func.func @main(%x: tensor<64x64xf32>, %u: tensor<1x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %n = math.absf %x : tensor<64x64xf32>
  %v = tensor.insert_slice %u into %x[7, 0] [1, 64] [1, 1] : tensor<1x64xf32> into tensor<64x64xf32>
  return %v, %n : tensor<64x64xf32>, tensor<64x64xf32>
}
