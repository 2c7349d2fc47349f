// fuzz: --seed=1 --dim=n=3
// outcome: verified
// A result has no strides.
func.func @main(%x: tensor<1x?x2x?xf32> {fusion.dims = ["_", "n", "_", "n"]}) -> tensor<1x?x1x?xf32> {
  %one = arith.constant 1 : index
  %n = tensor.dim %x, %one : tensor<1x?x2x?xf32>
  %e = tensor.empty(%n, %n) : tensor<1x?x2x?xf32>
  %y = linalg.square ins(%x : tensor<1x?x2x?xf32>) outs(%e : tensor<1x?x2x?xf32>) -> tensor<1x?x2x?xf32>
  %r = tensor.extract_slice %y[0, 0, 0, 0] [1, %n, 1, %n] [1, 1, 1, 1] : tensor<1x?x2x?xf32> to tensor<1x?x1x?xf32>
  return %r : tensor<1x?x1x?xf32>
}
