// RUN: fusion-opt %s --fusion-plan-collapse-dims | FileCheck %s

// What a kernel reduces together, and what lies side by side in all its other
// tensors, is one dimension; dimensions of size 1 between them go with them.
// CHECK-LABEL: func @norm
// CHECK: %[[X:.*]] = tensor.collapse_shape %arg0 {{\[}}[0, 1], [2, 3, 4]] : tensor<3x2x7x1x513xf32> into tensor<6x3591xf32>
// CHECK: %[[K:.*]] = fusion.kernel @norm ins(%[[X]] : tensor<6x3591xf32>) -> (tensor<6x3591xf32>)
// CHECK: linalg.fill {{.*}} tensor<6xf32>
// CHECK: linalg.generic {indexing_maps = [#[[IJ:.*]], #[[I:.*]]], iterator_types = ["parallel", "reduction"]} ins(%{{.*}} : tensor<6x3591xf32>) outs(%{{.*}} : tensor<6xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[IJ]], #[[I]], #[[IJ]]], iterator_types = ["parallel", "parallel"]}
// CHECK: %[[Y:.*]] = tensor.expand_shape %[[K]] {{\[}}[0, 1], [2, 3, 4]] output_shape [3, 2, 7, 1, 513]
// CHECK: return %[[Y]]
func.func @norm(%x: tensor<3x2x7x1x513xf32>) -> tensor<3x2x7x1x513xf32> {
  %y = fusion.kernel @norm ins(%x : tensor<3x2x7x1x513xf32>) -> (tensor<3x2x7x1x513xf32>) {
  ^bb0(%a: tensor<3x2x7x1x513xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<3x2xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x2xf32>) -> tensor<3x2xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(n, c, h, u, w) -> (n, c, h, u, w)>, affine_map<(n, c, h, u, w) -> (n, c)>],
                         iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%a : tensor<3x2x7x1x513xf32>) outs(%f : tensor<3x2xf32>) {
    ^bb0(%v: f32, %o: f32):
      %0 = arith.addf %v, %o : f32
      linalg.yield %0 : f32
    } -> tensor<3x2xf32>
    %e2 = tensor.empty() : tensor<3x2x7x1x513xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(n, c, h, u, w) -> (n, c, h, u, w)>, affine_map<(n, c, h, u, w) -> (n, c)>, affine_map<(n, c, h, u, w) -> (n, c, h, u, w)>],
                         iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
        ins(%a, %s : tensor<3x2x7x1x513xf32>, tensor<3x2xf32>) outs(%e2 : tensor<3x2x7x1x513xf32>) {
    ^bb0(%v: f32, %m: f32, %o: f32):
      %0 = arith.subf %v, %m : f32
      linalg.yield %0 : f32
    } -> tensor<3x2x7x1x513xf32>
    fusion.yield %r : tensor<3x2x7x1x513xf32>
  }
  return %y : tensor<3x2x7x1x513xf32>
}

// The last two dimensions are also those of a matrix: what is between the pairs
// stays. A constant takes the new shape.
// CHECK-LABEL: func @pairs
// CHECK: fusion.kernel @pairs ins({{.*}} : tensor<15x14xf32>, tensor<14xf32>) -> (tensor<15x14xf32>)
// CHECK: arith.constant dense<{{.*}}> : tensor<14xf32>
func.func @pairs(%x: tensor<3x5x2x7xf32>, %b: tensor<2x7xf32>) -> tensor<3x5x2x7xf32> {
  %y = fusion.kernel @pairs ins(%x, %b : tensor<3x5x2x7xf32>, tensor<2x7xf32>) -> (tensor<3x5x2x7xf32>) {
  ^bb0(%a: tensor<3x5x2x7xf32>, %c: tensor<2x7xf32>):
    %k = arith.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0]]> : tensor<2x7xf32>
    %e = tensor.empty() : tensor<3x5x2x7xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (k, l)>, affine_map<(i, j, k, l) -> (k, l)>, affine_map<(i, j, k, l) -> (i, j, k, l)>],
                         iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%a, %c, %k : tensor<3x5x2x7xf32>, tensor<2x7xf32>, tensor<2x7xf32>) outs(%e : tensor<3x5x2x7xf32>) {
    ^bb0(%v: f32, %m: f32, %t: f32, %o: f32):
      %0 = arith.addf %v, %m : f32
      %1 = arith.addf %0, %t : f32
      linalg.yield %1 : f32
    } -> tensor<3x5x2x7xf32>
    fusion.yield %r : tensor<3x5x2x7xf32>
  }
  return %y : tensor<3x5x2x7xf32>
}

