// RUN: fusion-opt %s --fusion-input-decompose --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func @mean_with_ignored
// CHECK-SAME: (%[[X:.*]]: tensor<?x10xbf16>, %[[T:.*]]: tensor<?xi64>)
// CHECK-DAG: %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
// CHECK-DAG: %[[IGNORED:.*]] = arith.constant -100 : i64
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: linalg.generic {{.*}} ins(%[[T]],
// CHECK: %[[LSE:.*]] = arith.addf
// CHECK: %[[AT:.*]] = arith.select %[[INSIDE:.*]], %{{.*}}, %{{.*}} : index
// CHECK: %[[PICKED:.*]] = tensor.extract %[[X]][%{{.*}}, %[[AT]]]
// CHECK: arith.subf %[[LSE]]
// CHECK: arith.select %[[INSIDE]], %{{.*}}, %[[NAN]]
// CHECK: arith.cmpi eq, %{{.*}}, %[[IGNORED]]
// CHECK: %[[TOTAL:.*]] = linalg.generic {{.*}} iterator_types = ["reduction"]
// CHECK: %[[COUNT:.*]] = linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%[[T]]
// CHECK: linalg.generic {{.*}} ins(%[[TOTAL]], %[[COUNT]]
// CHECK: arith.divf
// CHECK: arith.truncf
func.func @mean_with_ignored(%x: tensor<?x10xbf16>, %t: tensor<?xi64>)
    -> tensor<bf16> {
  %0 = fusion.cross_entropy mean %x, %t axis(1) {ignore_index = -100 : i64}
      : (tensor<?x10xbf16>, tensor<?xi64>) -> tensor<bf16>
  return %0 : tensor<bf16>
}

// Without an ignored class the count is the number of targets.
// CHECK-LABEL: func.func @mean
// CHECK: %[[N:.*]] = arith.constant 1.200000e+01 : f32
// CHECK: arith.divf %{{.*}}, %[[N]]
func.func @mean(%x: tensor<4x10x3xf32>, %t: tensor<4x3xi32>) -> tensor<f32> {
  %0 = fusion.cross_entropy mean %x, %t axis(1)
      : (tensor<4x10x3xf32>, tensor<4x3xi32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// The mean over classes needs a third reduction, with smoothing only.
// CHECK-LABEL: func.func @smoothing
// CHECK-COUNT-3: iterator_types = ["parallel", "reduction"]
// CHECK-NOT: "reduction"
// CHECK: return
func.func @smoothing(%x: tensor<4x10xf32>, %t: tensor<4xi64>)
    -> tensor<4xf32> {
  %0 = fusion.cross_entropy none %x, %t axis(1) {label_smoothing = 0.1 : f64}
      : (tensor<4x10xf32>, tensor<4xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Logits stay in f32 from the product to the loss.
// CHECK-LABEL: func.func @linear
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} {{.*}} outs(%{{.*}} : tensor<4x10xf32>)
// CHECK-NOT: arith.truncf
// CHECK: linalg.generic {{.*}} iterator_types = []
// CHECK: arith.truncf
func.func @linear(%x: tensor<4x8xf16>, %w: tensor<10x8xf16>, %b: tensor<10xf16>,
                  %t: tensor<4xi64>) -> tensor<f16> {
  %0 = fusion.linear_cross_entropy sum %x, %w, %t bias(%b)
      : (tensor<4x8xf16>, tensor<10x8xf16>, tensor<4xi64>, tensor<10xf16>)
      -> tensor<f16>
  return %0 : tensor<f16>
}
