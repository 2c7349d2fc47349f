// fuzz: --seed=845 --target=sm_120 --numerics=fast
// outcome: verified
// A product of filled tensors, which no loop belongs to.
func.func @main(%x: f16) -> tensor<2x32x1xf32> {
  %splat = tensor.splat %x : tensor<2x1x1xf16>
  %wide = tensor.splat %x : tensor<2x1x32xf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x32x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x32x1xf32>) -> tensor<2x32x1xf32>
  %r = linalg.batch_matmul indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d3, d1)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>] ins(%wide, %splat : tensor<2x1x32xf16>, tensor<2x1x1xf16>) outs(%f : tensor<2x32x1xf32>) -> tensor<2x32x1xf32>
  return %r : tensor<2x32x1xf32>
}
