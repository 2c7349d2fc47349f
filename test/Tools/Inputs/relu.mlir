#id = affine_map<(i, j) -> (i, j)>
func.func @relu(%x: tensor<?x5xf32> {fusion.dims = ["m", "_"]}) -> tensor<?x5xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x5xf32>
  %e = tensor.empty(%m) : tensor<?x5xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x5xf32>) outs(%e : tensor<?x5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = arith.maximumf %a, %zero : f32
    linalg.yield %b : f32
  } -> tensor<?x5xf32>
  return %r : tensor<?x5xf32>
}
