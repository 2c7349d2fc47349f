// Mean over the rows of log(sum_j exp(x_j)) - x_label, in f32 on bf16 logits.
func.func @cross_entropy(%logits: tensor<8192x128256xbf16>, %labels: tensor<8192xi64>)
    -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<8192x128256xf32>
  %row = tensor.empty() : tensor<8192xf32>
  %scalar = tensor.empty() : tensor<f32>
  %wide = arith.extf %logits : tensor<8192x128256xbf16> to tensor<8192x128256xf32>
  %max_init = linalg.fill ins(%lowest : f32) outs(%row : tensor<8192xf32>)
      -> tensor<8192xf32>
  %max = linalg.reduce { arith.maximumf } ins(%wide : tensor<8192x128256xf32>)
      outs(%max_init : tensor<8192xf32>) dimensions = [1]
  %max_rows = linalg.broadcast ins(%max : tensor<8192xf32>)
      outs(%empty : tensor<8192x128256xf32>) dimensions = [1]
  %centred = arith.subf %wide, %max_rows : tensor<8192x128256xf32>
  %exp = math.exp %centred : tensor<8192x128256xf32>
  %sum_init = linalg.fill ins(%zero : f32) outs(%row : tensor<8192xf32>)
      -> tensor<8192xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<8192x128256xf32>)
      outs(%sum_init : tensor<8192xf32>) dimensions = [1]
  %log = math.log %sum : tensor<8192xf32>
  %log_sum = arith.addf %log, %max : tensor<8192xf32>
  %picked = linalg.generic
      {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
       iterator_types = ["parallel"]}
      ins(%labels : tensor<8192xi64>) outs(%row : tensor<8192xf32>) {
  ^bb0(%label: i64, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %label : i64 to index
    %logit = tensor.extract %logits[%i, %j] : tensor<8192x128256xbf16>
    %value = arith.extf %logit : bf16 to f32
    linalg.yield %value : f32
  } -> tensor<8192xf32>
  %loss = arith.subf %log_sum, %picked : tensor<8192xf32>
  %total_init = linalg.fill ins(%zero : f32) outs(%scalar : tensor<f32>)
      -> tensor<f32>
  %total = linalg.reduce { arith.addf } ins(%loss : tensor<8192xf32>)
      outs(%total_init : tensor<f32>) dimensions = [0]
  %count = arith.constant dense<8192.0> : tensor<f32>
  %mean = arith.divf %total, %count : tensor<f32>
  return %mean : tensor<f32>
}
