// RUN: fusion-opt %s | fusion-opt | FileCheck %s
// RUN: fusion-opt %s --mlir-print-op-generic | fusion-opt | FileCheck %s
// RUN: fusion-opt %s --resolve-ranked-shaped-type-result-dims --canonicalize --cse | FileCheck %s --check-prefix=REIFY

// CHECK-LABEL: func.func @groups
func.func @groups(%o: tensor<9xi32>, %d: tensor<?xi32>, %t: index) -> (tensor<100xi32>, tensor<?xi32>) {
  // CHECK: fusion.row_groups %{{.*}} : tensor<9xi32> -> tensor<100xi32>
  %0 = fusion.row_groups %o : tensor<9xi32> -> tensor<100xi32>
  // CHECK: fusion.row_groups %{{.*}} rows(%{{.*}}) : tensor<?xi32> -> tensor<?xi32>
  %1 = fusion.row_groups %d rows(%t) : tensor<?xi32> -> tensor<?xi32>
  return %0, %1 : tensor<100xi32>, tensor<?xi32>
}

// CHECK-LABEL: func.func @products
func.func @products(%x: tensor<100x64xbf16>, %w: tensor<8x64x32xbf16>, %v: tensor<8x32x64xbf16>, %o: tensor<9xi32>, %b: tensor<8x32xf32>) -> (tensor<100x32xbf16>, tensor<100x32xf32>) {
  // CHECK: fusion.grouped_matmul %{{.*}}, %{{.*}} offsets(%{{.*}}) : (tensor<100x64xbf16>, tensor<8x64x32xbf16>, tensor<9xi32>) -> tensor<100x32xbf16>
  %0 = fusion.grouped_matmul %x, %w offsets(%o) : (tensor<100x64xbf16>, tensor<8x64x32xbf16>, tensor<9xi32>) -> tensor<100x32xbf16>
  // CHECK: fusion.grouped_matmul %{{.*}}, %{{.*}} offsets(%{{.*}}) bias(%{{.*}}) transposed : (tensor<100x64xbf16>, tensor<8x32x64xbf16>, tensor<9xi32>, tensor<8x32xf32>) -> tensor<100x32xf32>
  %1 = fusion.grouped_matmul %x, %v offsets(%o) bias(%b) transposed : (tensor<100x64xbf16>, tensor<8x32x64xbf16>, tensor<9xi32>, tensor<8x32xf32>) -> tensor<100x32xf32>
  return %0, %1 : tensor<100x32xbf16>, tensor<100x32xf32>
}

// REIFY-LABEL: func.func @sizes
// REIFY-SAME: (%[[X:.*]]: tensor<?x64xbf16>, %[[W:.*]]: tensor<8x?x64xbf16>, %{{.*}}: tensor<9xi32>, %[[T:.*]]: index)
// REIFY-DAG: %[[ROWS:.*]] = tensor.dim %[[X]], %c0
// REIFY-DAG: %[[COLUMNS:.*]] = tensor.dim %[[W]], %c1
// REIFY: return %[[ROWS]], %[[COLUMNS]], %[[T]]
func.func @sizes(%x: tensor<?x64xbf16>, %w: tensor<8x?x64xbf16>, %o: tensor<9xi32>, %t: index) -> (index, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = fusion.grouped_matmul %x, %w offsets(%o) transposed : (tensor<?x64xbf16>, tensor<8x?x64xbf16>, tensor<9xi32>) -> tensor<?x?xbf16>
  %1 = fusion.row_groups %o rows(%t) : tensor<9xi32> -> tensor<?xi32>
  %rows = tensor.dim %0, %c0 : tensor<?x?xbf16>
  %columns = tensor.dim %0, %c1 : tensor<?x?xbf16>
  %all = tensor.dim %1, %c0 : tensor<?xi32>
  return %rows, %columns, %all : index, index, index
}
