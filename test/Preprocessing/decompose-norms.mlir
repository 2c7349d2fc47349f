// RUN: fusion-opt %s --fusion-input-decompose --canonicalize | FileCheck %s

// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[KEPT:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[COLUMNS:.*]] = affine_map<(d0, d1) -> (d1)>

// Three ops: max, sum, quotient.
// CHECK-LABEL: func.func @softmax
// CHECK: %[[M0:.*]] = linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : tensor<?x4xf32>)
// CHECK: %[[M:.*]] = linalg.generic {indexing_maps = [#[[ID]], #[[KEPT]]], iterator_types = ["parallel", "reduction", "parallel"]}
// CHECK-SAME: outs(%[[M0]] : tensor<?x4xf32>)
// CHECK: arith.maximumf
// CHECK: %[[S:.*]] = linalg.generic {indexing_maps = [#[[ID]], #[[KEPT]], #[[KEPT]]], iterator_types = ["parallel", "reduction", "parallel"]}
// CHECK: arith.subf
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[KEPT]], #[[KEPT]], #[[ID]]], iterator_types = ["parallel", "parallel", "parallel"]}
// CHECK-SAME: ins(%{{.*}}, %[[M]], %[[S]]
// CHECK: math.exp
// CHECK: arith.divf
// CHECK: arith.truncf
// CHECK-NOT: linalg.generic
func.func @softmax(%x: tensor<?x8x4xf16>) -> tensor<?x8x4xf16> {
  %0 = fusion.softmax %x axis(1) : tensor<?x8x4xf16>
  return %0 : tensor<?x8x4xf16>
}

// The sum of a softmax by any name is f32, that of f8 too.
// CHECK-LABEL: func.func @linalg_softmax
// CHECK-NOT: linalg.softmax
// CHECK: arith.maximumf {{.*}} : f32
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.divf {{.*}} : f32
// CHECK: arith.truncf {{.*}} : f32 to f16
func.func @linalg_softmax(%x: tensor<?x8xf16>, %o: tensor<4x8xf16>)
    -> tensor<4x8xf16> {
  %0 = linalg.softmax dimension(0) ins(%x : tensor<?x8xf16>)
      outs(%o : tensor<4x8xf16>) -> tensor<4x8xf16>
  return %0 : tensor<4x8xf16>
}

// CHECK-LABEL: func.func @linalg_softmax_f8
// CHECK: arith.extf {{.*}} : tensor<4x8xf8E4M3FN> to tensor<4x8xf32>
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.truncf {{.*}} : tensor<4x8xf32> to tensor<4x8xf8E4M3FN>
func.func @linalg_softmax_f8(%x: tensor<4x8xf8E4M3FN>,
    %o: tensor<4x8xf8E4M3FN>) -> tensor<4x8xf8E4M3FN> {
  %0 = linalg.softmax dimension(1) ins(%x : tensor<4x8xf8E4M3FN>)
      outs(%o : tensor<4x8xf8E4M3FN>) -> tensor<4x8xf8E4M3FN>
  return %0 : tensor<4x8xf8E4M3FN>
}

