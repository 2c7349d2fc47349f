// RUN: fusion-opt %s --fusion-plan-form-kernels \
// RUN:   | FileCheck %s

// Chains of reductions over one axis, with what comes before and after.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func @softmax
// CHECK-SAME: kernels_after = 1 : i64, kernels_before = 5 : i64
// CHECK: %[[K:.*]] = fusion.kernel @softmax ins(%{{.*}} : tensor<1024x512xf32>)
// CHECK-NOT: fusion.kernel
// CHECK: return %[[K]]
func.func @softmax(%x: tensor<1024x512xf32>) -> tensor<1024x512xf32> {
  %zero = arith.constant 0.0 : f32
  %minf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1024x512xf32>
  %er = tensor.empty() : tensor<1024xf32>
  %fm = linalg.fill ins(%minf : f32) outs(%er : tensor<1024xf32>) -> tensor<1024xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%er : tensor<1024xf32>) -> tensor<1024xf32>
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<1024x512xf32>) outs(%fm : tensor<1024xf32>) dimensions = [1]
  %sub = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<1024x512xf32>, tensor<1024xf32>) outs(%e : tensor<1024x512xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<1024x512xf32>
  %exp = linalg.exp ins(%sub : tensor<1024x512xf32>) outs(%e : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<1024x512xf32>) outs(%fs : tensor<1024xf32>) dimensions = [1]
  %div = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<1024x512xf32>, tensor<1024xf32>) outs(%e : tensor<1024x512xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<1024x512xf32>
  return %div : tensor<1024x512xf32>
}

// The broadcast of a row's maximum may be an op of its own.
// CHECK-LABEL: func @softmax_with_broadcasts
// CHECK-SAME: kernels_after = 1 : i64, kernels_before = 7 : i64
func.func @softmax_with_broadcasts(%x: tensor<1024x512xf32>) -> tensor<1024x512xf32> {
  %zero = arith.constant 0.0 : f32
  %minf = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1024x512xf32>
  %er = tensor.empty() : tensor<1024xf32>
  %fm = linalg.fill ins(%minf : f32) outs(%er : tensor<1024xf32>) -> tensor<1024xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%er : tensor<1024xf32>) -> tensor<1024xf32>
  %max = linalg.reduce { arith.maximumf } ins(%x : tensor<1024x512xf32>) outs(%fm : tensor<1024xf32>) dimensions = [1]
  %bm = linalg.broadcast ins(%max : tensor<1024xf32>) outs(%e : tensor<1024x512xf32>) dimensions = [1]
  %sub = linalg.sub ins(%x, %bm : tensor<1024x512xf32>, tensor<1024x512xf32>) outs(%e : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %exp = linalg.exp ins(%sub : tensor<1024x512xf32>) outs(%e : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<1024x512xf32>) outs(%fs : tensor<1024xf32>) dimensions = [1]
  %bs = linalg.broadcast ins(%sum : tensor<1024xf32>) outs(%e : tensor<1024x512xf32>) dimensions = [1]
  %div = linalg.div ins(%exp, %bs : tensor<1024x512xf32>, tensor<1024x512xf32>) outs(%e : tensor<1024x512xf32>) -> tensor<1024x512xf32>
  return %div : tensor<1024x512xf32>
}

