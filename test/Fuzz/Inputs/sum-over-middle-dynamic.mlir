// fuzz: --seed=1 --dim=arg0.0=5
// outcome: verified
// A sum over the middle of three dimensions, stored in another order.
func.func @main(%x: tensor<?x128x2xf32>) -> tensor<2x?xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x128x2xf32>
  %e = tensor.empty(%n) : tensor<2x?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x?xf32>) -> tensor<2x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (k, j, i)>, affine_map<(i, j, k) -> (i, k)>], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x : tensor<?x128x2xf32>) outs(%f : tensor<2x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<2x?xf32>
  return %r : tensor<2x?xf32>
}
