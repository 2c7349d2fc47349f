// softmax(q @ transpose(k) / sqrt(d)) @ v with ALiBi: - slope * |i - j|, from plain contractions.
#qkd = affine_map<(b, h, i, j, d) -> (b, h, i, d)>
#kkd = affine_map<(b, h, i, j, d) -> (b, h, j, d)>
#pij = affine_map<(b, h, i, j, d) -> (b, h, i, j)>
#bhij = affine_map<(b, h, i, j) -> (b, h, i, j)>

func.func @attention(%q: tensor<2x16x2048x64xbf16>, %k: tensor<2x16x2048x64xbf16>,
                     %v: tensor<2x16x2048x64xbf16>,
                     %slopes: tensor<16xf32>) -> tensor<2x16x2048x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.1250000000 : f32
  %scores_empty = tensor.empty() : tensor<2x16x2048x2048xf32>
  %rows_empty = tensor.empty() : tensor<2x16x2048xf32>
  %acc_empty = tensor.empty() : tensor<2x16x2048x64xf32>
  %scores_init = linalg.fill ins(%zero : f32) outs(%scores_empty : tensor<2x16x2048x2048xf32>)
      -> tensor<2x16x2048x2048xf32>
  %products = linalg.generic
      {indexing_maps = [#qkd, #kkd, #pij],
       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x16x2048x64xbf16>, tensor<2x16x2048x64xbf16>)
      outs(%scores_init : tensor<2x16x2048x2048xf32>) {
  ^bb0(%a: bf16, %b: bf16, %acc: f32):
    %wide_a = arith.extf %a : bf16 to f32
    %wide_b = arith.extf %b : bf16 to f32
    %product = arith.mulf %wide_a, %wide_b : f32
    %sum = arith.addf %product, %acc : f32
    linalg.yield %sum : f32
  } -> tensor<2x16x2048x2048xf32>
  %scores = linalg.generic
      {indexing_maps = [#bhij, affine_map<(b, h, i, j) -> (h)>, #bhij],
       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%products, %slopes : tensor<2x16x2048x2048xf32>, tensor<16xf32>)
      outs(%scores_empty : tensor<2x16x2048x2048xf32>) {
  ^bb0(%s: f32, %slope: f32, %o: f32):
    %scaled = arith.mulf %s, %scale : f32
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %ii = arith.index_cast %i : index to i32
    %jj = arith.index_cast %j : index to i32
    %difference = arith.subi %ii, %jj : i32
    %distance = math.absi %difference : i32
    %length = arith.sitofp %distance : i32 to f32
    %penalty = arith.mulf %length, %slope : f32
    %biased = arith.subf %scaled, %penalty : f32
    linalg.yield %biased : f32
  } -> tensor<2x16x2048x2048xf32>
  %max_init = linalg.fill ins(%lowest : f32) outs(%rows_empty : tensor<2x16x2048xf32>)
      -> tensor<2x16x2048xf32>
  %max = linalg.reduce { arith.maximumf } ins(%scores : tensor<2x16x2048x2048xf32>)
      outs(%max_init : tensor<2x16x2048xf32>) dimensions = [3]
  %max_rows = linalg.broadcast ins(%max : tensor<2x16x2048xf32>)
      outs(%scores_empty : tensor<2x16x2048x2048xf32>) dimensions = [3]
  %centred = arith.subf %scores, %max_rows : tensor<2x16x2048x2048xf32>
  %exp = math.exp %centred : tensor<2x16x2048x2048xf32>
  %sum_init = linalg.fill ins(%zero : f32) outs(%rows_empty : tensor<2x16x2048xf32>)
      -> tensor<2x16x2048xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<2x16x2048x2048xf32>)
      outs(%sum_init : tensor<2x16x2048xf32>) dimensions = [3]
  %sum_rows = linalg.broadcast ins(%sum : tensor<2x16x2048xf32>)
      outs(%scores_empty : tensor<2x16x2048x2048xf32>) dimensions = [3]
  %share = arith.divf %exp, %sum_rows : tensor<2x16x2048x2048xf32>
  %weights = arith.truncf %share : tensor<2x16x2048x2048xf32> to tensor<2x16x2048x2048xbf16>
  %out_init = linalg.fill ins(%zero : f32) outs(%acc_empty : tensor<2x16x2048x64xf32>)
      -> tensor<2x16x2048x64xf32>
  %acc = linalg.generic
      {indexing_maps = [#pij, #kkd, #qkd],
       iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
      ins(%weights, %v : tensor<2x16x2048x2048xbf16>, tensor<2x16x2048x64xbf16>)
      outs(%out_init : tensor<2x16x2048x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %acc: f32):
    %wide_a = arith.extf %a : bf16 to f32
    %wide_b = arith.extf %b : bf16 to f32
    %product = arith.mulf %wide_a, %wide_b : f32
    %total = arith.addf %product, %acc : f32
    linalg.yield %total : f32
  } -> tensor<2x16x2048x64xf32>
  %out = arith.truncf %acc : tensor<2x16x2048x64xf32> to tensor<2x16x2048x64xbf16>
  return %out : tensor<2x16x2048x64xbf16>
}