// CHECK-LABEL: func @layer_norm_dynamic
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: fusion.kernel @{{.*}}layer_norm
// CHECK-NOT: fusion.kernel
func.func @layer_norm_dynamic(%x: tensor<?x1024xf32>, %g: tensor<1024xf32>, %b: tensor<1024xf32>) -> tensor<?x1024xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 1.024000e+03 : f32
  %eps = arith.constant 1.0e-05 : f32
  %d = tensor.dim %x, %c0 : tensor<?x1024xf32>
  %e = tensor.empty(%d) : tensor<?x1024xf32>
  %er = tensor.empty(%d) : tensor<?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%er : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<?x1024xf32>) outs(%f : tensor<?xf32>) dimensions = [1]
  %cent = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<?x1024xf32>, tensor<?xf32>) outs(%e : tensor<?x1024xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %0 = arith.divf %s, %n : f32
    %1 = arith.subf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x1024xf32>
  %sq = linalg.mul ins(%cent, %cent : tensor<?x1024xf32>, tensor<?x1024xf32>) outs(%e : tensor<?x1024xf32>) -> tensor<?x1024xf32>
  %var = linalg.reduce { arith.addf } ins(%sq : tensor<?x1024xf32>) outs(%f : tensor<?xf32>) dimensions = [1]
  %y = linalg.generic {indexing_maps = [#id, #row, #col, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%cent, %var, %g, %b : tensor<?x1024xf32>, tensor<?xf32>, tensor<1024xf32>, tensor<1024xf32>) outs(%e : tensor<?x1024xf32>) {
  ^bb0(%a: f32, %v: f32, %gg: f32, %bb: f32, %o: f32):
    %0 = arith.divf %v, %n : f32
    %1 = arith.addf %0, %eps : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.mulf %a, %2 : f32
    %4 = arith.mulf %3, %gg : f32
    %5 = arith.addf %4, %bb : f32
    linalg.yield %5 : f32
  } -> tensor<?x1024xf32>
  return %y : tensor<?x1024xf32>
}

// Both the residual sum and its norm are returned: one kernel stores both.
// CHECK-LABEL: func @residual_rmsnorm
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: %[[K:.*]]:2 = fusion.kernel @add_rms_norm
// CHECK-SAME: -> (tensor<256x4096xbf16>, tensor<256x4096xbf16>)
// CHECK: return %[[K]]#0, %[[K]]#1
func.func @residual_rmsnorm(%x: tensor<256x4096xbf16>, %r: tensor<256x4096xbf16>, %g: tensor<4096xbf16>)
    -> (tensor<256x4096xbf16>, tensor<256x4096xbf16>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 4.096000e+03 : f32
  %e = tensor.empty() : tensor<256x4096xbf16>
  %er = tensor.empty() : tensor<256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%er : tensor<256xf32>) -> tensor<256xf32>
  %h = linalg.add ins(%x, %r : tensor<256x4096xbf16>, tensor<256x4096xbf16>) outs(%e : tensor<256x4096xbf16>) -> tensor<256x4096xbf16>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%h : tensor<256x4096xbf16>) outs(%f : tensor<256xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<256xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h, %s, %g : tensor<256x4096xbf16>, tensor<256xf32>, tensor<4096xbf16>) outs(%e : tensor<256x4096xbf16>) {
  ^bb0(%a: bf16, %v: f32, %gg: bf16, %o: bf16):
    %0 = arith.divf %v, %n : f32
    %1 = math.rsqrt %0 : f32
    %2 = arith.extf %a : bf16 to f32
    %3 = arith.mulf %2, %1 : f32
    %4 = arith.truncf %3 : f32 to bf16
    %5 = arith.mulf %4, %gg : bf16
    linalg.yield %5 : bf16
  } -> tensor<256x4096xbf16>
  return %h, %y : tensor<256x4096xbf16>, tensor<256x4096xbf16>
}