// The dynamic dimension, here the third, stays; its number is another then.
// CHECK-LABEL: func @dynamic
// CHECK: fusion.kernel @dynamic ins({{.*}} : tensor<6x?x10xf32>) -> (tensor<6x?x10xf32>)
// CHECK: %[[C1:.*]] = arith.constant 1 : index
// CHECK: tensor.dim %{{.*}}, %[[C1]] : tensor<6x?x10xf32>
// CHECK: tensor.expand_shape {{.*}} {{\[}}[0, 1], [2], [3, 4]]
func.func @dynamic(%x: tensor<3x2x?x2x5xf32>) -> tensor<3x2x?x2x5xf32> {
  %y = fusion.kernel @dynamic ins(%x : tensor<3x2x?x2x5xf32>) -> (tensor<3x2x?x2x5xf32>) {
  ^bb0(%a: tensor<3x2x?x2x5xf32>):
    %c2 = arith.constant 2 : index
    %n = tensor.dim %a, %c2 : tensor<3x2x?x2x5xf32>
    %e = tensor.empty(%n) : tensor<3x2x?x2x5xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k, l, m) -> (i, j, k, l, m)>, affine_map<(i, j, k, l, m) -> (i, j, k, l, m)>],
                         iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
        ins(%a : tensor<3x2x?x2x5xf32>) outs(%e : tensor<3x2x?x2x5xf32>) {
    ^bb0(%v: f32, %o: f32):
      %0 = arith.negf %v : f32
      linalg.yield %0 : f32
    } -> tensor<3x2x?x2x5xf32>
    fusion.yield %r : tensor<3x2x?x2x5xf32>
  }
  return %y : tensor<3x2x?x2x5xf32>
}

// An index tells the last two apart, a transpose the first two; a loop that is
// reduced is not one with the next that is kept.
// CHECK-LABEL: func @apart
// CHECK: fusion.kernel @indexed ins(%arg0 : tensor<4x3x5xi32>) -> (tensor<3x4x5xi32>)
// CHECK: linalg.index 2
// CHECK: fusion.kernel @reduced ins(%arg0 : tensor<4x3x5xi32>) -> (tensor<4x5xi32>)
func.func @apart(%x: tensor<4x3x5xi32>) -> (tensor<3x4x5xi32>, tensor<4x5xi32>) {
  %y = fusion.kernel @indexed ins(%x : tensor<4x3x5xi32>) -> (tensor<3x4x5xi32>) {
  ^bb0(%a: tensor<4x3x5xi32>):
    %e = tensor.empty() : tensor<3x4x5xi32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (j, i, k)>],
                         iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%a : tensor<4x3x5xi32>) outs(%e : tensor<3x4x5xi32>) {
    ^bb0(%v: i32, %o: i32):
      %i = linalg.index 2 : index
      %0 = arith.index_cast %i : index to i32
      %1 = arith.addi %v, %0 : i32
      linalg.yield %1 : i32
    } -> tensor<3x4x5xi32>
    fusion.yield %r : tensor<3x4x5xi32>
  }
  %z = fusion.kernel @reduced ins(%x : tensor<4x3x5xi32>) -> (tensor<4x5xi32>) {
  ^bb0(%a: tensor<4x3x5xi32>):
    %zero = arith.constant 0 : i32
    %e = tensor.empty() : tensor<4x5xi32>
    %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4x5xi32>) -> tensor<4x5xi32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, k)>],
                         iterator_types = ["parallel", "reduction", "parallel"]}
        ins(%a : tensor<4x3x5xi32>) outs(%f : tensor<4x5xi32>) {
    ^bb0(%v: i32, %o: i32):
      %0 = arith.addi %v, %o : i32
      linalg.yield %0 : i32
    } -> tensor<4x5xi32>
    fusion.yield %r : tensor<4x5xi32>
  }
  return %y, %z : tensor<3x4x5xi32>, tensor<4x5xi32>
}

