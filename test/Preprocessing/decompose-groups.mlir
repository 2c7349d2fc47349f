// RUN: fusion-opt %s --fusion-input-decompose --canonicalize --cse | FileCheck %s
// RUN: fusion-opt %s --fusion-input-decompose="all" --canonicalize --cse | FileCheck %s --check-prefix=ALL

// The product counts where the loop over groups is at the row's; every reader of
// groups finds them by itself.
// CHECK-LABEL: func.func @product
// CHECK-SAME: (%[[X:.*]]: tensor<100x64xbf16>, %[[W:.*]]: tensor<8x64x32xbf16>, %[[O:.*]]: tensor<9xi32>)
// CHECK: %[[G:.*]] = fusion.row_groups %[[O]] : tensor<9xi32> -> tensor<100xi32>
// CHECK: %[[S:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%[[X]], %[[W]], %[[G]] :
// CHECK-DAG: %[[P:.*]] = arith.mulf
// CHECK-DAG: %[[I:.*]] = linalg.index 2 : index
// CHECK-DAG: %[[E:.*]] = arith.index_cast %[[I]] : index to i32
// CHECK: %[[C:.*]] = arith.cmpi eq, %{{.*}}, %[[E]] : i32
// CHECK: %[[T:.*]] = arith.select %[[C]], %[[P]]
// CHECK: arith.addf %{{.*}}, %[[T]] : f32
// CHECK: arith.truncf
func.func @product(%x: tensor<100x64xbf16>, %w: tensor<8x64x32xbf16>, %o: tensor<9xi32>) -> tensor<100x32xbf16> {
  %0 = fusion.grouped_matmul %x, %w offsets(%o) : (tensor<100x64xbf16>, tensor<8x64x32xbf16>, tensor<9xi32>) -> tensor<100x32xbf16>
  return %0 : tensor<100x32xbf16>
}

// A row of no group stays zero, without the bias.
// CHECK-LABEL: func.func @bias
// CHECK: %[[S:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
// CHECK: linalg.generic {{.*}} ins(%[[S]], %{{.*}} : tensor<100x32xf32>, tensor<100xi32>)
// CHECK: %[[IN:.*]] = arith.cmpi slt, %{{.*}}, %c8_i32 : i32
// CHECK: arith.select %[[IN]]
// CHECK: tensor.extract
// CHECK: %[[Y:.*]] = arith.addf
// CHECK: arith.select %[[IN]], %[[Y]]
func.func @bias(%x: tensor<100x64xf32>, %w: tensor<8x32x64xf32>, %o: tensor<9xi32>, %b: tensor<8x32xf32>) -> tensor<100x32xf32> {
  %0 = fusion.grouped_matmul %x, %w offsets(%o) bias(%b) transposed : (tensor<100x64xf32>, tensor<8x32x64xf32>, tensor<9xi32>, tensor<8x32xf32>) -> tensor<100x32xf32>
  return %0 : tensor<100x32xf32>
}

// The reference's meaning: the offsets up to a row are counted.
// ALL-LABEL: func.func @groups
// ALL-NOT: fusion.
// ALL: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]}
// ALL: arith.cmpi sge
// ALL: arith.extui
// ALL: linalg.generic {{.*}} iterator_types = ["parallel"]}
func.func @groups(%o: tensor<9xi32>) -> tensor<100xi32> {
  %0 = fusion.row_groups %o : tensor<9xi32> -> tensor<100xi32>
  return %0 : tensor<100xi32>
}

// One group: a product of matrices, whose rows of no group are cleared.
// CHECK-LABEL: func.func @single
// CHECK: %[[M:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<1x64x32xf32> into tensor<64x32xf32>
// CHECK: %[[S:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{.*}}, %[[M]]
// CHECK: linalg.generic {{.*}} ins(%[[S]], %{{.*}} : tensor<100x32xf32>, tensor<100xi32>)
// CHECK: arith.cmpi slt
// CHECK-NEXT: arith.select
func.func @single(%x: tensor<100x64xf32>, %w: tensor<1x64x32xf32>, %o: tensor<2xi32>) -> tensor<100x32xf32> {
  %0 = fusion.grouped_matmul %x, %w offsets(%o) : (tensor<100x64xf32>, tensor<1x64x32xf32>, tensor<2xi32>) -> tensor<100x32xf32>
  return %0 : tensor<100x32xf32>
}