// The loss of each row; the row of logits is read once for the maximum, the sum
// and, by index, the target's logit.
// CHECK-LABEL: func @cross_entropy
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: fusion.kernel @cross_entropy{{.*}} ins(%{{.*}}, %{{.*}} : tensor<64x32000xbf16>, tensor<64xi64>)
// CHECK-NOT: fusion.kernel
func.func @cross_entropy(%x: tensor<64x32000xbf16>, %t: tensor<64xi64>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %minf = arith.constant 0xFF800000 : f32
  %er = tensor.empty() : tensor<64xf32>
  %fm = linalg.fill ins(%minf : f32) outs(%er : tensor<64xf32>) -> tensor<64xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%er : tensor<64xf32>) -> tensor<64xf32>
  %max = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x32000xbf16>) outs(%fm : tensor<64xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.maximumf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<64xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %max : tensor<64x32000xbf16>, tensor<64xf32>) outs(%fs : tensor<64xf32>) {
  ^bb0(%a: bf16, %m: f32, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.subf %0, %m : f32
    %2 = math.exp %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<64xf32>
  %loss = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%t, %max, %sum : tensor<64xi64>, tensor<64xf32>, tensor<64xf32>) outs(%er : tensor<64xf32>) {
  ^bb0(%ti: i64, %m: f32, %s: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %ti : i64 to index
    %v = tensor.extract %x[%i, %j] : tensor<64x32000xbf16>
    %0 = arith.extf %v : bf16 to f32
    %1 = math.log %s : f32
    %2 = arith.addf %1, %m : f32
    %3 = arith.subf %2, %0 : f32
    linalg.yield %3 : f32
  } -> tensor<64xf32>
  return %loss : tensor<64xf32>
}

// Statistics over a group of channels; the view of x by groups is taken before
// the kernel, that of the result after it.
#g0 = affine_map<(n, g, c, p) -> (n, g, c, p)>
#g1 = affine_map<(n, g, c, p) -> (n, g)>
#g2 = affine_map<(n, g, c, p) -> (g, c)>
// CHECK-LABEL: func @group_norm_silu
// CHECK-SAME: kernels_after = 1 : i64
// CHECK-DAG: %[[X:.*]] = tensor.expand_shape %arg0
// CHECK-DAG: %[[S:.*]] = tensor.expand_shape %arg1
// CHECK: %[[K:.*]] = fusion.kernel @{{.*}} ins(%[[X]], %[[S]] :
// CHECK: %[[R:.*]] = tensor.collapse_shape %[[K]]
// CHECK: return %[[R]]
func.func @group_norm_silu(%x: tensor<4x320x1024xf32>, %s: tensor<320xf32>) -> tensor<4x320x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %n = arith.constant 1.024000e+04 : f32
  %xg = tensor.expand_shape %x [[0], [1, 2], [3]] output_shape [4, 32, 10, 1024] : tensor<4x320x1024xf32> into tensor<4x32x10x1024xf32>
  %sg = tensor.expand_shape %s [[0, 1]] output_shape [32, 10] : tensor<320xf32> into tensor<32x10xf32>
  %e = tensor.empty() : tensor<4x32x10x1024xf32>
  %er = tensor.empty() : tensor<4x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%er : tensor<4x32xf32>) -> tensor<4x32xf32>
  %sum = linalg.reduce { arith.addf } ins(%xg : tensor<4x32x10x1024xf32>) outs(%f : tensor<4x32xf32>) dimensions = [2, 3]
  %cent = linalg.generic {indexing_maps = [#g0, #g1, #g0], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%xg, %sum : tensor<4x32x10x1024xf32>, tensor<4x32xf32>) outs(%e : tensor<4x32x10x1024xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %0 = arith.divf %m, %n : f32
    %1 = arith.subf %a, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x32x10x1024xf32>
  %sq = linalg.mul ins(%cent, %cent : tensor<4x32x10x1024xf32>, tensor<4x32x10x1024xf32>) outs(%e : tensor<4x32x10x1024xf32>) -> tensor<4x32x10x1024xf32>
  %var = linalg.reduce { arith.addf } ins(%sq : tensor<4x32x10x1024xf32>) outs(%f : tensor<4x32xf32>) dimensions = [2, 3]
  %y = linalg.generic {indexing_maps = [#g0, #g1, #g2, #g0], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%cent, %var, %sg : tensor<4x32x10x1024xf32>, tensor<4x32xf32>, tensor<32x10xf32>) outs(%e : tensor<4x32x10x1024xf32>) {
  ^bb0(%a: f32, %v: f32, %w: f32, %o: f32):
    %0 = arith.divf %v, %n : f32
    %1 = math.rsqrt %0 : f32
    %2 = arith.mulf %a, %1 : f32
    %3 = arith.mulf %2, %w : f32
    linalg.yield %3 : f32
  } -> tensor<4x32x10x1024xf32>
  %act = linalg.generic {indexing_maps = [#g0, #g0], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y : tensor<4x32x10x1024xf32>) outs(%e : tensor<4x32x10x1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %a, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<4x32x10x1024xf32>
  %r = tensor.collapse_shape %act [[0], [1, 2], [3]] : tensor<4x32x10x1024xf32> into tensor<4x320x1024xf32>
  return %r : tensor<4x320x1024xf32>
}

// The mean over rows would wait for all blocks: a kernel of its own.
// CHECK-LABEL: func @mean_of_row_sums
// CHECK-SAME: kernels_after = 2 : i64
func.func @mean_of_row_sums(%x: tensor<1024x512xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<1024xf32>
  %es = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%er : tensor<1024xf32>) -> tensor<1024xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%es : tensor<f32>) -> tensor<f32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<1024x512xf32>) outs(%f : tensor<1024xf32>) dimensions = [1]
  %mean = linalg.reduce { arith.addf } ins(%sum : tensor<1024xf32>) outs(%fs : tensor<f32>) dimensions = [0]
  return %mean : tensor<f32>
}

// Rows and columns of one tensor keep different dimensions.
// CHECK-LABEL: func @row_and_column_sums
// CHECK-SAME: kernels_after = 2 : i64
func.func @row_and_column_sums(%x: tensor<1024x512xf32>) -> (tensor<1024xf32>, tensor<512xf32>) {
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<1024xf32>
  %ec = tensor.empty() : tensor<512xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<1024xf32>) -> tensor<1024xf32>
  %fc = linalg.fill ins(%zero : f32) outs(%ec : tensor<512xf32>) -> tensor<512xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<1024x512xf32>) outs(%fr : tensor<1024xf32>) dimensions = [1]
  %c = linalg.reduce { arith.addf } ins(%x : tensor<1024x512xf32>) outs(%fc : tensor<512xf32>) dimensions = [0]
  return %r, %c : tensor<1024xf32>, tensor<512xf32>
}

// A row sum and a pointwise op that read one tensor: read once.
// CHECK-LABEL: func @row_sum_and_relu
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: fusion.kernel @{{.*}} -> (tensor<1024xf32>, tensor<1024x512xf32>)
func.func @row_sum_and_relu(%x: tensor<1024x512xf32>) -> (tensor<1024xf32>, tensor<1024x512xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x512xf32>
  %er = tensor.empty() : tensor<1024xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<1024xf32>) -> tensor<1024xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<1024x512xf32>) outs(%fr : tensor<1024xf32>) dimensions = [1]
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<1024x512xf32>) outs(%e : tensor<1024x512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %a, %zero : f32
    linalg.yield %0 : f32
  } -> tensor<1024x512xf32>
  return %r, %y : tensor<1024xf32>, tensor<1024x512xf32>
}
