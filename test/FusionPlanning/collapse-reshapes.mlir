// RUN: fusion-opt %s --split-input-file --fusion-plan-form-kernels | FileCheck %s

// A product over all rows, whose rows are reduced by batch and row: the
// reduction works on all rows, and the reshape follows it.
// CHECK-LABEL: func @rows
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: %[[K:.*]] = fusion.kernel {{.*}} -> (tensor<14xf32>)
// CHECK: iterator_types = ["parallel", "reduction"]
// CHECK: tensor.expand_shape %[[K]] {{\[}}[0, 1]] output_shape [2, 7]
func.func @rows(%x: tensor<14x64xf32>, %w: tensor<64x96xf32>) -> tensor<2x7xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<14x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<14x96xf32>) -> tensor<14x96xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<14x64xf32>, tensor<64x96xf32>) outs(%f : tensor<14x96xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<14x96xf32>
  %y = tensor.expand_shape %p [[0, 1], [2]] output_shape [2, 7, 96] : tensor<14x96xf32> into tensor<2x7x96xf32>
  %e2 = tensor.empty() : tensor<2x7xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x7xf32>) -> tensor<2x7xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%y : tensor<2x7x96xf32>) outs(%f2 : tensor<2x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<2x7xf32>
  return %s : tensor<2x7xf32>
}

// -----

// Scores of heads by batch and head: what they are masked by is read at parts
// of the number of the head among all, and the indices of the other dimensions
// have new numbers. What the function is given stays as it is, and so does what
// another operation needs by batch and head.
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[MASK:.*]] = affine_map<(d0, d1, d2) -> (d0 floordiv 3, 0, d1, d2)>
// CHECK-DAG: #[[BIAS:.*]] = affine_map<(d0, d1, d2) -> (d0 mod 3, d2)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func @heads
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: fusion.kernel {{.*}} -> (tensor<6x8x16xf32>, tensor<6x8x16xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[MASK]], #[[BIAS]], #[[ID]]], iterator_types = ["parallel", "parallel", "parallel"]}
// CHECK: linalg.index 1 : index
// CHECK: linalg.index 2 : index
// CHECK: %[[ALL:.*]] = linalg.index 0 : index
// CHECK: arith.remui %[[ALL]], %c3 : index
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ROW]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0, 1], [2], [3]] output_shape [2, 3, 8, 16]
// CHECK-NEXT: return
func.func @heads(%q: tensor<6x8x32xf32>, %k: tensor<6x16x32xf32>, %mask: tensor<2x1x8x16xf32>, %bias: tensor<3x16xf32>) -> (tensor<6x8x16xf32>, tensor<2x3x8x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x8x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x8x16xf32>) -> tensor<6x8x16xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(h, m, n, k) -> (h, m, k)>, affine_map<(h, m, n, k) -> (h, n, k)>, affine_map<(h, m, n, k) -> (h, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<6x8x32xf32>, tensor<6x16x32xf32>) outs(%f : tensor<6x8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<6x8x16xf32>
  %y = tensor.expand_shape %p [[0, 1], [2], [3]] output_shape [2, 3, 8, 16] : tensor<6x8x16xf32> into tensor<2x3x8x16xf32>
  %e4 = tensor.empty() : tensor<2x3x8x16xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, h, m, n) -> (b, h, m, n)>, affine_map<(b, h, m, n) -> (b, 0, m, n)>, affine_map<(b, h, m, n) -> (h, n)>, affine_map<(b, h, m, n) -> (b, h, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%y, %mask, %bias : tensor<2x3x8x16xf32>, tensor<2x1x8x16xf32>, tensor<3x16xf32>) outs(%e4 : tensor<2x3x8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %h = linalg.index 1 : index
    %isFirst = arith.cmpi eq, %h, %i : index
    %isBefore = arith.cmpi ule, %j, %i : index
    %0 = arith.addf %a, %b : f32
    %1 = arith.addf %0, %c : f32
    %2 = arith.select %isBefore, %1, %zero : f32
    %3 = arith.select %isFirst, %0, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<2x3x8x16xf32>
  %e1 = tensor.empty() : tensor<2x3x8x1xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x3x8x1xf32>) -> tensor<2x3x8x1xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(b, h, m, n) -> (b, h, m, n)>, affine_map<(b, h, m, n) -> (b, h, m, 0)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%s : tensor<2x3x8x16xf32>) outs(%f1 : tensor<2x3x8x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<2x3x8x1xf32>
  %d = linalg.generic {indexing_maps = [affine_map<(b, h, m, n) -> (b, h, m, n)>, affine_map<(b, h, m, n) -> (b, h, m, 0)>, affine_map<(b, h, m, n) -> (b, h, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %sum : tensor<2x3x8x16xf32>, tensor<2x3x8x1xf32>) outs(%e4 : tensor<2x3x8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.divf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<2x3x8x16xf32>
  %r = tensor.collapse_shape %d [[0, 1], [2], [3]] : tensor<2x3x8x16xf32> into tensor<6x8x16xf32>
  return %r, %s : tensor<6x8x16xf32>, tensor<2x3x8x16xf32>
}

// -----

// Sizes that are not known: that of the dimension before the reshape is the one
// that a reshape of the argument has.
// CHECK-LABEL: func @dynamic
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: %[[X:.*]] = tensor.collapse_shape %arg0 {{.*}} : tensor<?x7x64xf32> into tensor<?x64xf32>
// CHECK: %[[K:.*]] = fusion.kernel {{.*}} -> (tensor<?xf32>)
// CHECK: tensor.expand_shape %[[K]] {{\[}}[0, 1]] output_shape [%{{.*}}, 7]
func.func @dynamic(%x: tensor<?x7x64xf32>, %w: tensor<64x96xf32>) -> tensor<?x7xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %b = tensor.dim %x, %c0 : tensor<?x7x64xf32>
  %n = arith.muli %b, %c7 : index
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x7x64xf32> into tensor<?x64xf32>
  %e = tensor.empty(%n) : tensor<?x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x96xf32>) -> tensor<?x96xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%rows, %w : tensor<?x64xf32>, tensor<64x96xf32>) outs(%f : tensor<?x96xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %0 = arith.mulf %a, %c : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x96xf32>
  %y = tensor.expand_shape %p [[0, 1], [2]] output_shape [%b, 7, 96] : tensor<?x96xf32> into tensor<?x7x96xf32>
  %e2 = tensor.empty(%b) : tensor<?x7xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x7xf32>) -> tensor<?x7xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%y : tensor<?x7x96xf32>) outs(%f2 : tensor<?x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<?x7xf32>
  return %s : tensor<?x7xf32>
}

