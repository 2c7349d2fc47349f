func.func @f(%x: tensor<?x33xf32> {fusion.dims = ["m", "_"]},
             %y: tensor<?x33xf32> {fusion.dims = ["m", "_"]}, %w: f32,
             %ids: tensor<5xi32>) -> (tensor<?xf32>, tensor<5x33xf32>, tensor<16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x33xf32>
  %e = tensor.empty(%m) : tensor<?x33xf32>
  %g = fusion.gelu %x : tensor<?x33xf32>
  %b:2 = foreign.blend ins(%g, %y, %w : tensor<?x33xf32>, tensor<?x33xf32>, f32)
      outs(%e, %e : tensor<?x33xf32>, tensor<?x33xf32>)
      -> tensor<?x33xf32>, tensor<?x33xf32>
  %d = arith.addf %b#0, %b#1 : tensor<?x33xf32>
  %re = tensor.empty(%m) : tensor<?xf32>
  %rf = linalg.fill ins(%zero : f32) outs(%re : tensor<?xf32>) -> tensor<?xf32>
  %n = foreign.row_norm ins(%d : tensor<?x33xf32>) outs(%rf : tensor<?xf32>)
      -> tensor<?xf32>
  %s = math.sqrt %n : tensor<?xf32>
  %le = tensor.empty() : tensor<5x33xf32>
  %l = foreign.lookup ins(%y, %ids : tensor<?x33xf32>, tensor<5xi32>)
      outs(%le : tensor<5x33xf32>) -> tensor<5x33xf32>
  %q = foreign.square %l : tensor<5x33xf32> -> tensor<5x33xf32>
  %first = tensor.extract_slice %q[1, 0] [1, 33] [1, 1]
      : tensor<5x33xf32> to tensor<33xf32>
  %we = tensor.empty() : tensor<16xf32>
  %wf = linalg.fill ins(%w : f32) outs(%we : tensor<16xf32>) -> tensor<16xf32>
  %v = foreign.window ins(%first : tensor<33xf32>) outs(%wf : tensor<16xf32>)
      -> tensor<16xf32>
  return %s, %q, %v : tensor<?xf32>, tensor<5x33xf32>, tensor<16xf32>
}
