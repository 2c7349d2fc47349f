// RUN: fusion-opt %s --fusion-input-decompose --canonicalize --cse | FileCheck %s

// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[SCALAR:.*]] = affine_map<(d0, d1) -> ()>

// CHECK-LABEL: func.func @quantize
// CHECK: linalg.generic {indexing_maps = [{{.*}}, #[[ROWS]], #[[ROWS]], {{.*}}]
// CHECK: %[[Q:.*]] = arith.divf
// CHECK: %[[R:.*]] = math.roundeven %[[Q]]
// CHECK: arith.extui %{{.*}} : i8 to i32
// CHECK: %[[Z:.*]] = arith.addf %[[R]]
// CHECK: %[[LO:.*]] = arith.maxnumf %[[Z]]
// CHECK: %[[HI:.*]] = arith.minnumf %[[LO]]
// CHECK: %[[I:.*]] = arith.fptosi %[[HI]] : f32 to i32
// CHECK: arith.trunci %[[I]] : i32 to i8
func.func @quantize(%x: tensor<4x?xf32>, %s: tensor<4xf32>, %z: tensor<4xi8>)
    -> tensor<4x?xi8> {
  %0 = fusion.quantize uint8 %x scale(%s) zero_point(%z) {axis = 0 : i64}
      : (tensor<4x?xf32>, tensor<4xf32>, tensor<4xi8>) -> tensor<4x?xi8>
  return %0 : tensor<4x?xi8>
}

// Clamped to the largest finite number first: the rounding does not saturate.
// CHECK-LABEL: func.func @float8
// CHECK-DAG: arith.constant 4.480000e+02 : f32
// CHECK-DAG: arith.constant -4.480000e+02 : f32
// CHECK: linalg.generic {indexing_maps = [{{.*}}, #[[SCALAR]], {{.*}}]
// CHECK: arith.maximumf
// CHECK: arith.minimumf
// CHECK: arith.truncf %{{.*}} : f32 to f8E4M3FN
// CHECK: arith.extf %{{.*}} : f8E4M3FN to f32
// CHECK: arith.mulf
func.func @float8(%x: tensor<4x8xf32>, %s: tensor<f32>) -> tensor<4x8xf32> {
  %0 = fusion.quantize float8 %x scale(%s)
      : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf8E4M3FN>
  %1 = fusion.dequantize float8 %0 scale(%s)
      : (tensor<4x8xf8E4M3FN>, tensor<f32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// Column j: byte j / 2, the low half for even j; the group is j / 32.
// CHECK-LABEL: func.func @int4
// CHECK-SAME: (%[[X:.*]]: tensor<8x64xi8>, %[[S:.*]]: tensor<8x4xf16>)
// CHECK-DAG: %[[J:.*]] = linalg.index 1
// CHECK-DAG: %[[G:.*]] = arith.divui %[[J]], %c32
// CHECK: tensor.extract %[[S]][%{{.*}}, %[[G]]]
// CHECK: %[[B:.*]] = arith.divui %[[J]], %c2
// CHECK: %[[BYTE:.*]] = tensor.extract %[[X]][%{{.*}}, %[[B]]]
// CHECK: %[[ODD:.*]] = arith.remui %[[J]], %c2
// CHECK: arith.shli
// CHECK: arith.shrsi
// CHECK: arith.sitofp
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @int4(%x: tensor<8x64xi8>, %s: tensor<8x4xf16>)
    -> tensor<8x128xf16> {
  %0 = fusion.dequantize int4 %x scale(%s) {axis = 1 : i64, group_size = 32 : i64}
      : (tensor<8x64xi8>, tensor<8x4xf16>) -> tensor<8x128xf16>
  return %0 : tensor<8x128xf16>
}

// CHECK-LABEL: func.func @pack
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %c2
// CHECK: tensor.extract %{{.*}}[%{{.*}}, %[[FIRST]]]
// CHECK: %[[SECOND:.*]] = arith.addi %[[FIRST]], %c1
// CHECK: tensor.extract %{{.*}}[%{{.*}}, %[[SECOND]]]
// CHECK: arith.ori
func.func @pack(%x: tensor<8x64xf32>, %s: tensor<f32>) -> tensor<8x32xi8> {
  %0 = fusion.quantize int4 %x scale(%s)
      : (tensor<8x64xf32>, tensor<f32>) -> tensor<8x32xi8>
  return %0 : tensor<8x32xi8>
}
