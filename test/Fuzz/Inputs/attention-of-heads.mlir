// fuzz: --seed=0 --target=sm_90a
// outcome: verified
// Scores of heads in four dimensions, their softmax spelled out, and the values:
// reshapes stand around both products. The scores are returned too.
#all = affine_map<(b, h, i, j) -> (b, h, i, j)>
#row = affine_map<(b, h, i, j) -> (b, h, i)>
func.func @main(%q: tensor<2x3x24x16xf32>, %k: tensor<2x3x20x16xf32>, %v: tensor<2x3x20x16xf32>) -> (tensor<2x3x24x16xf32>, tensor<2x3x24x20xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %et = tensor.empty() : tensor<2x3x16x20xf32>
  %t = linalg.transpose ins(%k : tensor<2x3x20x16xf32>) outs(%et : tensor<2x3x16x20xf32>) permutation = [0, 1, 3, 2]
  %qc = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x3x24x16xf32> into tensor<6x24x16xf32>
  %tc = tensor.collapse_shape %t [[0, 1], [2], [3]] : tensor<2x3x16x20xf32> into tensor<6x16x20xf32>
  %es = tensor.empty() : tensor<6x24x20xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<6x24x20xf32>) -> tensor<6x24x20xf32>
  %p = linalg.batch_matmul ins(%qc, %tc : tensor<6x24x16xf32>, tensor<6x16x20xf32>) outs(%fs : tensor<6x24x20xf32>) -> tensor<6x24x20xf32>
  %s = tensor.expand_shape %p [[0, 1], [2], [3]] output_shape [2, 3, 24, 20] : tensor<6x24x20xf32> into tensor<2x3x24x20xf32>
  %er = tensor.empty() : tensor<2x3x24xf32>
  %fm = linalg.fill ins(%low : f32) outs(%er : tensor<2x3x24xf32>) -> tensor<2x3x24xf32>
  %m = linalg.reduce { arith.maximumf } ins(%s : tensor<2x3x24x20xf32>) outs(%fm : tensor<2x3x24xf32>) dimensions = [3]
  %e4 = tensor.empty() : tensor<2x3x24x20xf32>
  %e = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s, %m : tensor<2x3x24x20xf32>, tensor<2x3x24xf32>) outs(%e4 : tensor<2x3x24x20xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %x = math.exp %d : f32
    linalg.yield %x : f32
  } -> tensor<2x3x24x20xf32>
  %fl = linalg.fill ins(%zero : f32) outs(%er : tensor<2x3x24xf32>) -> tensor<2x3x24xf32>
  %l = linalg.reduce { arith.addf } ins(%e : tensor<2x3x24x20xf32>) outs(%fl : tensor<2x3x24xf32>) dimensions = [3]
  %w = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%e, %l : tensor<2x3x24x20xf32>, tensor<2x3x24xf32>) outs(%e4 : tensor<2x3x24x20xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %x = arith.divf %a, %b : f32
    linalg.yield %x : f32
  } -> tensor<2x3x24x20xf32>
  %wc = tensor.collapse_shape %w [[0, 1], [2], [3]] : tensor<2x3x24x20xf32> into tensor<6x24x20xf32>
  %vc = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x3x20x16xf32> into tensor<6x20x16xf32>
  %eo = tensor.empty() : tensor<6x24x16xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<6x24x16xf32>) -> tensor<6x24x16xf32>
  %r = linalg.batch_matmul ins(%wc, %vc : tensor<6x24x20xf32>, tensor<6x20x16xf32>) outs(%fo : tensor<6x24x16xf32>) -> tensor<6x24x16xf32>
  %y = tensor.expand_shape %r [[0, 1], [2], [3]] output_shape [2, 3, 24, 16] : tensor<6x24x16xf32> into tensor<2x3x24x16xf32>
  return %y, %w : tensor<2x3x24x16xf32>, tensor<2x3x24x20xf32>
}
