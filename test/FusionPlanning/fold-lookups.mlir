// What is looked up where an operation's own indices say is an operand; what is
// turned around, cut out or found by data stays a lookup.

// RUN: fusion-opt %s --fusion-to-plan=target=sm_90a | FileCheck %s

#id = affine_map<(i, j, p, q) -> (i, j, p, q)>

// Of dimensions of one element nothing is left: the filter of a convolution of
// one pixel is transposed, which its product reads as it lies.
// CHECK-LABEL: func.func @filter
// CHECK: fusion.kernel @matmul ins(%arg0, %
// CHECK-NOT: tensor.extract
// CHECK-NOT: fusion.kernel
// CHECK: return
func.func @filter(%y: tensor<4096x512xf16>, %w: tensor<512x256x1x1xf16>) -> tensor<4096x256xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %we = tensor.empty() : tensor<256x512x1x1xf16>
  %t = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%we : tensor<256x512x1x1xf16>) {
  ^bb0(%o: f16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %e = tensor.extract %w[%j, %i, %c0, %c0] : tensor<512x256x1x1xf16>
    linalg.yield %e : f16
  } -> tensor<256x512x1x1xf16>
  %m = tensor.collapse_shape %t [[0], [1, 2, 3]] : tensor<256x512x1x1xf16> into tensor<256x512xf16>
  %re = tensor.empty() : tensor<4096x256xf32>
  %rf = linalg.fill ins(%zero : f32) outs(%re : tensor<4096x256xf32>) -> tensor<4096x256xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%y, %m : tensor<4096x512xf16>, tensor<256x512xf16>) outs(%rf : tensor<4096x256xf32>) {
  ^bb0(%a: f16, %b: f16, %o: f32):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %p = arith.mulf %aw, %bw : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<4096x256xf32>
  return %r : tensor<4096x256xf32>
}

// Others of the body stay lookups.
// CHECK-LABEL: func.func @beside_data
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<32xi64>, tensor<64x32xf32>)
// CHECK: tensor.extract
// CHECK-NOT: tensor.extract
// CHECK: return
func.func @beside_data(%x: tensor<64x32xf32>, %places: tensor<32xi64>) -> tensor<32x64xf32> {
  %e = tensor.empty() : tensor<32x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%places : tensor<32xi64>) outs(%e : tensor<32x64xf32>) {
  ^bb0(%number: i64, %o: f32):
    %place = arith.index_cast %number : i64 to index
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %a = tensor.extract %x[%j, %i] : tensor<64x32xf32>
    %b = tensor.extract %x[%j, %place] : tensor<64x32xf32>
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<32x64xf32>
  return %r : tensor<32x64xf32>
}

// CHECK-LABEL: func.func @turned_around
// CHECK: tensor.extract
// CHECK: return
func.func @turned_around(%x: tensor<64xf32>) -> tensor<64xf32> {
  %last = arith.constant 63 : index
  %e = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<64xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = arith.subi %last, %i : index
    %a = tensor.extract %x[%j] : tensor<64xf32>
    linalg.yield %a : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// The first elements of a longer tensor.
// CHECK-LABEL: func.func @cut_out
// CHECK: tensor.extract
// CHECK: return
func.func @cut_out(%x: tensor<96xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<64xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %a = tensor.extract %x[%i] : tensor<96xf32>
    linalg.yield %a : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// CHECK-LABEL: func.func @diagonal
// CHECK: tensor.extract
// CHECK: return
func.func @diagonal(%x: tensor<64x64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%e : tensor<64xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %a = tensor.extract %x[%i, %i] : tensor<64x64xf32>
    linalg.yield %a : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