// -----

// A vector of an unknown size that has to be that of the batch: read at parts
// of the number of the row, nothing would compare the two.
// CHECK-LABEL: func @unknown_vector
// CHECK-SAME: kernels_after = 2 : i64
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
func.func @unknown_vector(%x: tensor<?x64xf32>, %w: tensor<64x96xf32>, %v: tensor<?xf32>) -> tensor<?x7xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64xf32>
  %b = tensor.dim %v, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x96xf32>) -> tensor<?x96xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x64xf32>, tensor<64x96xf32>) outs(%f : tensor<?x96xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %0 = arith.mulf %a, %c : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x96xf32>
  %y = tensor.expand_shape %p [[0, 1], [2]] output_shape [%b, 7, 96] : tensor<?x96xf32> into tensor<?x7x96xf32>
  %e2 = tensor.empty(%b) : tensor<?x7xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x7xf32>) -> tensor<?x7xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b)>, affine_map<(b, m, n) -> (b, m)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%y, %v : tensor<?x7x96xf32>, tensor<?xf32>) outs(%f2 : tensor<?x7xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %0 = arith.mulf %a, %c : f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<?x7xf32>
  return %s : tensor<?x7xf32>
}

// -----

// The sum over a group needs the group apart from the others: the reshape
// stays where it is.
// CHECK-LABEL: func @groups
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: tensor.expand_shape {{.*}} output_shape [6, 4, 32]
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
func.func @groups(%x: tensor<6x64xf32>, %w: tensor<64x128xf32>) -> tensor<6x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x128xf32>) -> tensor<6x128xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<6x64xf32>, tensor<64x128xf32>) outs(%f : tensor<6x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<6x128xf32>
  %y = tensor.expand_shape %p [[0], [1, 2]] output_shape [6, 4, 32] : tensor<6x128xf32> into tensor<6x4x32xf32>
  %e2 = tensor.empty() : tensor<6x4xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<6x4xf32>) -> tensor<6x4xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(m, g, n) -> (m, g, n)>, affine_map<(m, g, n) -> (m, g)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%y : tensor<6x4x32xf32>) outs(%f2 : tensor<6x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<6x4xf32>
  return %s : tensor<6x4xf32>
}