// An index of another loop gets its new number.
// CHECK-LABEL: func @renumbered
// CHECK: fusion.kernel @renumbered ins({{.*}} : tensor<12x5xi32>)
// CHECK: linalg.index 1
func.func @renumbered(%x: tensor<4x3x5xi32>) -> tensor<4x3x5xi32> {
  %y = fusion.kernel @renumbered ins(%x : tensor<4x3x5xi32>) -> (tensor<4x3x5xi32>) {
  ^bb0(%a: tensor<4x3x5xi32>):
    %e = tensor.empty() : tensor<4x3x5xi32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
                         iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%a : tensor<4x3x5xi32>) outs(%e : tensor<4x3x5xi32>) {
    ^bb0(%v: i32, %o: i32):
      %i = linalg.index 2 : index
      %0 = arith.index_cast %i : index to i32
      %1 = arith.addi %v, %0 : i32
      linalg.yield %1 : i32
    } -> tensor<4x3x5xi32>
    fusion.yield %r : tensor<4x3x5xi32>
  }
  return %y : tensor<4x3x5xi32>
}

// Products keep their dimensions, slices the one that they have a part of, and
// kernels with a schedule all.
// CHECK-LABEL: func @kept
// CHECK: fusion.kernel @product ins(%arg0, %arg1 : tensor<2x3x8xf32>, tensor<8x4xf32>) -> (tensor<2x3x4xf32>)
// CHECK: fusion.kernel @slice ins({{.*}} : tensor<6x8xf32>) -> (tensor<6x4xf32>)
// CHECK: fusion.kernel @scheduled ins(%arg0 : tensor<2x3x8xf32>) -> (tensor<2x3x8xf32>)
func.func @kept(%x: tensor<2x3x8xf32>, %w: tensor<8x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x8xf32>) {
  %p = fusion.kernel @product ins(%x, %w : tensor<2x3x8xf32>, tensor<8x4xf32>) -> (tensor<2x3x4xf32>) {
  ^bb0(%a: tensor<2x3x8xf32>, %b: tensor<8x4xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x3x4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, n, k) -> (i, j, k)>, affine_map<(i, j, n, k) -> (k, n)>, affine_map<(i, j, n, k) -> (i, j, n)>],
                         iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<2x3x8xf32>, tensor<8x4xf32>) outs(%f : tensor<2x3x4xf32>) {
    ^bb0(%v: f32, %m: f32, %o: f32):
      %0 = arith.mulf %v, %m : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<2x3x4xf32>
    fusion.yield %r : tensor<2x3x4xf32>
  }
  %s = fusion.kernel @slice ins(%x : tensor<2x3x8xf32>) -> (tensor<2x3x4xf32>) {
  ^bb0(%a: tensor<2x3x8xf32>):
    %0 = tensor.extract_slice %a[0, 0, 1] [2, 3, 4] [1, 1, 1] : tensor<2x3x8xf32> to tensor<2x3x4xf32>
    fusion.yield %0 : tensor<2x3x4xf32>
  }
  %t = fusion.kernel @scheduled ins(%x : tensor<2x3x8xf32>) -> (tensor<2x3x8xf32>) attributes {schedule = #fusion.schedule<pointwise, axes = [#fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = 1>, #fusion.axis<grid, tile = 8>], warps = 1>} {
  ^bb0(%a: tensor<2x3x8xf32>):
    %e = tensor.empty() : tensor<2x3x8xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
                         iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%a : tensor<2x3x8xf32>) outs(%e : tensor<2x3x8xf32>) {
    ^bb0(%v: f32, %o: f32):
      %0 = arith.negf %v : f32
      linalg.yield %0 : f32
    } -> tensor<2x3x8xf32>
    fusion.yield %r : tensor<2x3x8xf32>
  }
  return %p, %s, %t : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x8xf32>
}

