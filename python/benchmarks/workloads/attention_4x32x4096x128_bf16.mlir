// softmax(q @ transpose(k) / sqrt(d)) @ v, from plain contractions.
#qkd = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#kkd = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#pij = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#bhij = affine_map<(b, h, i, j) -> (b, h, i, j)>

func.func @attention(%q: tensor<4x32x4096x128xbf16>, %k: tensor<4x32x4096x128xbf16>,
                     %v: tensor<4x32x4096x128xbf16>) -> tensor<4x32x4096x128xbf16> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.0883883476 : f32
  %scores_empty = tensor.empty() : tensor<4x32x4096x4096xf32>
  %rows_empty = tensor.empty() : tensor<4x32x4096xf32>
  %acc_empty = tensor.empty() : tensor<4x32x4096x128xf32>
  %scores_init = linalg.fill ins(%zero : f32) outs(%scores_empty : tensor<4x32x4096x4096xf32>)
      -> tensor<4x32x4096x4096xf32>
  %products = linalg.generic
      {indexing_maps = [#qkd, #kkd, #pij],
       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<4x32x4096x128xbf16>, tensor<4x32x4096x128xbf16>)
      outs(%scores_init : tensor<4x32x4096x4096xf32>) {
  ^bb0(%a: bf16, %b: bf16, %acc: f32):
    %wide_a = arith.extf %a : bf16 to f32
    %wide_b = arith.extf %b : bf16 to f32
    %product = arith.mulf %wide_a, %wide_b : f32
    %sum = arith.addf %product, %acc : f32
    linalg.yield %sum : f32
  } -> tensor<4x32x4096x4096xf32>
  %scores = linalg.generic
      {indexing_maps = [#bhij, #bhij],
       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%products : tensor<4x32x4096x4096xf32>)
      outs(%scores_empty : tensor<4x32x4096x4096xf32>) {
  ^bb0(%s: f32, %o: f32):
    %scaled = arith.mulf %s, %scale : f32
    linalg.yield %scaled : f32
  } -> tensor<4x32x4096x4096xf32>
  %max_init = linalg.fill ins(%lowest : f32) outs(%rows_empty : tensor<4x32x4096xf32>)
      -> tensor<4x32x4096xf32>
  %max = linalg.reduce { arith.maximumf } ins(%scores : tensor<4x32x4096x4096xf32>)
      outs(%max_init : tensor<4x32x4096xf32>) dimensions = [3]
  %max_rows = linalg.broadcast ins(%max : tensor<4x32x4096xf32>)
      outs(%scores_empty : tensor<4x32x4096x4096xf32>) dimensions = [3]
  %centred = arith.subf %scores, %max_rows : tensor<4x32x4096x4096xf32>
  %exp = math.exp %centred : tensor<4x32x4096x4096xf32>
  %sum_init = linalg.fill ins(%zero : f32) outs(%rows_empty : tensor<4x32x4096xf32>)
      -> tensor<4x32x4096xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<4x32x4096x4096xf32>)
      outs(%sum_init : tensor<4x32x4096xf32>) dimensions = [3]
  %sum_rows = linalg.broadcast ins(%sum : tensor<4x32x4096xf32>)
      outs(%scores_empty : tensor<4x32x4096x4096xf32>) dimensions = [3]
  %share = arith.divf %exp, %sum_rows : tensor<4x32x4096x4096xf32>
  %weights = arith.truncf %share : tensor<4x32x4096x4096xf32> to tensor<4x32x4096x4096xbf16>
  %out_init = linalg.fill ins(%zero : f32) outs(%acc_empty : tensor<4x32x4096x128xf32>)
      -> tensor<4x32x4096x128xf32>
  %acc = linalg.generic
      {indexing_maps = [#pij, #kkd, #qkd],
       iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
      ins(%weights, %v : tensor<4x32x4096x4096xbf16>, tensor<4x32x4096x128xbf16>)
      outs(%out_init : tensor<4x32x4096x128xf32>) {
  ^bb0(%a: bf16, %b: bf16, %acc: f32):
    %wide_a = arith.extf %a : bf16 to f32
    %wide_b = arith.extf %b : bf16 to f32
    %product = arith.mulf %wide_a, %wide_b : f32
    %total = arith.addf %product, %acc : f32
    linalg.yield %total : f32
  } -> tensor<4x32x4096x128xf32>
  %out = arith.truncf %acc : tensor<4x32x4096x128xf32> to tensor<4x32x4096x128xbf16>
  return %out : tensor<4x32x4096x128xbf16>
}
