// fuzz: --seed=751 --target=sm_90a
// outcome: verified
// A recurrence along the rows of square matrices whose transposes it adds.
func.func @main(%x: tensor<4x13x13xf32>) -> tensor<4x13x13xf32> {
  %e = tensor.empty() : tensor<4x13x13xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d2, d1)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<4x13x13xf32>) outs(%e : tensor<4x13x13xf32>) {
  ^bb0(%in: f32, %out: f32):
    %f = math.floor %in : f32
    linalg.yield %f : f32
  } -> tensor<4x13x13xf32>
  %a = arith.constant 1.0 : f32
  %b = arith.constant 0.0 : f32
  %r:2 = fusion.scan ins(%x, %t : tensor<4x13x13xf32>, tensor<4x13x13xf32>) inits(%a, %b : f32, f32) axis(2) -> tensor<4x13x13xf32>, tensor<4x13x13xf32> {
  ^bb0(%a1: f32, %b1: f32, %a2: f32, %b2: f32):
    %aa = arith.mulf %a1, %a2 : f32
    %cc = arith.mulf %a2, %b1 : f32
    %bb = arith.addf %cc, %b2 : f32
    fusion.yield %aa, %bb : f32, f32
  }
  return %r#1 : tensor<4x13x13xf32>
}