// A view that adds a dimension of size 1 follows what it views; what splits a
// dimension keeps both sides as they are.
// CHECK-LABEL: func @views
// CHECK: fusion.kernel @unit ins({{.*}} : tensor<4x15xf32>) -> (tensor<4x1x15xf32>)
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0, 1], [2]] output_shape [4, 1, 15] : tensor<4x15xf32> into tensor<4x1x15xf32>
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: fusion.kernel @split ins(%arg0 : tensor<4x3x5xf32>) -> (tensor<2x2x3x5xf32>)
func.func @views(%x: tensor<4x3x5xf32>) -> (tensor<4x1x3x5xf32>, tensor<2x2x3x5xf32>) {
  %y = fusion.kernel @unit ins(%x : tensor<4x3x5xf32>) -> (tensor<4x1x3x5xf32>) {
  ^bb0(%a: tensor<4x3x5xf32>):
    %zero = arith.constant 0.0 : f32
    %v = tensor.expand_shape %a [[0, 1], [2], [3]] output_shape [4, 1, 3, 5] : tensor<4x3x5xf32> into tensor<4x1x3x5xf32>
    %e = tensor.empty() : tensor<4x1xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x1xf32>) -> tensor<4x1xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (i, j)>],
                         iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%v : tensor<4x1x3x5xf32>) outs(%f : tensor<4x1xf32>) {
    ^bb0(%w: f32, %o: f32):
      %0 = arith.addf %w, %o : f32
      linalg.yield %0 : f32
    } -> tensor<4x1xf32>
    %e2 = tensor.empty() : tensor<4x1x3x5xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (i, j)>, affine_map<(i, j, k, l) -> (i, j, k, l)>],
                         iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%v, %s : tensor<4x1x3x5xf32>, tensor<4x1xf32>) outs(%e2 : tensor<4x1x3x5xf32>) {
    ^bb0(%w: f32, %m: f32, %o: f32):
      %0 = arith.subf %w, %m : f32
      linalg.yield %0 : f32
    } -> tensor<4x1x3x5xf32>
    fusion.yield %r : tensor<4x1x3x5xf32>
  }
  %z = fusion.kernel @split ins(%x : tensor<4x3x5xf32>) -> (tensor<2x2x3x5xf32>) {
  ^bb0(%a: tensor<4x3x5xf32>):
    %v = tensor.expand_shape %a [[0, 1], [2], [3]] output_shape [2, 2, 3, 5] : tensor<4x3x5xf32> into tensor<2x2x3x5xf32>
    %e = tensor.empty() : tensor<2x2x3x5xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (i, j, k, l)>],
                         iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%v : tensor<2x2x3x5xf32>) outs(%e : tensor<2x2x3x5xf32>) {
    ^bb0(%w: f32, %o: f32):
      %0 = arith.negf %w : f32
      linalg.yield %0 : f32
    } -> tensor<2x2x3x5xf32>
    fusion.yield %r : tensor<2x2x3x5xf32>
  }
  return %y, %z : tensor<4x1x3x5xf32>, tensor<2x2x3x5xf32>
}

