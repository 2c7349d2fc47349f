// RUN: fusion-opt %s --fusion-plan-form-kernels | FileCheck %s
// RUN: fusion-opt %s --fusion-plan-form-kernels=target=sm_89 | FileCheck %s --check-prefix=PLAIN

// Contractions with what comes before and after them.

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
#b0 = affine_map<(b, i, j) -> (b, i, j)>
#b1 = affine_map<(b, i, j) -> (b, i)>

// Counted by hand: x 128x784, w 784x256, b 256 read, the result 128x256
// written, 4 bytes each, is 1336320; two intermediates of 128x256 written and
// read again are 4 x 131072 = 524288.
// CHECK-LABEL: func @matmul_bias_relu
// CHECK-SAME: bytes_after = 1336320 : i64, bytes_before = 1860608 : i64, kernels_after = 1 : i64, kernels_before = 3 : i64
// CHECK: fusion.kernel @matmul_add_relu
// CHECK-SAME: dram_bytes = 1336320
// CHECK-SAME: saved_bytes = 524288, saved_launches = 2
// CHECK-NOT: fusion.kernel
func.func @matmul_bias_relu(%x: tensor<128x784xf32>, %w: tensor<784x256xf32>, %b: tensor<256xf32>) -> tensor<128x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x256xf32>) -> tensor<128x256xf32>
  %m = linalg.matmul ins(%x, %w : tensor<128x784xf32>, tensor<784x256xf32>) outs(%f : tensor<128x256xf32>) -> tensor<128x256xf32>
  %s = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m, %b : tensor<128x256xf32>, tensor<256xf32>) outs(%e : tensor<128x256xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %0 = arith.addf %a, %c : f32
    linalg.yield %0 : f32
  } -> tensor<128x256xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<128x256xf32>) outs(%e : tensor<128x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %a, %zero : f32
    linalg.yield %0 : f32
  } -> tensor<128x256xf32>
  return %r : tensor<128x256xf32>
}

// A product that is also returned is written once, by the same kernel.
// CHECK-LABEL: func @escaping_product
// CHECK-SAME: bytes_after = 1466368 : i64
// CHECK: %[[K:.*]]:2 = fusion.kernel @matmul_exp
// CHECK: return %[[K]]#0, %[[K]]#1
func.func @escaping_product(%x: tensor<128x784xf32>, %w: tensor<784x256xf32>) -> (tensor<128x256xf32>, tensor<128x256xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x256xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x256xf32>) -> tensor<128x256xf32>
  %m = linalg.matmul ins(%x, %w : tensor<128x784xf32>, tensor<784x256xf32>) outs(%f : tensor<128x256xf32>) -> tensor<128x256xf32>
  %r = linalg.exp ins(%m : tensor<128x256xf32>) outs(%e : tensor<128x256xf32>) -> tensor<128x256xf32>
  return %m, %r : tensor<128x256xf32>, tensor<128x256xf32>
}

// A transposed result is only stored in another order.
// CHECK-LABEL: func @transposed_product
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: fusion.kernel @matmul_transpose
func.func @transposed_product(%x: tensor<128x784xf32>, %w: tensor<784x256xf32>) -> tensor<256x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x256xf32>
  %et = tensor.empty() : tensor<256x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x256xf32>) -> tensor<128x256xf32>
  %m = linalg.matmul ins(%x, %w : tensor<128x784xf32>, tensor<784x256xf32>) outs(%f : tensor<128x256xf32>) -> tensor<128x256xf32>
  %t = linalg.transpose ins(%m : tensor<128x256xf32>) outs(%et : tensor<256x128xf32>) permutation = [1, 0]
  return %t : tensor<256x128xf32>
}

// Weights of one byte are converted as they are read: the bf16 copy is never
// written.
// CHECK-LABEL: func @dequantized
// CHECK-SAME: kernels_after = 1 : i64
func.func @dequantized(%x: tensor<16x8192xbf16>, %w: tensor<8192x8192xi8>) -> tensor<16x8192xf32> {
  %zero = arith.constant 0.0 : f32
  %ew = tensor.empty() : tensor<8192x8192xbf16>
  %e = tensor.empty() : tensor<16x8192xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x8192xf32>) -> tensor<16x8192xf32>
  %wb = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<8192x8192xi8>) outs(%ew : tensor<8192x8192xbf16>) {
  ^bb0(%a: i8, %o: bf16):
    %0 = arith.sitofp %a : i8 to bf16
    linalg.yield %0 : bf16
  } -> tensor<8192x8192xbf16>
  %m = linalg.matmul ins(%x, %wb : tensor<16x8192xbf16>, tensor<8192x8192xbf16>) outs(%f : tensor<16x8192xf32>) -> tensor<16x8192xf32>
  return %m : tensor<16x8192xf32>
}

