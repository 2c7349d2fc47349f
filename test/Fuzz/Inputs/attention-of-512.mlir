// fuzz: --seed=0 --target=sm_90a
// outcome: verified
// Attention spelled out over 512 positions: the maximum comes with its index.
#all = affine_map<(b, i, j) -> (b, i, j)>
#row = affine_map<(b, i, j) -> (b, i)>
#one = affine_map<(b, i, j) -> (b, i, 0)>
func.func @main(%q: tensor<1x512x16xf32>, %k: tensor<1x16x512xf32>, %v: tensor<1x512x16xf32>) -> tensor<1x512x16xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i64
  %low = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<1x512x512xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<1x512x512xf32>) -> tensor<1x512x512xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<1x512x16xf32>, tensor<1x16x512xf32>) outs(%fs : tensor<1x512x512xf32>) -> tensor<1x512x512xf32>
  %er = tensor.empty() : tensor<1x512xf32>
  %fm = linalg.fill ins(%low : f32) outs(%er : tensor<1x512xf32>) -> tensor<1x512xf32>
  %ei = tensor.empty() : tensor<1x512xi64>
  %fi = linalg.fill ins(%none : i64) outs(%ei : tensor<1x512xi64>) -> tensor<1x512xi64>
  %m:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s : tensor<1x512x512xf32>) outs(%fm, %fi : tensor<1x512xf32>, tensor<1x512xi64>) {
  ^bb0(%a: f32, %o: f32, %p: i64):
    %j = linalg.index 2 : index
    %n = arith.index_cast %j : index to i64
    %x = arith.maximumf %a, %o : f32
    %c = arith.cmpf ogt, %a, %o : f32
    %y = arith.select %c, %n, %p : i64
    linalg.yield %x, %y : f32, i64
  } -> (tensor<1x512xf32>, tensor<1x512xi64>)
  %w = tensor.expand_shape %m#0 [[0], [1, 2]] output_shape [1, 512, 1] : tensor<1x512xf32> into tensor<1x512x1xf32>
  %e = linalg.generic {indexing_maps = [#all, #one, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %w : tensor<1x512x512xf32>, tensor<1x512x1xf32>) outs(%es : tensor<1x512x512xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %x = math.exp %d : f32
    linalg.yield %x : f32
  } -> tensor<1x512x512xf32>
  %fl = linalg.fill ins(%zero : f32) outs(%er : tensor<1x512xf32>) -> tensor<1x512xf32>
  %l = linalg.reduce { arith.addf } ins(%e : tensor<1x512x512xf32>) outs(%fl : tensor<1x512xf32>) dimensions = [2]
  %p = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e, %l : tensor<1x512x512xf32>, tensor<1x512xf32>) outs(%es : tensor<1x512x512xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %x = arith.divf %a, %b : f32
    linalg.yield %x : f32
  } -> tensor<1x512x512xf32>
  %eo = tensor.empty() : tensor<1x512x16xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<1x512x16xf32>) -> tensor<1x512x16xf32>
  %r = linalg.batch_matmul ins(%p, %v : tensor<1x512x512xf32>, tensor<1x512x16xf32>) outs(%fo : tensor<1x512x16xf32>) -> tensor<1x512x16xf32>
  return %r : tensor<1x512x16xf32>
}
