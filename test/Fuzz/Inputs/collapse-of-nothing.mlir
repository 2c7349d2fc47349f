// fuzz: --seed=1 --dim=m=3
// outcome: verified
// A reshape of no elements to a dimension of dynamic size.
func.func @main(%x: tensor<2x0x?x?xf64> {fusion.dims = ["_", "_", "m", "m"]}) -> tensor<?x?xf64> {
  %r = tensor.collapse_shape %x [[0, 1, 2], [3]] : tensor<2x0x?x?xf64> into tensor<?x?xf64>
  return %r : tensor<?x?xf64>
}
