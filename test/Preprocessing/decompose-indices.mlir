// RUN: fusion-opt %s --fusion-input-decompose --canonicalize --cse | FileCheck %s
// RUN: fusion-opt %s --fusion-input-decompose=all --canonicalize --cse | FileCheck %s --check-prefix=ALL

// The load is inside of the tensor whatever the index; what an index outside
// picked is replaced.
// CHECK-LABEL: func.func @gather
// CHECK-SAME: (%[[X:.*]]: tensor<5x?x8xf16>, %[[I:.*]]: tensor<3xi32>)
// CHECK-DAG: %[[NAN:.*]] = arith.constant 0x7E00 : f16
// CHECK: %[[N:.*]] = tensor.dim %[[X]], %c1
// CHECK: linalg.generic {{.*}} ins(%[[I]] : tensor<3xi32>) outs(%{{.*}} : tensor<5x3x8xf16>)
// CHECK: %[[RAW:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[ISNEG:.*]] = arith.cmpi slt, %[[RAW]], %c0
// CHECK: %[[FROMEND:.*]] = arith.addi %[[RAW]], %[[N]]
// CHECK: %[[AT:.*]] = arith.select %[[ISNEG]], %[[FROMEND]], %[[RAW]]
// CHECK: %[[SAFE:.*]] = arith.select %[[INSIDE:.*]], %[[AT]], %c0
// CHECK: %[[E:.*]] = tensor.extract %[[X]][%{{.*}}, %[[SAFE]], %{{.*}}]
// CHECK: arith.select %[[INSIDE]], %[[E]], %[[NAN]]
func.func @gather(%x: tensor<5x?x8xf16>, %i: tensor<3xi32>)
    -> tensor<5x3x8xf16> {
  %0 = fusion.gather %x, %i axis(1)
      : (tensor<5x?x8xf16>, tensor<3xi32>) -> tensor<5x3x8xf16>
  return %0 : tensor<5x3x8xf16>
}

// The code generator has its own scan; the loop is the reference.
// CHECK-LABEL: func.func @scan
// CHECK: fusion.scan
// ALL-LABEL: func.func @scan
// ALL-SAME: (%[[X:.*]]: tensor<4x?xf32>)
// ALL-DAG: %[[N:.*]] = tensor.dim %[[X]], %c1
// ALL: %[[LOOP:.*]]:2 = scf.for %[[I:.*]] = %c0 to %[[N]] step %c1 iter_args(%[[STATE:.*]] = %{{.*}}, %[[OUT:.*]] = %{{.*}}) -> (tensor<4xf32>, tensor<4x?xf32>)
// ALL: %[[S:.*]] = tensor.extract_slice %[[X]][0, %[[I]]] [4, 1] [1, 1] : tensor<4x?xf32> to tensor<4xf32>
// ALL: %[[NEXT:.*]] = linalg.generic {{.*}} ins(%[[S]] : tensor<4xf32>) outs(%[[STATE]] : tensor<4xf32>)
// ALL: ^bb0(%[[ELEMENT:[a-z0-9_]+]]: f32, %[[SOFAR:[a-z0-9_]+]]: f32):
// ALL: arith.subf %[[SOFAR]], %[[ELEMENT]]
// ALL: %[[W:.*]] = tensor.insert_slice %[[NEXT]] into %[[OUT]][0, %[[I]]] [4, 1] [1, 1]
// ALL: scf.yield %[[NEXT]], %[[W]]
// ALL: return %[[LOOP]]#1
func.func @scan(%x: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = fusion.scan ins(%x : tensor<4x?xf32>) inits(%zero : f32) axis(1)
      -> tensor<4x?xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.subf %a, %b : f32
    fusion.yield %s : f32
  }
  return %0 : tensor<4x?xf32>
}

// From the end too, what was met before stands on the left; exclusive writes it.
// ALL-LABEL: func.func @reverse_exclusive
// ALL: scf.for {{.*}} iter_args(%[[STATE:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) ->
// ALL: ^bb0(%[[ELEMENT:[a-z0-9_]+]]: f32, %[[SOFAR:[a-z0-9_]+]]: f32):
// ALL: arith.subf %[[SOFAR]], %[[ELEMENT]]
// ALL: tensor.insert_slice %[[STATE]] into
func.func @reverse_exclusive(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = fusion.scan exclusive reverse ins(%x : tensor<4x8xf32>)
      inits(%zero : f32) axis(1) -> tensor<4x8xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.subf %a, %b : f32
    fusion.yield %s : f32
  }
  return %0 : tensor<4x8xf32>
}

// Along one element nothing runs: it is the result, or the initial value is.
// CHECK-LABEL: func.func @one_element
// CHECK-SAME: (%[[X:.*]]: tensor<4x1xf32>)
// CHECK-NOT: fusion.scan
// CHECK: %[[START:.*]] = linalg.fill
// CHECK: return %[[X]], %[[START]]
func.func @one_element(%x: tensor<4x1xf32>)
    -> (tensor<4x1xf32>, tensor<4x1xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = fusion.scan ins(%x : tensor<4x1xf32>) inits(%zero : f32) axis(1)
      -> tensor<4x1xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    fusion.yield %s : f32
  }
  %1 = fusion.scan exclusive ins(%x : tensor<4x1xf32>)
      inits(%zero : f32) axis(1) -> tensor<4x1xf32> {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    fusion.yield %s : f32
  }
  return %0, %1 : tensor<4x1xf32>, tensor<4x1xf32>
}
