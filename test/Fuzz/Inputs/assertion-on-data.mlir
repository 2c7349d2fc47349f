// fuzz: --seed=0
// outcome: verified
// An assertion in a body, as importers write it.
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %c = arith.cmpf one, %in, %zero : f32
    cf.assert %c, "a zero"
    %q = arith.divf %one, %in : f32
    linalg.yield %q : f32
  } -> tensor<16xf32>
  return %r : tensor<16xf32>
}
