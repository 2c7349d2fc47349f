// fuzz: --seed=552 --target=sm_90 --dim=arg0.4=5 --dim=arg1.4=5
// outcome: verified
// A loop of products on warpgroups in which nothing is loaded ahead.
func.func @main(%a: tensor<5x5x4x8x?xf16>, %b: tensor<5x8x4x8x?xf16>, %c: tensor<5x5x8x8x8xf32>) -> tensor<5x5x8x8x8xf32> {
  %r = linalg.batch_mmt4d ins(%a, %b : tensor<5x5x4x8x?xf16>, tensor<5x8x4x8x?xf16>) outs(%c : tensor<5x5x8x8x8xf32>) -> tensor<5x5x8x8x8xf32>
  return %r : tensor<5x5x8x8x8xf32>
}
