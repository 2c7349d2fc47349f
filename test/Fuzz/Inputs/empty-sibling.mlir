// fuzz: --seed=0
// outcome: verified
// An op over an empty tensor reads what another one reads too.
func.func @main(%x: tensor<0x64xf32>, %y: tensor<64xf32>) -> (tensor<0x64xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<0x64xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<0x64xf32>, tensor<64xf32>) outs(%e : tensor<0x64xf32>) {
  ^bb0(%p: f32, %q: f32, %z: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<0x64xf32>
  %b = arith.negf %y : tensor<64xf32>
  return %a, %b : tensor<0x64xf32>, tensor<64xf32>
}