// Without tensor cores for f32, three kernels; the scale goes with the first
// product. With them a tile has whole rows.
// CHECK-LABEL: func @attention
// CHECK-SAME: kernels_after = 2 : i64
// PLAIN-LABEL: func @attention
// PLAIN-SAME: kernels_after = 3 : i64
// PLAIN: %[[S:.*]] = fusion.kernel @matmul_mul
// PLAIN: %[[P:.*]] = fusion.kernel @softmax ins(%[[S]] :
// PLAIN: fusion.kernel @matmul_1 ins(%[[P]], %arg2 :
// PLAIN-NOT: fusion.kernel
// PLAIN: return %{{.*}} : tensor<8x128x64xf32>
func.func @attention(%q: tensor<8x128x64xf32>, %k: tensor<8x64x128xf32>, %v: tensor<8x128x64xf32>) -> tensor<8x128x64xf32> {
  %zero = arith.constant 0.0 : f32
  %minf = arith.constant 0xFF800000 : f32
  %scale = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<8x128x128xf32>
  %er = tensor.empty() : tensor<8x128xf32>
  %eo = tensor.empty() : tensor<8x128x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x128x128xf32>) -> tensor<8x128x128xf32>
  %fm = linalg.fill ins(%minf : f32) outs(%er : tensor<8x128xf32>) -> tensor<8x128xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%er : tensor<8x128xf32>) -> tensor<8x128xf32>
  %fo = linalg.fill ins(%zero : f32) outs(%eo : tensor<8x128x64xf32>) -> tensor<8x128x64xf32>
  %s = linalg.batch_matmul ins(%q, %k : tensor<8x128x64xf32>, tensor<8x64x128xf32>) outs(%f : tensor<8x128x128xf32>) -> tensor<8x128x128xf32>
  %sc = linalg.generic {indexing_maps = [#b0, #b0], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<8x128x128xf32>) outs(%e : tensor<8x128x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %scale : f32
    linalg.yield %0 : f32
  } -> tensor<8x128x128xf32>
  %max = linalg.reduce { arith.maximumf } ins(%sc : tensor<8x128x128xf32>) outs(%fm : tensor<8x128xf32>) dimensions = [2]
  %exp = linalg.generic {indexing_maps = [#b0, #b1, #b0], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%sc, %max : tensor<8x128x128xf32>, tensor<8x128xf32>) outs(%e : tensor<8x128x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x128x128xf32>
  %sum = linalg.reduce { arith.addf } ins(%exp : tensor<8x128x128xf32>) outs(%fs : tensor<8x128xf32>) dimensions = [2]
  %p = linalg.generic {indexing_maps = [#b0, #b1, #b0], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%exp, %sum : tensor<8x128x128xf32>, tensor<8x128xf32>) outs(%e : tensor<8x128x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x128x128xf32>
  %r = linalg.batch_matmul ins(%p, %v : tensor<8x128x128xf32>, tensor<8x128x64xf32>) outs(%fo : tensor<8x128x64xf32>) -> tensor<8x128x64xf32>
  return %r : tensor<8x128x64xf32>
}

// Two products of one input keep the same dimensions: either one kernel with
// both, or two, with the gate in the second. Never three.
// CHECK-LABEL: func @swiglu
// CHECK-SAME: kernels_after = {{[12]}} : i64
func.func @swiglu(%x: tensor<512x1024xbf16>, %w: tensor<1024x2048xbf16>, %u: tensor<1024x2048xbf16>) -> tensor<512x2048xbf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<512x2048xf32>
  %eo = tensor.empty() : tensor<512x2048xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x2048xf32>) -> tensor<512x2048xf32>
  %g = linalg.matmul ins(%x, %w : tensor<512x1024xbf16>, tensor<1024x2048xbf16>) outs(%f : tensor<512x2048xf32>) -> tensor<512x2048xf32>
  %h = linalg.matmul ins(%x, %u : tensor<512x1024xbf16>, tensor<1024x2048xbf16>) outs(%f : tensor<512x2048xf32>) -> tensor<512x2048xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%g, %h : tensor<512x2048xf32>, tensor<512x2048xf32>) outs(%eo : tensor<512x2048xbf16>) {
  ^bb0(%a: f32, %b: f32, %o: bf16):
    %0 = arith.negf %a : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %a, %2 : f32
    %4 = arith.mulf %3, %b : f32
    %5 = arith.truncf %4 : f32 to bf16
    linalg.yield %5 : bf16
  } -> tensor<512x2048xbf16>
  return %r : tensor<512x2048xbf16>
}

// A row of a product is spread over blocks, so its norm is another kernel; the
// residual sum goes with the product.
// CHECK-LABEL: func @product_then_row_sum
// CHECK-SAME: kernels_after = 2 : i64
// CHECK: fusion.kernel @matmul_add
// CHECK: fusion.kernel @sum
func.func @product_then_row_sum(%x: tensor<512x1024xf32>, %w: tensor<1024x1024xf32>, %r: tensor<512x1024xf32>) -> tensor<512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x1024xf32>
  %er = tensor.empty() : tensor<512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %fr = linalg.fill ins(%zero : f32) outs(%er : tensor<512xf32>) -> tensor<512xf32>
  %m = linalg.matmul ins(%x, %w : tensor<512x1024xf32>, tensor<1024x1024xf32>) outs(%f : tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %h = linalg.add ins(%m, %r : tensor<512x1024xf32>, tensor<512x1024xf32>) outs(%e : tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %s = linalg.reduce { arith.addf } ins(%h : tensor<512x1024xf32>) outs(%fr : tensor<512xf32>) dimensions = [1]
  return %s : tensor<512xf32>
}

// CHECK-LABEL: func @conv_scale_relu
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: fusion.kernel @conv_mul_relu
func.func @conv_scale_relu(%x: tensor<4x58x58x64xf16>, %w: tensor<3x3x64x64xf16>, %s: tensor<64xf32>) -> tensor<4x56x56x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x56x56x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x56x56x64xf32>) -> tensor<4x56x56x64xf32>
  %c = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<4x58x58x64xf16>, tensor<3x3x64x64xf16>) outs(%f : tensor<4x56x56x64xf32>) -> tensor<4x56x56x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, h, w, f) -> (n, h, w, f)>, affine_map<(n, h, w, f) -> (f)>, affine_map<(n, h, w, f) -> (n, h, w, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c, %s : tensor<4x56x56x64xf32>, tensor<64xf32>) outs(%e : tensor<4x56x56x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.maximumf %0, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<4x56x56x64xf32>
  return %r : tensor<4x56x56x64xf32>
}
