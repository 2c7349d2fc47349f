// Attention written as what it is: two batched matrix products around a
// softmax, softmax(q @ transpose(k) / sqrt(d)) @ v. Nothing names attention.

// RUN: fusion-run %s --device=emulator --random --verify | FileCheck %s
// CHECK: kernels: {{[0-9]+}} unfused -> 2{{$}}
// CHECK: {{^}}verified

#bij = affine_map<(b, i, j) -> (b, i, j)>
#bi = affine_map<(b, i, j) -> (b, i)>

func.func @attention(%q: tensor<4x32x16xf32>, %k: tensor<4x40x16xf32>,
                     %v: tensor<4x40x16xf32>) -> tensor<4x32x16xf32> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %scores_empty = tensor.empty() : tensor<4x32x40xf32>
  %rows_empty = tensor.empty() : tensor<4x32xf32>
  %out_empty = tensor.empty() : tensor<4x32x16xf32>

  // Scores: contraction over d of q[b, i, d] and k[b, j, d].
  %scores_init = linalg.fill ins(%zero : f32)
      outs(%scores_empty : tensor<4x32x40xf32>) -> tensor<4x32x40xf32>
  %products = linalg.generic
      {indexing_maps = [affine_map<(b, i, j, d) -> (b, i, d)>,
                        affine_map<(b, i, j, d) -> (b, j, d)>,
                        affine_map<(b, i, j, d) -> (b, i, j)>],
       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<4x32x16xf32>, tensor<4x40x16xf32>)
      outs(%scores_init : tensor<4x32x40xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %product = arith.mulf %a, %b : f32
    %sum = arith.addf %product, %acc : f32
    linalg.yield %sum : f32
  } -> tensor<4x32x40xf32>
  %scores = linalg.generic
      {indexing_maps = [#bij, #bij],
       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%products : tensor<4x32x40xf32>)
      outs(%scores_empty : tensor<4x32x40xf32>) {
  ^bb0(%s: f32, %out: f32):
    %scale = arith.constant 0.25 : f32
    %scaled = arith.mulf %s, %scale : f32
    linalg.yield %scaled : f32
  } -> tensor<4x32x40xf32>

  // Softmax over j.
  %max_init = linalg.fill ins(%lowest : f32) outs(%rows_empty : tensor<4x32xf32>)
      -> tensor<4x32xf32>
  %max = linalg.generic
      {indexing_maps = [#bij, #bi],
       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%scores : tensor<4x32x40xf32>) outs(%max_init : tensor<4x32xf32>) {
  ^bb0(%s: f32, %m: f32):
    %larger = arith.maximumf %s, %m : f32
    linalg.yield %larger : f32
  } -> tensor<4x32xf32>
  %exp = linalg.generic
      {indexing_maps = [#bij, #bi, #bij],
       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores, %max : tensor<4x32x40xf32>, tensor<4x32xf32>)
      outs(%scores_empty : tensor<4x32x40xf32>) {
  ^bb0(%s: f32, %m: f32, %out: f32):
    %centred = arith.subf %s, %m : f32
    %e = math.exp %centred : f32
    linalg.yield %e : f32
  } -> tensor<4x32x40xf32>
  %sum_init = linalg.fill ins(%zero : f32) outs(%rows_empty : tensor<4x32xf32>)
      -> tensor<4x32xf32>
  %sum = linalg.generic
      {indexing_maps = [#bij, #bi],
       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%exp : tensor<4x32x40xf32>) outs(%sum_init : tensor<4x32xf32>) {
  ^bb0(%e: f32, %acc: f32):
    %total = arith.addf %e, %acc : f32
    linalg.yield %total : f32
  } -> tensor<4x32xf32>
  %weights = linalg.generic
      {indexing_maps = [#bij, #bi, #bij],
       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%exp, %sum : tensor<4x32x40xf32>, tensor<4x32xf32>)
      outs(%scores_empty : tensor<4x32x40xf32>) {
  ^bb0(%e: f32, %s: f32, %out: f32):
    %weight = arith.divf %e, %s : f32
    linalg.yield %weight : f32
  } -> tensor<4x32x40xf32>

  %out_init = linalg.fill ins(%zero : f32) outs(%out_empty : tensor<4x32x16xf32>)
      -> tensor<4x32x16xf32>
  %y = linalg.batch_matmul
      ins(%weights, %v : tensor<4x32x40xf32>, tensor<4x40x16xf32>)
      outs(%out_init : tensor<4x32x16xf32>) -> tensor<4x32x16xf32>
  return %y : tensor<4x32x16xf32>
}
