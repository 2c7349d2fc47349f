// fuzz: --seed=0
// outcome: verified
// A sum over the batch of a product.
func.func @main(%x: tensor<17x17x2xf32>, %a: tensor<17x17x17xf32>, %b: tensor<17x17xf32>) -> tensor<17x17xf32> {
  %p = linalg.generic {indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %x : tensor<17x17x2xf32>, tensor<17x17x2xf32>) outs(%a : tensor<17x17x17xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.mulf %p, %q : f32
    %t = arith.addf %o, %s : f32
    linalg.yield %t : f32
  } -> tensor<17x17x17xf32>
  %r = linalg.reduce { arith.addf } ins(%p : tensor<17x17x17xf32>) outs(%b : tensor<17x17xf32>) dimensions = [0]
  return %r : tensor<17x17xf32>
}
