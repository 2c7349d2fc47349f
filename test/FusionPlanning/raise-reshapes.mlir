// RUN: fusion-compile %s --compile-to=plan -o - | FileCheck %s

// A transposition of heads behind a product needs the dimensions that a reshape
// splits: the product is made along them, and all is one kernel.

// CHECK-LABEL: func.func @heads_first
// CHECK: fusion.kernel
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: fusion.yield %{{.*}} : tensor<4x96x128xf32>
// CHECK-NOT: fusion.kernel
func.func @heads_first(%x: tensor<96x64xbf16>, %w: tensor<64x512xbf16>) -> tensor<4x96x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x512xf32>) -> tensor<96x512xf32>
  %m = linalg.matmul ins(%x, %w : tensor<96x64xbf16>, tensor<64x512xbf16>) outs(%f : tensor<96x512xf32>) -> tensor<96x512xf32>
  %r = tensor.expand_shape %m [[0], [1, 2]] output_shape [96, 4, 128] : tensor<96x512xf32> into tensor<96x4x128xf32>
  %eo = tensor.empty() : tensor<4x96x128xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(h, s, d) -> (s, h, d)>, affine_map<(h, s, d) -> (h, s, d)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%r : tensor<96x4x128xf32>) outs(%eo : tensor<4x96x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = math.absf %a : f32
    linalg.yield %n : f32
  } -> tensor<4x96x128xf32>
  return %o : tensor<4x96x128xf32>
}

// A vector along the columns of a head, too.

// CHECK-LABEL: func.func @head_vector
// CHECK: fusion.kernel
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: fusion.yield %{{.*}} : tensor<96x8x64xf32>
// CHECK-NOT: fusion.kernel
func.func @head_vector(%x: tensor<96x64xbf16>, %w: tensor<64x512xbf16>, %v: tensor<64xf32>) -> tensor<96x8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x512xf32>) -> tensor<96x512xf32>
  %m = linalg.matmul ins(%x, %w : tensor<96x64xbf16>, tensor<64x512xbf16>) outs(%f : tensor<96x512xf32>) -> tensor<96x512xf32>
  %r = tensor.expand_shape %m [[0], [1, 2]] output_shape [96, 8, 64] : tensor<96x512xf32> into tensor<96x8x64xf32>
  %eo = tensor.empty() : tensor<96x8x64xf32>
  %o = linalg.generic {indexing_maps = [affine_map<(s, h, d) -> (s, h, d)>, affine_map<(s, h, d) -> (d)>, affine_map<(s, h, d) -> (s, h, d)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%r, %v : tensor<96x8x64xf32>, tensor<64xf32>) outs(%eo : tensor<96x8x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %n = arith.mulf %a, %b : f32
    linalg.yield %n : f32
  } -> tensor<96x8x64xf32>
  return %o : tensor<96x8x64xf32>
}

// What works as well before the reshape stays there: tiles are then as wide as
// rows allow. Narrow heads are not worth tiles of their own.

// CHECK-LABEL: func.func @whole_rows
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-LABEL: func.func @narrow_heads
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]
func.func @whole_rows(%x: tensor<96x64xbf16>, %w: tensor<64x512xbf16>) -> tensor<96x4x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x512xf32>) -> tensor<96x512xf32>
  %m = linalg.matmul ins(%x, %w : tensor<96x64xbf16>, tensor<64x512xbf16>) outs(%f : tensor<96x512xf32>) -> tensor<96x512xf32>
  %r = tensor.expand_shape %m [[0], [1, 2]] output_shape [96, 4, 128] : tensor<96x512xf32> into tensor<96x4x128xf32>
  %o = math.absf %r : tensor<96x4x128xf32>
  return %o : tensor<96x4x128xf32>
}

func.func @narrow_heads(%x: tensor<96x64xbf16>, %w: tensor<64x512xbf16>) -> tensor<16x96x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x512xf32>) -> tensor<96x512xf32>
  %m = linalg.matmul ins(%x, %w : tensor<96x64xbf16>, tensor<64x512xbf16>) outs(%f : tensor<96x512xf32>) -> tensor<96x512xf32>
  %r = tensor.expand_shape %m [[0], [1, 2]] output_shape [96, 16, 32] : tensor<96x512xf32> into tensor<96x16x32xf32>
  %eo = tensor.empty() : tensor<16x96x32xf32>
  %o = linalg.transpose ins(%r : tensor<96x16x32xf32>) outs(%eo : tensor<16x96x32xf32>) permutation = [1, 0, 2]
  return %o : tensor<16x96x32xf32>
}

// Several operations between the product and the reshape may read the same.

