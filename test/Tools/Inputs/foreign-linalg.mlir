#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @f(%x: tensor<?x33xf32> {fusion.dims = ["m", "_"]},
             %y: tensor<?x33xf32> {fusion.dims = ["m", "_"]}, %w: f32,
             %ids: tensor<5xi32>) -> (tensor<?xf32>, tensor<5x33xf32>, tensor<16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x33xf32>
  %e = tensor.empty(%m) : tensor<?x33xf32>
  %g = fusion.gelu %x : tensor<?x33xf32>
  %d = linalg.generic {indexing_maps = [#id, #id, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%g, %y : tensor<?x33xf32>, tensor<?x33xf32>)
      outs(%e : tensor<?x33xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %difference = arith.subf %b, %a : f32
    %way = arith.mulf %difference, %w : f32
    %there = arith.addf %a, %way : f32
    %far = math.absf %way : f32
    %sum = arith.addf %there, %far : f32
    linalg.yield %sum : f32
  } -> tensor<?x33xf32>
  %re = tensor.empty(%m) : tensor<?xf32>
  %rf = linalg.fill ins(%zero : f32) outs(%re : tensor<?xf32>) -> tensor<?xf32>
  %n = linalg.generic {indexing_maps = [#id, #row],
                       iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<?x33xf32>) outs(%rf : tensor<?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %square = arith.mulf %a, %a : f32
    %sum = arith.addf %o, %square : f32
    linalg.yield %sum : f32
  } -> tensor<?xf32>
  %s = math.sqrt %n : tensor<?xf32>
  %l = fusion.gather %y, %ids axis(0)
      : (tensor<?x33xf32>, tensor<5xi32>) -> tensor<5x33xf32>
  %q = arith.mulf %l, %l : tensor<5x33xf32>
  %first = tensor.extract_slice %q[1, 0] [1, 33] [1, 1]
      : tensor<5x33xf32> to tensor<33xf32>
  %k = tensor.empty() : tensor<3xf32>
  %we = tensor.empty() : tensor<16xf32>
  %wf = linalg.fill ins(%w : f32) outs(%we : tensor<16xf32>) -> tensor<16xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(i, k) -> (2 * i + k)>,
                                        affine_map<(i, k) -> (k)>, #row],
                       iterator_types = ["parallel", "reduction"]}
      ins(%first, %k : tensor<33xf32>, tensor<3xf32>)
      outs(%wf : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %sum = arith.addf %o, %a : f32
    linalg.yield %sum : f32
  } -> tensor<16xf32>
  return %s, %q, %v : tensor<?xf32>, tensor<5x33xf32>, tensor<16xf32>
}
