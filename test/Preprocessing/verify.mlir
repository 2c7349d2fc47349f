// RUN: fusion-opt %s --fusion-input-verify | FileCheck %s
// RUN: not fusion-opt %s --fusion-input-verify=normal-form 2>&1 | FileCheck %s --check-prefix=NORMAL

// What is supported passes unchanged; of it, named ops are not normal.
// CHECK-LABEL: func.func @supported
// CHECK: fusion.softmax
// CHECK: linalg.matmul
// CHECK: tosa.exp
// NORMAL-DAG: error: FUS-1012: 'fusion.softmax' is not supported
// NORMAL-DAG: error: FUS-1012: 'linalg.matmul' is not supported
// NORMAL-DAG: error: FUS-1012: 'tosa.exp' is not supported
// NORMAL-DAG: error: FUS-1012: 'math.exp' is not supported
// NORMAL-NOT: error: FUS-1012: 'linalg.fill'
func.func @supported(%x: tensor<?x8xf32>, %w: tensor<8x4xf32>, %n: index,
                     %s: f32, %big: tensor<4294967296x134217728xi8>)
    -> tensor<?x4xf32> {
  %0 = fusion.softmax %x axis(1) : tensor<?x8xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>)
      -> tensor<?x4xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<?x8xf32>, tensor<8x4xf32>)
      outs(%f : tensor<?x4xf32>) -> tensor<?x4xf32>
  %2 = tosa.exp %1 : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %3 = math.exp %2 : tensor<?x4xf32>
  return %3 : tensor<?x4xf32>
}