// CHECK-LABEL: func.func @two_readers
// CHECK: fusion.kernel
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK-NOT: "reduction"
// CHECK: fusion.yield %{{.*}} : tensor<4x96x128xf32>
// CHECK-NOT: fusion.kernel
func.func @two_readers(%x: tensor<96x64xbf16>, %w: tensor<64x512xbf16>) -> tensor<4x96x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x512xf32>) -> tensor<96x512xf32>
  %m = linalg.matmul ins(%x, %w : tensor<96x64xbf16>, tensor<64x512xbf16>) outs(%f : tensor<96x512xf32>) -> tensor<96x512xf32>
  %t = math.tanh %m : tensor<96x512xf32>
  %y = arith.mulf %m, %t : tensor<96x512xf32>
  %r = tensor.expand_shape %y [[0], [1, 2]] output_shape [96, 4, 128] : tensor<96x512xf32> into tensor<96x4x128xf32>
  %eo = tensor.empty() : tensor<4x96x128xf32>
  %o = linalg.transpose ins(%r : tensor<96x4x128xf32>) outs(%eo : tensor<4x96x128xf32>) permutation = [1, 0, 2]
  return %o : tensor<4x96x128xf32>
}

// What something else reads as well stays as it is.

// CHECK-LABEL: func.func @other_reader
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]
func.func @other_reader(%x: tensor<96x64xbf16>, %w: tensor<64x512xbf16>) -> (tensor<4x96x128xf32>, tensor<96x512xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x512xf32>) -> tensor<96x512xf32>
  %m = linalg.matmul ins(%x, %w : tensor<96x64xbf16>, tensor<64x512xbf16>) outs(%f : tensor<96x512xf32>) -> tensor<96x512xf32>
  %t = math.tanh %m : tensor<96x512xf32>
  %y = arith.mulf %m, %t : tensor<96x512xf32>
  %r = tensor.expand_shape %y [[0], [1, 2]] output_shape [96, 4, 128] : tensor<96x512xf32> into tensor<96x4x128xf32>
  %eo = tensor.empty() : tensor<4x96x128xf32>
  %o = linalg.transpose ins(%r : tensor<96x4x128xf32>) outs(%eo : tensor<4x96x128xf32>) permutation = [1, 0, 2]
  return %o, %t : tensor<4x96x128xf32>, tensor<96x512xf32>
}

// Parts of a concatenation are rows of the dimension that it is split into, as
// of a stack: they are split, and one kernel puts them into another order.

// CHECK-LABEL: func.func @stack
// CHECK: fusion.kernel
// CHECK: tensor.concat dim(0) {{.*}} : (tensor<1x8x1024xbf16>, tensor<2x8x1024xbf16>) -> tensor<3x8x1024xbf16>
// CHECK-NOT: fusion.kernel
func.func @stack(%x: tensor<8x16x64xbf16>, %y: tensor<16x16x64xbf16>) -> tensor<8x3x16x64xbf16> {
  %c = tensor.concat dim(0) %x, %y : (tensor<8x16x64xbf16>, tensor<16x16x64xbf16>) -> tensor<24x16x64xbf16>
  %r = tensor.expand_shape %c [[0, 1], [2], [3]] output_shape [3, 8, 16, 64] : tensor<24x16x64xbf16> into tensor<3x8x16x64xbf16>
  %e = tensor.empty() : tensor<8x3x16x64xbf16>
  %t = linalg.transpose ins(%r : tensor<3x8x16x64xbf16>) outs(%e : tensor<8x3x16x64xbf16>) permutation = [1, 0, 2, 3]
  return %t : tensor<8x3x16x64xbf16>
}

// Parts of other sizes stay whole.

// CHECK-LABEL: func.func @uneven_parts
// CHECK: tensor.concat dim(0) {{.*}} : (tensor<12x16x64xbf16>, tensor<12x16x64xbf16>) -> tensor<24x16x64xbf16>
func.func @uneven_parts(%x: tensor<12x16x64xbf16>, %y: tensor<12x16x64xbf16>) -> tensor<8x3x16x64xbf16> {
  %c = tensor.concat dim(0) %x, %y : (tensor<12x16x64xbf16>, tensor<12x16x64xbf16>) -> tensor<24x16x64xbf16>
  %r = tensor.expand_shape %c [[0, 1], [2], [3]] output_shape [3, 8, 16, 64] : tensor<24x16x64xbf16> into tensor<3x8x16x64xbf16>
  %e = tensor.empty() : tensor<8x3x16x64xbf16>
  %t = linalg.transpose ins(%r : tensor<3x8x16x64xbf16>) outs(%e : tensor<8x3x16x64xbf16>) permutation = [1, 0, 2, 3]
  return %t : tensor<8x3x16x64xbf16>
}