// -----

// What the reduction gives is wanted by batch and row in another order, in its
// kernel: a reshape between the two would keep them apart instead. The same holds
// of others that read what the reduction reads.
// CHECK-LABEL: func @wanted_apart
// CHECK: tensor.expand_shape {{.*}} output_shape [2, 7, 96]
// CHECK: fusion.kernel {{.*}} -> (tensor<7x2xf32>)
func.func @wanted_apart(%x: tensor<14x64xf32>, %w: tensor<64x96xf32>) -> tensor<7x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<14x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<14x96xf32>) -> tensor<14x96xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<14x64xf32>, tensor<64x96xf32>) outs(%f : tensor<14x96xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<14x96xf32>
  %y = tensor.expand_shape %p [[0, 1], [2]] output_shape [2, 7, 96] : tensor<14x96xf32> into tensor<2x7x96xf32>
  %e2 = tensor.empty() : tensor<2x7xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x7xf32>) -> tensor<2x7xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%y : tensor<2x7x96xf32>) outs(%f2 : tensor<2x7xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  } -> tensor<2x7xf32>
  %e3 = tensor.empty() : tensor<7x2xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(m, b) -> (b, m)>, affine_map<(m, b) -> (m, b)>], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<2x7xf32>) outs(%e3 : tensor<7x2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<7x2xf32>
  return %t : tensor<7x2xf32>
}

// -----

// What is joined along another dimension is so before the reshape as well:
// elements of the joined dimensions then lie side by side for the kernel that
// permutes them.
// CHECK-LABEL: func @joined_before
// CHECK-SAME: kernels_after = 1 : i64
// CHECK: tensor.collapse_shape %arg1 {{\[}}[0], [1], [2, 3]] : tensor<15x2x33x2560xf16> into tensor<15x2x84480xf16>
// CHECK: tensor.collapse_shape %arg0 {{\[}}[0], [1], [2, 3]] : tensor<15x6x33x2560xf16> into tensor<15x6x84480xf16>
// CHECK: tensor.concat dim(1) {{.*}} -> tensor<15x8x84480xf16>
func.func @joined_before(%x: tensor<15x6x33x2560xf16>, %y: tensor<15x2x33x2560xf16>) -> tensor<15x84480x8xf16> {
  %0 = tensor.concat dim(1) %y, %x : (tensor<15x2x33x2560xf16>, tensor<15x6x33x2560xf16>) -> tensor<15x8x33x2560xf16>
  %1 = tensor.collapse_shape %0 [[0], [1], [2, 3]] : tensor<15x8x33x2560xf16> into tensor<15x8x84480xf16>
  %e = tensor.empty() : tensor<15x84480x8xf16>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k, j)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%1 : tensor<15x8x84480xf16>) outs(%e : tensor<15x84480x8xf16>) {
  ^bb0(%a: f16, %o: f16):
    linalg.yield %a : f16
  } -> tensor<15x84480x8xf16>
  return %t : tensor<15x84480x8xf16>
}

// -----

// Along the last of the dimensions that the reshape joins, elements of several
// tensors alternate.
// CHECK-LABEL: func @joined_within
// CHECK: tensor.concat {{.*}} -> tensor<15x8x5120xf16>
func.func @joined_within(%x: tensor<15x8x2560xf16>, %y: tensor<15x8x2560xf16>) -> tensor<40960x15xf16> {
  %0 = tensor.concat dim(2) %y, %x : (tensor<15x8x2560xf16>, tensor<15x8x2560xf16>) -> tensor<15x8x5120xf16>
  %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<15x8x5120xf16> into tensor<15x40960xf16>
  %e = tensor.empty() : tensor<40960x15xf16>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%1 : tensor<15x40960xf16>) outs(%e : tensor<40960x15xf16>) {
  ^bb0(%a: f16, %o: f16):
    linalg.yield %a : f16
  } -> tensor<40960x15xf16>
  return %t : tensor<40960x15xf16>
}