// Windows slide along dimensions that stay. The steps of a window are not those of
// a batch, also where both have a size of one.
// CHECK-LABEL: func @windows
// CHECK: fusion.kernel @windows ins({{.*}} : tensor<6x9x20xf16>) -> (tensor<6x4x20xf16>)
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK-LABEL: func @steps
// CHECK: fusion.kernel @steps ins({{.*}} : tensor<2x3x8xf16>) -> (tensor<2x2x6xf16>)
func.func @windows(%x: tensor<2x3x9x4x5xf16>) -> tensor<2x3x4x4x5xf16> {
  %y = fusion.kernel @windows ins(%x : tensor<2x3x9x4x5xf16>) -> (tensor<2x3x4x4x5xf16>) {
  ^bb0(%a: tensor<2x3x9x4x5xf16>):
    %low = arith.constant 0xFC00 : f16
    %w = tensor.empty() : tensor<3xf16>
    %e = tensor.empty() : tensor<2x3x4x4x5xf16>
    %f = linalg.fill ins(%low : f16) outs(%e : tensor<2x3x4x4x5xf16>) -> tensor<2x3x4x4x5xf16>
    %r = linalg.generic {indexing_maps = [affine_map<(n, g, h, w, c, l) -> (n, g, h * 2 + l, w, c)>, affine_map<(n, g, h, w, c, l) -> (l)>, affine_map<(n, g, h, w, c, l) -> (n, g, h, w, c)>],
                         iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
        ins(%a, %w : tensor<2x3x9x4x5xf16>, tensor<3xf16>) outs(%f : tensor<2x3x4x4x5xf16>) {
    ^bb0(%v: f16, %u: f16, %o: f16):
      %0 = arith.maximumf %o, %v : f16
      linalg.yield %0 : f16
    } -> tensor<2x3x4x4x5xf16>
    fusion.yield %r : tensor<2x3x4x4x5xf16>
  }
  return %y : tensor<2x3x4x4x5xf16>
}
func.func @steps(%x: tensor<2x3x8xf16>) -> tensor<2x2x6xf16> {
  %y = fusion.kernel @steps ins(%x : tensor<2x3x8xf16>) -> (tensor<2x2x6xf16>) {
  ^bb0(%a: tensor<2x3x8xf16>):
    %low = arith.constant 0xFC00 : f16
    %w = tensor.empty() : tensor<1x3xf16>
    %e = tensor.empty() : tensor<2x2x6xf16>
    %f = linalg.fill ins(%low : f16) outs(%e : tensor<2x2x6xf16>) -> tensor<2x2x6xf16>
    %r = linalg.generic {indexing_maps = [affine_map<(n, h, w, k, l) -> (n, h * 2 + k, w + l)>, affine_map<(n, h, w, k, l) -> (k, l)>, affine_map<(n, h, w, k, l) -> (n, h, w)>],
                         iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%a, %w : tensor<2x3x8xf16>, tensor<1x3xf16>) outs(%f : tensor<2x2x6xf16>) {
    ^bb0(%v: f16, %u: f16, %o: f16):
      %0 = arith.maximumf %o, %v : f16
      linalg.yield %0 : f16
    } -> tensor<2x2x6xf16>
    fusion.yield %r : tensor<2x2x6xf16>
  }
  return %y : tensor<2x2x6xf16>
}

// What a scan does not scan falls together on both sides of what it does.
// CHECK-LABEL: func @scan
// CHECK: fusion.kernel @scan ins(%{{.*}} : tensor<6x7x20xf32>) -> (tensor<6x7x20xf32>)
// CHECK: fusion.scan ins(%{{.*}} : tensor<6x7x20xf32>) inits(%{{.*}} : f32) axis(1) -> tensor<6x7x20xf32>
func.func @scan(%x: tensor<2x3x7x4x5xf32>) -> tensor<2x3x7x4x5xf32> {
  %y = fusion.kernel @scan ins(%x : tensor<2x3x7x4x5xf32>) -> (tensor<2x3x7x4x5xf32>) {
  ^bb0(%a: tensor<2x3x7x4x5xf32>):
    %zero = arith.constant 0.0 : f32
    %s = fusion.scan ins(%a : tensor<2x3x7x4x5xf32>) inits(%zero : f32) axis(2) -> tensor<2x3x7x4x5xf32> {
    ^bb0(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      fusion.yield %w : f32
    }
    fusion.yield %s : tensor<2x3x7x4x5xf32>
  }
  return %y : tensor<2x3x7x4x5xf32>
}

// A body that numbers the elements, as a counter-based generator does, numbers
// those of the one loop; one that compares indices keeps its loops. Where the
// number is of two loops of three, these become one.
// CHECK-LABEL: func @numbered
// CHECK: fusion.kernel @numbered ins({{.*}} : tensor<210xi64>)
// CHECK: ^bb0(%[[IN:.*]]: i64, %{{.*}}: i64):
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK-NOT: linalg.index
// CHECK: %[[N:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK: arith.addi %[[IN]], %[[N]]
// CHECK-LABEL: func @triangle
// CHECK: fusion.kernel @triangle ins({{.*}} : tensor<5x6x7xi64>)
// CHECK-LABEL: func @numbered_rows
// CHECK: fusion.kernel @numbered_rows ins({{.*}} : tensor<30x7xi64>)
// CHECK-LABEL: func @other_factor
// CHECK: fusion.kernel @other_factor ins({{.*}} : tensor<5x42xi64>)
// CHECK-NOT: arith.constant 6 : i64
// CHECK: %[[FACTOR:.*]] = arith.constant 77 : i64
// CHECK: arith.muli %{{.*}}, %[[FACTOR]]
func.func @numbered(%x: tensor<5x6x7xi64>) -> tensor<5x6x7xi64> {
  %y = fusion.kernel @numbered ins(%x : tensor<5x6x7xi64>) -> (tensor<5x6x7xi64>) {
  ^bb0(%a: tensor<5x6x7xi64>):
    %six = arith.constant 6 : i64
    %seven = arith.constant 7 : i64
    %e = tensor.empty() : tensor<5x6x7xi64>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%a : tensor<5x6x7xi64>) outs(%e : tensor<5x6x7xi64>) {
    ^bb0(%v: i64, %o: i64):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %k = linalg.index 2 : index
      %0 = arith.index_cast %i : index to i64
      %1 = arith.muli %0, %six : i64
      %2 = arith.index_cast %j : index to i64
      %3 = arith.addi %1, %2 : i64
      %4 = arith.muli %3, %seven : i64
      %5 = arith.index_cast %k : index to i64
      %6 = arith.addi %4, %5 : i64
      %7 = arith.addi %v, %6 : i64
      linalg.yield %7 : i64
    } -> tensor<5x6x7xi64>
    fusion.yield %r : tensor<5x6x7xi64>
  }
  return %y : tensor<5x6x7xi64>
}
func.func @triangle(%x: tensor<5x6x7xi64>) -> tensor<5x6x7xi64> {
  %y = fusion.kernel @triangle ins(%x : tensor<5x6x7xi64>) -> (tensor<5x6x7xi64>) {
  ^bb0(%a: tensor<5x6x7xi64>):
    %seven = arith.constant 7 : index
    %e = tensor.empty() : tensor<5x6x7xi64>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%a : tensor<5x6x7xi64>) outs(%e : tensor<5x6x7xi64>) {
    ^bb0(%v: i64, %o: i64):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %k = linalg.index 2 : index
      %c = arith.cmpi sle, %i, %j : index
      %0 = arith.muli %j, %seven : index
      %1 = arith.addi %0, %k : index
      %2 = arith.index_cast %1 : index to i64
      %s = arith.select %c, %v, %2 : i64
      linalg.yield %s : i64
    } -> tensor<5x6x7xi64>
    fusion.yield %r : tensor<5x6x7xi64>
  }
  return %y : tensor<5x6x7xi64>
}
func.func @numbered_rows(%x: tensor<5x6x7xi64>) -> tensor<5x6x7xi64> {
  %y = fusion.kernel @numbered_rows ins(%x : tensor<5x6x7xi64>) -> (tensor<5x6x7xi64>) {
  ^bb0(%a: tensor<5x6x7xi64>):
    %six = arith.constant 6 : index
    %e = tensor.empty() : tensor<5x6x7xi64>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%a : tensor<5x6x7xi64>) outs(%e : tensor<5x6x7xi64>) {
    ^bb0(%v: i64, %o: i64):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %k = linalg.index 2 : index
      %0 = arith.muli %i, %six : index
      %1 = arith.addi %0, %j : index
      %2 = arith.xori %1, %k : index
      %3 = arith.index_cast %2 : index to i64
      linalg.yield %3 : i64
    } -> tensor<5x6x7xi64>
    fusion.yield %r : tensor<5x6x7xi64>
  }
  return %y : tensor<5x6x7xi64>
}
func.func @other_factor(%x: tensor<5x6x7xi64>) -> tensor<5x6x7xi64> {
  %y = fusion.kernel @other_factor ins(%x : tensor<5x6x7xi64>) -> (tensor<5x6x7xi64>) {
  ^bb0(%a: tensor<5x6x7xi64>):
    %eleven = arith.constant 11 : i64
    %seven = arith.constant 7 : i64
    %e = tensor.empty() : tensor<5x6x7xi64>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%a : tensor<5x6x7xi64>) outs(%e : tensor<5x6x7xi64>) {
    ^bb0(%v: i64, %o: i64):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %k = linalg.index 2 : index
      %0 = arith.index_cast %i : index to i64
      %1 = arith.muli %0, %eleven : i64
      %2 = arith.index_cast %j : index to i64
      %3 = arith.addi %1, %2 : i64
      %4 = arith.muli %3, %seven : i64
      %5 = arith.index_cast %k : index to i64
      %6 = arith.addi %4, %5 : i64
      linalg.yield %6 : i64
    } -> tensor<5x6x7xi64>
    fusion.yield %r : tensor<5x6x7xi64>
  }
  return %y : tensor<5x6x7xi64>
}

