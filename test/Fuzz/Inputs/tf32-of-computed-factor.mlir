// fuzz: --seed=951 --target=sm_80
// outcome: verified
// One factor is computed in f32 from f16, and rounded to tf32 as a whole.
func.func @main(%x: tensor<2x8xf16>, %y: tensor<2x16xf16>) -> tensor<8x16xf32> attributes {fusion.tf32} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x16xf32>) -> tensor<8x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(k, m, n) -> (k, m)>, affine_map<(k, m, n) -> (k, n)>, affine_map<(k, m, n) -> (m, n)>], iterator_types = ["reduction", "parallel", "parallel"]} ins(%x, %y : tensor<2x8xf16>, tensor<2x16xf16>) outs(%zeros : tensor<8x16xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %s = arith.extf %a : f16 to f32
    %t = arith.extf %b : f16 to f32
    %e = math.exp %s : f32
    %p = arith.mulf %e, %t : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}
