// RUN: fusion-opt %s --resolve-ranked-shaped-type-result-dims --canonicalize --cse | FileCheck %s

// The size of a result is found through the body: destination-style ops,
// tensor.empty, tensor.dim and index arithmetic.
// CHECK-LABEL: func.func @through_body
// CHECK-SAME: (%[[X:.*]]: tensor<?x8xf32>, %[[N:.*]]: index)
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[D:.*]] = tensor.dim %[[X]], %[[C0]]
// CHECK-DAG: %[[M:.*]] = arith.muli %[[D]], %[[C2]]
// CHECK: return %[[D]], %[[M]], %[[N]]
func.func @through_body(%x: tensor<?x8xf32>, %n: index)
    -> (index, index, index) {
  %r:2 = fusion.kernel @k ins(%x, %n : tensor<?x8xf32>, index)
      -> (tensor<?x8xf32>, tensor<?x?xf32>) {
  ^bb0(%a: tensor<?x8xf32>, %m: index):
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %zero = arith.constant 0.0 : f32
    %d = tensor.dim %a, %c0 : tensor<?x8xf32>
    %e = tensor.empty(%d) : tensor<?x8xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
    %d2 = arith.muli %d, %c2 : index
    %g = tensor.empty(%d2, %m) : tensor<?x?xf32>
    %h = linalg.fill ins(%zero : f32) outs(%g : tensor<?x?xf32>) -> tensor<?x?xf32>
    fusion.yield %f, %h : tensor<?x8xf32>, tensor<?x?xf32>
  }
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tensor.dim %r#0, %c0 : tensor<?x8xf32>
  %1 = tensor.dim %r#1, %c0 : tensor<?x?xf32>
  %2 = tensor.dim %r#1, %c1 : tensor<?x?xf32>
  return %0, %1, %2 : index, index, index
}
