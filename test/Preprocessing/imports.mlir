// RUN: fusion-opt %s --fusion-input-imports | FileCheck %s

// A view of a dynamic batch: only the dimension that is split is split.
// CHECK-LABEL: func.func @split
// CHECK-NOT: cf.assert
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [%{{.*}}, 4, 64]
func.func @split(%x: tensor<?x256xf32>) -> tensor<?x4x64xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?x256xf32>
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %s = tensor.from_elements %d, %c4, %c64 : tensor<3xindex>
  %r = tensor.reshape %x(%s)
      : (tensor<?x256xf32>, tensor<3xindex>) -> tensor<?x4x64xf32>
  return %r : tensor<?x4x64xf32>
}

// The shape is of i64, and its product is written in another order.
// CHECK-LABEL: func.func @merge
// CHECK-NOT: cf.assert
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]]
func.func @merge(%x: tensor<?x?x6xf32>) -> tensor<?x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : i64
  %a = tensor.dim %x, %c0 : tensor<?x?x6xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?x6xf32>
  %ba = arith.muli %b, %a : index
  %bai = arith.index_cast %ba : index to i64
  %s = tensor.from_elements %bai, %c6 : tensor<2xi64>
  %r = tensor.reshape %x(%s)
      : (tensor<?x?x6xf32>, tensor<2xi64>) -> tensor<?x6xf32>
  return %r : tensor<?x6xf32>
}

// An inferred extent is a quotient, which is known here.
// CHECK-LABEL: func.func @inferred
// CHECK-NOT: cf.assert
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]]
func.func @inferred(%x: tensor<?x32xf32>) -> tensor<?x8x4xf32> {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c8 = arith.constant 8 : index
  %c4 = arith.constant 4 : index
  %d = tensor.dim %x, %c0 : tensor<?x32xf32>
  %count = arith.muli %d, %c32 : index
  %n = arith.divsi %count, %c32 : index
  %s = tensor.from_elements %n, %c8, %c4 : tensor<3xindex>
  %r = tensor.reshape %x(%s)
      : (tensor<?x32xf32>, tensor<3xindex>) -> tensor<?x8x4xf32>
  return %r : tensor<?x8x4xf32>
}

// torch-mlir asks of every extent whether it is one to be inferred: no size is.
// CHECK-LABEL: func.func @asked
// CHECK-NOT: cf.assert
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [%{{.*}}, 4, 8]
func.func @asked(%x: tensor<?x32xf32>) -> tensor<?x4x8xf32> {
  %c0 = arith.constant 0 : index
  %none = arith.constant 0 : i64
  %four = arith.constant 4 : i64
  %eight = arith.constant 8 : i64
  %c32 = arith.constant 32 : i64
  %d = tensor.dim %x, %c0 : tensor<?x32xf32>
  %n = arith.index_cast %d : index to i64
  %inferred = arith.cmpi slt, %n, %none : i64
  %product = arith.muli %n, %c32 : i64
  %rest = arith.divsi %product, %c32 : i64
  %size = arith.select %inferred, %rest, %n : i64
  %s = tensor.from_elements %size, %four, %eight : tensor<3xi64>
  %r = tensor.reshape %x(%s)
      : (tensor<?x32xf32>, tensor<3xi64>) -> tensor<?x4x8xf32>
  return %r : tensor<?x4x8xf32>
}

// A shape that is put together: its elements are the sizes.
// CHECK-LABEL: func.func @elements
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>
// CHECK: %[[D:.*]] = tensor.dim %[[X]]
// CHECK: %[[N:.*]] = arith.index_cast %[[D]]
// CHECK-NOT: tensor.concat
// CHECK: return %[[N]], %{{.*}} : i64, i64
func.func @elements(%x: tensor<?x4xf32>) -> (i64, i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %d = tensor.dim %x, %c0 : tensor<?x4xf32>
  %n = arith.index_cast %d : index to i64
  %one = tensor.from_elements %n : tensor<1xi64>
  %rest = arith.constant dense<[[7], [9]]> : tensor<2x1xi64>
  %flat = tensor.collapse_shape %rest [[0, 1]] : tensor<2x1xi64> into tensor<2xi64>
  %s = tensor.concat dim(0) %flat, %one : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
  %a = tensor.extract_slice %s[2] [1] [1] : tensor<3xi64> to tensor<1xi64>
  %b = tensor.extract_slice %s[0] [2] [1] : tensor<3xi64> to tensor<2xi64>
  %last = tensor.extract %a[%c0] : tensor<1xi64>
  %nine = tensor.extract %b[%c1] : tensor<2xi64>
  return %last, %nine : i64, i64
}

// Not those of an argument, nor those that are not there.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-2: tensor.extract %
func.func @others(%x: tensor<2xi64>, %i: index) -> (i64, i64) {
  %c0 = arith.constant 0 : index
  %c = arith.constant dense<[1, 2]> : tensor<2xi64>
  %s = tensor.concat dim(0) %x, %c : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
  %a = tensor.extract %s[%c0] : tensor<4xi64>
  %b = tensor.extract %c[%i] : tensor<2xi64>
  return %a, %b : i64, i64
}

// That the counts agree is not known: it is asserted.
// CHECK-LABEL: func.func @unknown
// CHECK: cf.assert %{{.*}}, "tensor.reshape keeps the number of elements"
// CHECK: tensor.collapse_shape
// CHECK: tensor.expand_shape
func.func @unknown(%x: tensor<?x6xf32>, %n: index) -> tensor<?x4xf32> {
  %c4 = arith.constant 4 : index
  %s = tensor.from_elements %n, %c4 : tensor<2xindex>
  %r = tensor.reshape %x(%s)
      : (tensor<?x6xf32>, tensor<2xindex>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @to_scalar
// CHECK: tensor.cast %{{.*}} : tensor<?xf32> to tensor<1xf32>
// CHECK: tensor.collapse_shape %{{.*}} [] : tensor<1xf32> into tensor<f32>
func.func @to_scalar(%x: tensor<?xf32>, %s: tensor<0xi64>) -> tensor<f32> {
  %r = tensor.reshape %x(%s) : (tensor<?xf32>, tensor<0xi64>) -> tensor<f32>
  return %r : tensor<f32>
}

// Sizes keep quotients as single ops.
// CHECK-LABEL: func.func @affine
// CHECK: arith.floordivsi
// CHECK: arith.minsi
// CHECK-NOT: affine.
func.func @affine(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %n = affine.min affine_map<()[s0] -> (s0 floordiv 2, 40)>()[%d]
  %s = tensor.extract_slice %x[0] [%n] [1] : tensor<?xf32> to tensor<?xf32>
  return %s : tensor<?xf32>
}

// Every place finds the last index that names it.
// CHECK-LABEL: func.func @scatter
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: arith.maxsi
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]
// CHECK: tensor.extract
func.func @scatter(%s: tensor<3x6xf32>, %d: tensor<8x6xf32>,
                   %i: tensor<3x1xi64>) -> tensor<8x6xf32> {
  %r = tensor.scatter %s into %d[%i] scatter_dims([0]) unique
      : (tensor<3x6xf32>, tensor<8x6xf32>, tensor<3x1xi64>) -> tensor<8x6xf32>
  return %r : tensor<8x6xf32>
}
