// fuzz: --seed=37 --target=sm_100
// outcome: verified
// Tiles of a product of two rows hold whole granules of the sum.
func.func @main(%a: tensor<128x2xbf16>, %b: tensor<128x128xbf16>, %c: tensor<2x128xf32>) -> tensor<2x128xf32> {
  %p = linalg.contract indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>] ins(%a, %b : tensor<128x2xbf16>, tensor<128x128xbf16>) outs(%c : tensor<2x128xf32>) -> tensor<2x128xf32>
  %r = fusion.layer_norm %p scale(%p) axis(0) eps(1.0e-5) : (tensor<2x128xf32>, tensor<2x128xf32>) -> tensor<2x128xf32>
  return %r : tensor<2x128xf32>
}