// -----

// Dimensions of one element stand in nobody's way, whoever has them: a sum over
// both sides of one that is kept walks one dimension.

#full = affine_map<(a, b, c) -> (a, b, c)>
#kept = affine_map<(a, b, c) -> (b)>

// CHECK-LABEL: func.func @one_between
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1, 2]] : tensor<300x1x70xf32> into tensor<21000xf32>
// CHECK: fusion.kernel
// CHECK: linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins(%{{.*}} : tensor<21000xf32>) outs(%{{.*}} : tensor<1xf32>)
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%{{.*}} : tensor<21000xf32>, tensor<1xf32>) outs(%{{.*}} : tensor<21000xf32>)
func.func @one_between(%x: tensor<300x1x70xf32>) -> tensor<300x1x70xf32> {
  %y = fusion.kernel @sum_sub ins(%x : tensor<300x1x70xf32>) -> (tensor<300x1x70xf32>) {
  ^bb0(%a: tensor<300x1x70xf32>):
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1xf32>
    %init = linalg.fill ins(%zero : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
    %s = linalg.generic {indexing_maps = [#full, #kept], iterator_types = ["reduction", "parallel", "reduction"]} ins(%a : tensor<300x1x70xf32>) outs(%init : tensor<1xf32>) {
    ^bb0(%u: f32, %o: f32):
      %r = arith.addf %o, %u : f32
      linalg.yield %r : f32
    } -> tensor<1xf32>
    %g = tensor.empty() : tensor<300x1x70xf32>
    %d = linalg.generic {indexing_maps = [#full, #kept, #full], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a, %s : tensor<300x1x70xf32>, tensor<1xf32>) outs(%g : tensor<300x1x70xf32>) {
    ^bb0(%u: f32, %v: f32, %o: f32):
      %r = arith.subf %u, %v : f32
      linalg.yield %r : f32
    } -> tensor<300x1x70xf32>
    fusion.yield %d : tensor<300x1x70xf32>
  }
  return %y : tensor<300x1x70xf32>
}

// -----

// Parts of tensors are moved together where they are whole rows: what is joined,
// padded or cut out along the first of two dimensions is so many elements of the
// two.

#id = affine_map<(a, b, c, d) -> (a, b, c, d)>

// CHECK-LABEL: func.func @whole_rows
// CHECK: fusion.kernel @rows ins({{.*}} : tensor<12x35xf32>, tensor<12x14xf32>) -> (tensor<12x91xf32>)
// CHECK: tensor.concat dim(1) {{.*}} : (tensor<12x35xf32>, tensor<12x14xf32>) -> tensor<12x49xf32>
// CHECK: tensor.pad {{.*}} low[0, 21] high[0, 28] {
// CHECK-NEXT: ^bb0(%{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index):
// CHECK: tensor<12x49xf32> to tensor<12x98xf32>
// CHECK: tensor.extract_slice %{{.*}}[0, 7] [12, 91] [1, 1] : tensor<12x98xf32> to tensor<12x91xf32>
func.func @whole_rows(%x: tensor<3x4x5x7xf32>, %y: tensor<3x4x2x7xf32>) -> tensor<3x4x13x7xf32> {
  %r = fusion.kernel @rows ins(%x, %y : tensor<3x4x5x7xf32>, tensor<3x4x2x7xf32>) -> (tensor<3x4x13x7xf32>) {
  ^bb0(%a: tensor<3x4x5x7xf32>, %b: tensor<3x4x2x7xf32>):
    %zero = arith.constant 0.0 : f32
    %c = tensor.concat dim(2) %a, %b : (tensor<3x4x5x7xf32>, tensor<3x4x2x7xf32>) -> tensor<3x4x7x7xf32>
    %p = tensor.pad %c low[0, 0, 3, 0] high[0, 0, 4, 0] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %zero : f32
    } : tensor<3x4x7x7xf32> to tensor<3x4x14x7xf32>
    %s = tensor.extract_slice %p[0, 0, 1, 0] [3, 4, 13, 7] [1, 1, 1, 1] : tensor<3x4x14x7xf32> to tensor<3x4x13x7xf32>
    %e = tensor.empty() : tensor<3x4x13x7xf32>
    %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%s : tensor<3x4x13x7xf32>) outs(%e : tensor<3x4x13x7xf32>) {
    ^bb0(%u: f32, %o: f32):
      %0 = arith.negf %u : f32
      linalg.yield %0 : f32
    } -> tensor<3x4x13x7xf32>
    fusion.yield %n : tensor<3x4x13x7xf32>
  }
  return %r : tensor<3x4x13x7xf32>
}

// Parts of rows stay parts of rows, and so does every third row.

// CHECK-LABEL: func.func @parts_of_rows
// CHECK: fusion.kernel @concat ins({{.*}} : tensor<60x7xf32>, tensor<60x2xf32>) -> (tensor<60x9xf32>)
// CHECK: fusion.kernel @pad ins({{.*}} : tensor<60x9xf32>) -> (tensor<60x10xf32>)
// CHECK: fusion.kernel @slice ins({{.*}} : tensor<60x10xf32>) -> (tensor<60x8xf32>)
// CHECK: fusion.kernel @strided ins({{.*}} : tensor<12x5x8xf32>) -> (tensor<12x2x8xf32>)
func.func @parts_of_rows(%x: tensor<3x4x5x7xf32>, %y: tensor<3x4x5x2xf32>) -> tensor<3x4x2x8xf32> {
  %0 = fusion.kernel @concat ins(%x, %y : tensor<3x4x5x7xf32>, tensor<3x4x5x2xf32>) -> (tensor<3x4x5x9xf32>) {
  ^bb0(%a: tensor<3x4x5x7xf32>, %b: tensor<3x4x5x2xf32>):
    %c = tensor.concat dim(3) %a, %b : (tensor<3x4x5x7xf32>, tensor<3x4x5x2xf32>) -> tensor<3x4x5x9xf32>
    fusion.yield %c : tensor<3x4x5x9xf32>
  }
  %1 = fusion.kernel @pad ins(%0 : tensor<3x4x5x9xf32>) -> (tensor<3x4x5x10xf32>) {
  ^bb0(%a: tensor<3x4x5x9xf32>):
    %zero = arith.constant 0.0 : f32
    %p = tensor.pad %a low[0, 0, 0, 1] high[0, 0, 0, 0] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %zero : f32
    } : tensor<3x4x5x9xf32> to tensor<3x4x5x10xf32>
    fusion.yield %p : tensor<3x4x5x10xf32>
  }
  %2 = fusion.kernel @slice ins(%1 : tensor<3x4x5x10xf32>) -> (tensor<3x4x5x8xf32>) {
  ^bb0(%a: tensor<3x4x5x10xf32>):
    %s = tensor.extract_slice %a[0, 0, 0, 2] [3, 4, 5, 8] [1, 1, 1, 1] : tensor<3x4x5x10xf32> to tensor<3x4x5x8xf32>
    fusion.yield %s : tensor<3x4x5x8xf32>
  }
  %3 = fusion.kernel @strided ins(%2 : tensor<3x4x5x8xf32>) -> (tensor<3x4x2x8xf32>) {
  ^bb0(%a: tensor<3x4x5x8xf32>):
    %s = tensor.extract_slice %a[0, 0, 0, 0] [3, 4, 2, 8] [1, 1, 3, 1] : tensor<3x4x5x8xf32> to tensor<3x4x2x8xf32>
    fusion.yield %s : tensor<3x4x2x8xf32>
  }
  return %3 : tensor<3x4x2x8xf32>
}

// Nor is the number of an element of a padding's value that of one of fewer
// dimensions.

// CHECK-LABEL: func.func @padding_by_index
// CHECK: fusion.kernel @pad ins({{.*}} : tensor<5x7xi64>) -> (tensor<6x7xi64>)
func.func @padding_by_index(%x: tensor<5x7xi64>) -> tensor<6x7xi64> {
  %0 = fusion.kernel @pad ins(%x : tensor<5x7xi64>) -> (tensor<6x7xi64>) {
  ^bb0(%a: tensor<5x7xi64>):
    %p = tensor.pad %a low[1, 0] high[0, 0] {
    ^bb0(%i: index, %j: index):
      %v = arith.index_cast %j : index to i64
      tensor.yield %v : i64
    } : tensor<5x7xi64> to tensor<6x7xi64>
    fusion.yield %p : tensor<6x7xi64>
  }
  return %0 : tensor<6x7xi64>
}
