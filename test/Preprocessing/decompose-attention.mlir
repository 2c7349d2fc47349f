// RUN: fusion-opt %s --fusion-input-decompose --canonicalize --cse | FileCheck %s

// Two contractions around a softmax that divides last; the weights are rounded
// to the value's type before the second contraction.
// CHECK-LABEL: func.func @plain
// CHECK-SAME: (%[[Q:.*]]: tensor<4x?x64xbf16>, %[[K:.*]]: tensor<4x?x64xbf16>, %[[V:.*]]: tensor<4x?x32xbf16>)
// CHECK-DAG: %[[SCALE:.*]] = arith.constant 1.250000e-01 : f32
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[Q]], %[[K]]
// CHECK: arith.mulf %{{.*}}, %[[SCALE]]
// CHECK: %[[M:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: arith.maximumf
// CHECK: %[[L:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: %[[E:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]} {{.*}} outs(%{{.*}} : tensor<4x?x?xbf16>)
// CHECK: math.exp
// CHECK: arith.truncf
// CHECK: %[[O:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[E]], %[[V]]
// CHECK: linalg.generic {{.*}} ins(%[[O]], %[[L]]
// CHECK: arith.divf
// CHECK: arith.truncf
func.func @plain(%q: tensor<4x?x64xbf16>, %k: tensor<4x?x64xbf16>,
                 %v: tensor<4x?x32xbf16>) -> tensor<4x?x32xbf16> {
  %0 = fusion.attention %q, %k, %v
      : (tensor<4x?x64xbf16>, tensor<4x?x64xbf16>, tensor<4x?x32xbf16>)
      -> tensor<4x?x32xbf16>
  return %0 : tensor<4x?x32xbf16>
}

// Grouped queries split the head; keys are read by the outer half alone.
// CHECK-LABEL: func.func @grouped
// CHECK: %[[Q:.*]] = tensor.expand_shape %{{.*}} : tensor<2x8x16x64xf16> into tensor<2x2x4x16x64xf16>
// CHECK: linalg.generic {{.*}} ins(%[[Q]], %{{.*}} : tensor<2x2x4x16x64xf16>, tensor<2x2x24x64xf16>)
// CHECK: tensor.collapse_shape %{{.*}} : tensor<2x2x4x16x64xf16> into tensor<2x8x16x64xf16>
func.func @grouped(%q: tensor<2x8x16x64xf16>, %k: tensor<2x2x24x64xf16>,
                   %v: tensor<2x2x24x64xf16>) -> tensor<2x8x16x64xf16> {
  %0 = fusion.attention %q, %k, %v
      : (tensor<2x8x16x64xf16>, tensor<2x2x24x64xf16>, tensor<2x2x24x64xf16>)
      -> tensor<2x8x16x64xf16>
  return %0 : tensor<2x8x16x64xf16>
}

// Scale, bias, score modification, mask, causal mask: in this order. The head
// given to the region is g * 4 + r. Broadcast dimensions are dropped.
// CHECK-LABEL: func.func @modified
// CHECK-SAME: %[[MASK:[a-z0-9]+]]: tensor<2x1x1x24xi1>
// CHECK-DAG: %[[INF:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG: %[[BIAS:.*]] = tensor.expand_shape %{{.*}} : tensor<8x16x24xf32> into tensor<2x4x16x24xf32>
// CHECK-DAG: %[[FLAT:.*]] = tensor.collapse_shape %[[MASK]] {{.*}} : tensor<2x1x1x24xi1> into tensor<2x24xi1>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[BIAS]], %[[FLAT]]
// CHECK: ^bb0(%[[S:[a-z0-9_]+]]: f32, %[[B:[a-z0-9_]+]]: f32, %[[KEEP:[a-z0-9_]+]]: i1,
// CHECK: %[[SCALED:.*]] = arith.mulf %[[S]]
// CHECK: %[[BIASED:.*]] = arith.addf %[[SCALED]], %[[B]]
// CHECK-DAG: %[[G:.*]] = linalg.index 1
// CHECK-DAG: %[[R:.*]] = linalg.index 2
// CHECK-DAG: %[[G4:.*]] = arith.muli %[[G]], %[[C4]]
// CHECK: %[[H:.*]] = arith.addi %[[G4]], %[[R]]
// CHECK: arith.index_cast %[[H]] : index to i32
// CHECK: %[[MODIFIED:.*]] = arith.mulf %[[BIASED]],
// CHECK: %[[MASKED:.*]] = arith.select %[[KEEP]], %[[MODIFIED]], %[[INF]]
// CHECK: %[[LIMIT:.*]] = arith.addi %{{.*}}, %[[C8]]
// CHECK: %[[LATER:.*]] = arith.cmpi sgt, %{{.*}}, %[[LIMIT]]
// CHECK: arith.select %[[LATER]], %[[INF]], %[[MASKED]]
func.func @modified(%q: tensor<2x8x16x64xf16>, %k: tensor<2x2x24x64xf16>,
                    %v: tensor<2x2x24x64xf16>, %m: tensor<2x1x1x24xi1>,
                    %b: tensor<8x16x24xf32>) -> tensor<2x8x16x64xf16> {
  %0 = fusion.attention %q, %k, %v mask(%m) bias(%b) causal(bottom_right)
      : (tensor<2x8x16x64xf16>, tensor<2x2x24x64xf16>, tensor<2x2x24x64xf16>,
         tensor<2x1x1x24xi1>, tensor<8x16x24xf32>) -> tensor<2x8x16x64xf16> {
  ^bb0(%s: f32, %batch: index, %h: index, %i: index, %j: index):
    %hi = arith.index_cast %h : index to i32
    %hf = arith.sitofp %hi : i32 to f32
    %t = arith.mulf %s, %hf : f32
    fusion.yield %t : f32
  }
  return %0 : tensor<2x8x16x64xf16>
}

// Dropout acts on the weights of the product, not on their sum.
// CHECK-LABEL: func.func @dropout
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: math.exp
// CHECK-NOT: arith.xori
// CHECK: iterator_types = ["parallel", "parallel", "parallel"]
// CHECK: math.exp
// CHECK: arith.xori
// CHECK: arith.select
func.func @dropout(%q: tensor<4x8x16xf32>, %seed: i64) -> tensor<4x8x16xf32> {
  %0 = fusion.attention %q, %q, %q seed(%seed) {dropout = 0.5 : f64}
      : (tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>, i64)
      -> tensor<4x8x16xf32>
  return %0 : tensor<4x8x16xf32>
}

// The square root of a dynamic size is taken in the body.
// CHECK-LABEL: func.func @dynamic_scale
// CHECK: arith.sitofp
// CHECK: math.rsqrt
func.func @dynamic_scale(%q: tensor<4x8x?xf32>) -> tensor<4x8x?xf32> {
  %0 = fusion.attention %q, %q, %q
      : (tensor<4x8x?xf32>, tensor<4x8x?xf32>, tensor<4x8x?xf32>)
      -> tensor<4x8x?xf32>
  return %0 : tensor<4x8x?xf32>
}
