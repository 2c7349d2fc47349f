// A product with int8 weights and one scale per output column:
//   y = (x @ bf16(w)) * scale, 16 rows, accumulated in f32.
//
// The weights are read as one byte each and widened on the way into the
// product; the bf16 copy of them is never written.

// RUN: fusion-run %s --device=emulator --random --verify | FileCheck %s
// CHECK: kernels: {{[0-9]+}} unfused -> 1{{$}}
// CHECK: {{^}}verified

#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

func.func @dequantized_matmul(%x: tensor<16x96xbf16>, %w: tensor<96x80xi8>,
                              %scale: tensor<80xf32>) -> tensor<16x80xbf16> {
  %zero = arith.constant 0.0 : f32
  %wide_empty = tensor.empty() : tensor<96x80xbf16>
  %wide = linalg.generic {indexing_maps = [#ij, #ij],
                          iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<96x80xi8>) outs(%wide_empty : tensor<96x80xbf16>) {
  ^bb0(%q: i8, %out: bf16):
    %f = arith.sitofp %q : i8 to bf16
    linalg.yield %f : bf16
  } -> tensor<96x80xbf16>
  %acc_empty = tensor.empty() : tensor<16x80xf32>
  %init = linalg.fill ins(%zero : f32) outs(%acc_empty : tensor<16x80xf32>)
      -> tensor<16x80xf32>
  %product = linalg.matmul
      ins(%x, %wide : tensor<16x96xbf16>, tensor<96x80xbf16>)
      outs(%init : tensor<16x80xf32>) -> tensor<16x80xf32>
  %empty = tensor.empty() : tensor<16x80xbf16>
  %y = linalg.generic {indexing_maps = [#ij, #j, #ij],
                       iterator_types = ["parallel", "parallel"]}
      ins(%product, %scale : tensor<16x80xf32>, tensor<80xf32>)
      outs(%empty : tensor<16x80xbf16>) {
  ^bb0(%p: f32, %s: f32, %out: bf16):
    %scaled = arith.mulf %p, %s : f32
    %rounded = arith.truncf %scaled : f32 to bf16
    linalg.yield %rounded : bf16
  } -> tensor<16x80xbf16>
  return %y : tensor<16x80xbf16>
}
