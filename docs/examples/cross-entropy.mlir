// Mean cross-entropy of bf16 logits, written as loops in f32:
//   loss_i = log(sum_j exp(x_ij - m_i)) + m_i - x_i,label(i),  mean over i.
//
// One sweep over the logits yields the maximum and the sum; no row of
// probabilities is ever stored.

// RUN: fusion-run %s --device=emulator --random --verify | FileCheck %s
// CHECK: kernels: {{[0-9]+}} unfused -> 2{{$}}
// CHECK: {{^}}verified

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#row = affine_map<(i) -> (i)>
#scalar = affine_map<(i) -> ()>

func.func @cross_entropy(%logits: tensor<24x300xbf16>, %labels: tensor<24xi64>)
    -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %row_empty = tensor.empty() : tensor<24xf32>
  %scalar_empty = tensor.empty() : tensor<f32>

  %max_init = linalg.fill ins(%lowest : f32) outs(%row_empty : tensor<24xf32>)
      -> tensor<24xf32>
  %max = linalg.generic {indexing_maps = [#ij, #i],
                         iterator_types = ["parallel", "reduction"]}
      ins(%logits : tensor<24x300xbf16>) outs(%max_init : tensor<24xf32>) {
  ^bb0(%x: bf16, %m: f32):
    %wide = arith.extf %x : bf16 to f32
    %larger = arith.maximumf %wide, %m : f32
    linalg.yield %larger : f32
  } -> tensor<24xf32>

  %sum_init = linalg.fill ins(%zero : f32) outs(%row_empty : tensor<24xf32>)
      -> tensor<24xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i, #i],
                         iterator_types = ["parallel", "reduction"]}
      ins(%logits, %max : tensor<24x300xbf16>, tensor<24xf32>)
      outs(%sum_init : tensor<24xf32>) {
  ^bb0(%x: bf16, %m: f32, %acc: f32):
    %wide = arith.extf %x : bf16 to f32
    %centred = arith.subf %wide, %m : f32
    %e = math.exp %centred : f32
    %total = arith.addf %e, %acc : f32
    linalg.yield %total : f32
  } -> tensor<24xf32>

  %loss = linalg.generic {indexing_maps = [#row, #row, #row, #row],
                          iterator_types = ["parallel"]}
      ins(%sum, %max, %labels : tensor<24xf32>, tensor<24xf32>, tensor<24xi64>)
      outs(%row_empty : tensor<24xf32>) {
  ^bb0(%s: f32, %m: f32, %label: i64, %out: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %label : i64 to index
    %picked = tensor.extract %logits[%i, %j] : tensor<24x300xbf16>
    %wide = arith.extf %picked : bf16 to f32
    %log = math.log %s : f32
    %log_sum = arith.addf %log, %m : f32
    %difference = arith.subf %log_sum, %wide : f32
    linalg.yield %difference : f32
  } -> tensor<24xf32>

  %mean_init = linalg.fill ins(%zero : f32) outs(%scalar_empty : tensor<f32>)
      -> tensor<f32>
  %mean = linalg.generic {indexing_maps = [#row, #scalar],
                          iterator_types = ["reduction"]}
      ins(%loss : tensor<24xf32>) outs(%mean_init : tensor<f32>) {
  ^bb0(%l: f32, %acc: f32):
    %share = arith.constant 0.0416666667 : f32
    %scaled = arith.mulf %l, %share : f32
    %total = arith.addf %scaled, %acc : f32
    linalg.yield %total : f32
  } -> tensor<f32>
  return %mean : tensor<f32>
}
