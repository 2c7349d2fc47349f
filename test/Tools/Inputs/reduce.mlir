// Of this, only the hyperbolic tangent matters.
func.func @f(%x: tensor<64x48xf32>, %y: tensor<48xf32>, %w: tensor<48x32xf32>)
    -> (tensor<64x48xf32>, tensor<64x32xf32>) {
  %a = math.exp %x : tensor<64x48xf32>
  %e = tensor.empty() : tensor<64x48xf32>
  %b = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %y : tensor<64x48xf32>, tensor<48xf32>)
      outs(%e : tensor<64x48xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    %t = math.tanh %s : f32
    %u = arith.mulf %t, %p : f32
    linalg.yield %u : f32
  } -> tensor<64x48xf32>
  %zero = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<64x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e2 : tensor<64x32xf32>)
      -> tensor<64x32xf32>
  %c = linalg.matmul {fusion.tf32}
      ins(%b, %w : tensor<64x48xf32>, tensor<48x32xf32>)
      outs(%f : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %b, %c : tensor<64x48xf32>, tensor<64x32xf32>
}

func.func @unrelated(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = math.exp %a : tensor<4xf32>
  return %b : tensor<4xf32>
}
