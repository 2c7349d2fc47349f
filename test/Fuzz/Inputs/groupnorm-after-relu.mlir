// fuzz: --seed=0
// outcome: verified
// A linear layer, relu, and a norm of four groups of its columns whose
// statistics are f64.
#in = affine_map<(i, g, j) -> (i, g, j)>
#of = affine_map<(i, g, j) -> (i, g)>
func.func @main(%x: tensor<32x48xf32>, %w: tensor<48x64xf32>) -> tensor<32x4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<32x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x64xf32>) -> tensor<32x64xf32>
  %p = linalg.matmul ins(%x, %w : tensor<32x48xf32>, tensor<48x64xf32>) outs(%f : tensor<32x64xf32>) -> tensor<32x64xf32>
  %h = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) {
  ^bb0(%v: f32, %o: f32):
    %r = arith.maximumf %v, %zero : f32
    linalg.yield %r : f32
  } -> tensor<32x64xf32>
  %y = tensor.expand_shape %h [[0], [1, 2]] output_shape [32, 4, 16] : tensor<32x64xf32> into tensor<32x4x16xf32>
  %es = tensor.empty() : tensor<32x4xf64>
  %fs = linalg.fill ins(%none : f64) outs(%es : tensor<32x4xf64>) -> tensor<32x4xf64>
  %s:2 = linalg.generic {indexing_maps = [#in, #of, #of], iterator_types = ["parallel", "parallel", "reduction"]} ins(%y : tensor<32x4x16xf32>) outs(%fs, %fs : tensor<32x4xf64>, tensor<32x4xf64>) {
  ^bb0(%v: f32, %a: f64, %b: f64):
    %d = arith.extf %v : f32 to f64
    %q = arith.mulf %d, %d : f64
    %t = arith.addf %a, %d : f64
    %u = arith.addf %b, %q : f64
    linalg.yield %t, %u : f64, f64
  } -> (tensor<32x4xf64>, tensor<32x4xf64>)
  %ey = tensor.empty() : tensor<32x4x16xf32>
  %n = linalg.generic {indexing_maps = [#in, #of, #of, #in], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %s#0, %s#1 : tensor<32x4x16xf32>, tensor<32x4xf64>, tensor<32x4xf64>) outs(%ey : tensor<32x4x16xf32>) {
  ^bb0(%v: f32, %a: f64, %b: f64, %o: f32):
    %count = arith.constant 16.0 : f64
    %eps = arith.constant 1.0e-3 : f64
    %m = arith.divf %a, %count : f64
    %q = arith.divf %b, %count : f64
    %mm = arith.mulf %m, %m : f64
    %va = arith.subf %q, %mm : f64
    %ve = arith.addf %va, %eps : f64
    %rs = math.rsqrt %ve : f64
    %d = arith.extf %v : f32 to f64
    %c = arith.subf %d, %m : f64
    %z = arith.mulf %c, %rs : f64
    %r = arith.truncf %z : f64 to f32
    linalg.yield %r : f32
  } -> tensor<32x4x16xf32>
  return %n : tensor<32x4x16xf32>
}