// CHECK-LABEL: func.func @log_softmax
// CHECK: math.log
// CHECK: arith.subf
func.func @log_softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = fusion.log_softmax %x axis(1) : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// Two passes; the size of the normalised dimension is 8; scale and bias run
// with the columns, and nothing is broadcast in memory.
// CHECK-LABEL: func.func @layer_norm
// CHECK-DAG: %[[N:.*]] = arith.constant 8.000000e+00 : f32
// CHECK-DAG: %[[EPS:.*]] = arith.constant 9.99999974E-6 : f32
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
// CHECK: %[[MEAN:.*]] = linalg.generic {{.*}} iterator_types = ["parallel"]
// CHECK: arith.divf %{{.*}}, %[[N]]
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.*}}, %[[MEAN]]
// CHECK: %[[DEV:.*]] = arith.subf
// CHECK: arith.mulf %[[DEV]], %[[DEV]]
// CHECK: arith.divf %{{.*}}, %[[N]]
// CHECK: arith.addf %{{.*}}, %[[EPS]]
// CHECK: math.rsqrt
// CHECK: linalg.generic {indexing_maps = [{{.*}}, #[[ROWS]], #[[ROWS]], #[[COLUMNS]], #[[COLUMNS]], {{.*}}], iterator_types = ["parallel", "parallel"]}
// CHECK-NOT: linalg.broadcast
func.func @layer_norm(%x: tensor<?x8xbf16>, %g: tensor<8xf32>,
                      %b: tensor<8xf32>) -> tensor<?x8xbf16> {
  %0 = fusion.layer_norm %x scale(%g) bias(%b) axis(1) eps(1.0e-5)
      : (tensor<?x8xbf16>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x8xbf16>
  return %0 : tensor<?x8xbf16>
}

// A dynamic size becomes a number inside of the body: only an index crosses.
// CHECK-LABEL: func.func @rms_norm_dynamic
// CHECK: %[[D:.*]] = tensor.dim %{{.*}}, %c1
// CHECK: linalg.generic
// CHECK: arith.mulf
// CHECK: linalg.generic
// CHECK: %[[I:.*]] = arith.index_cast %[[D]] : index to i64
// CHECK: %[[F:.*]] = arith.sitofp %[[I]] : i64 to f32
// CHECK: arith.divf %{{.*}}, %[[F]]
func.func @rms_norm_dynamic(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %0 = fusion.rms_norm %x axis(1) eps(1.0e-6)
      : (tensor<4x?xf32>) -> tensor<4x?xf32>
  return %0 : tensor<4x?xf32>
}

// Channels are split in groups by a reshape, not moved.
// CHECK-LABEL: func.func @group_norm
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0], [1, 2], [3], [4]] {{.*}} : tensor<?x32x7x9xf16> into tensor<?x8x4x7x9xf16>
// CHECK: tensor.expand_shape %{{.*}} {{\[}}[0, 1]] {{.*}} : tensor<32xf32> into tensor<8x4xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]
// CHECK: tensor.collapse_shape %{{.*}} : tensor<?x8x4x7x9xf16> into tensor<?x32x7x9xf16>
func.func @group_norm(%x: tensor<?x32x7x9xf16>, %g: tensor<32xf32>)
    -> tensor<?x32x7x9xf16> {
  %0 = fusion.group_norm %x scale(%g) groups(8) eps(1.0e-5)
      : (tensor<?x32x7x9xf16>, tensor<32xf32>) -> tensor<?x32x7x9xf16>
  return %0 : tensor<?x32x7x9xf16>
}

// CHECK-LABEL: func.func @instance_norm
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
func.func @instance_norm(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %0 = fusion.instance_norm %x eps(1.0e-5)
      : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %0 : tensor<2x4x8xf32>
}

// Given statistics: no reduction.
// CHECK-LABEL: func.func @batch_norm
// CHECK-NOT: "reduction"
// CHECK: return
func.func @batch_norm(%x: tensor<2x4x8xf32>, %m: tensor<4xf32>,
                      %v: tensor<4xf32>) -> tensor<2x4x8xf32> {
  %0 = fusion.batch_norm %x, %m, %v channel_axis(1) eps(1.0e-5)
      : (tensor<2x4x8xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x8xf32>
  return %0 : tensor<2x4x8xf32>
}

// CHECK-LABEL: func.func @batch_norm_training
// CHECK-COUNT-2: iterator_types = ["reduction", "parallel", "reduction"]
// CHECK: return %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x4x8xf16>, tensor<4xf32>, tensor<4xf32>
func.func @batch_norm_training(%x: tensor<2x4x8xf16>)
    -> (tensor<2x4x8xf16>, tensor<4xf32>, tensor<4xf32>) {
  %0, %1, %2 = fusion.batch_norm_training %x channel_axis(1) eps(1.0e-5)
      : (tensor<2x4x8xf16>) -> (tensor<2x4x8xf16>, tensor<4xf32>, tensor<4xf32>)
  return %0, %1, %2 : tensor<2x4x8xf16>, tensor<4xf32>, tensor<4xf32>
}
