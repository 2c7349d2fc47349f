// fuzz: --seed=0 --dim=arg0.0=3
// outcome: verified
// A size that affine.apply computes.
func.func @main(%x: tensor<?x8x5xf32>) -> tensor<?x5xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x8x5xf32>
  %n = affine.apply affine_map<()[s0] -> (s0 * 8)>()[%d]
  %c = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x8x5xf32> into tensor<?x5xf32>
  %e = tensor.empty(%n) : tensor<?x5xf32>
  %r = linalg.exp ins(%c : tensor<?x5xf32>) outs(%e : tensor<?x5xf32>) -> tensor<?x5xf32>
  return %r : tensor<?x5xf32>
}
